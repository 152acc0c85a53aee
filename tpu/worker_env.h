// The environment of a TPU process, and how it is merged into that of its container.
//
// Sources: kuberay-tpu-webhook (names, ports 8471 and 8081, one hostname per host even with several containers),
// LeaderWorkerSet's accelerator utilities (port 8476, addresses on every generation, a hostname per process), GKE's
// webhook for Indexed Jobs and its defaults for tpu7x ("localhost"), JAX cloud_tpu_cluster.py (addresses supersede
// hostnames).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tpu/env_var.h"
#include "tpu/identity.h"

namespace tpuslice::tpu {

/// Ports of the slice builder, one for each of the `processes` that run on a host at the same time, which are
/// containers of `list` (an array of a pod spec): the declared TPU_PROCESS_PORT, else consecutive ports from
/// EnvConvention::process_port.
[[nodiscard]] std::vector<int> process_ports(const SliceIdentity& identity, const Json& list,
                                             const std::vector<TpuContainer>& processes);

/// Bytes of the lists of worker_env(), 0 for one that it does not have. Computed without building them: their length
/// is that of a name times a number of hosts.
struct ListSizes {
  std::int64_t hostnames = 0;  ///< TPU_WORKER_HOSTNAMES
  std::int64_t addresses = 0;  ///< TPU_PROCESS_ADDRESSES
  friend bool operator==(const ListSizes&, const ListSizes&) = default;
};
[[nodiscard]] ListSizes list_sizes(const SliceIdentity& identity, const std::vector<int>& ports);

/// The variables of the `process`-th process of a host, in order; `ports` as from process_ports(); `multislice` adds
/// MEGASCALE_*.
///
/// TPU_WORKER_ID is host * processes + process.
[[nodiscard]] std::vector<EnvVar> worker_env(const SliceIdentity& identity, std::size_t process,
                                             const std::vector<int>& ports, bool multislice);

/// Whether a container is part of a multislice job: `env` declares MEGASCALE_NUM_SLICES with a value, or does not
/// declare it and `slices` (SliceIdentity::slices) is more than one. An empty value opts out. envFrom is not resolved
/// at admission and does not count.
[[nodiscard]] bool wants_multislice(int slices, const Json& env);

/// Whether the user, not the platform, set TPU_WORKER_ID or TPU_WORKER_HOSTNAMES; see
/// EnvConvention::respects_user_identity.
[[nodiscard]] bool declares_identity(const Json& env);

/// `env` of a container with `wanted` added. Variables that the user set keep their value. Values that GKE sets in pods
/// it does not recognise (TPU_WORKER_HOSTNAMES=localhost, TPU_PROCESS_ADDRESSES=localhost:8471, TPU_PROCESS_PORT=8471
/// and TPU_WORKER_ID=<process>) are replaced in place.
///
/// New variables come before the user's, so that $(TPU_WORKER_ID) expands in them; a new variable that refers to a
/// variable of the user comes last.
[[nodiscard]] Json merge_env(Json env, const std::vector<EnvVar>& wanted, std::size_t process);

}  // namespace tpuslice::tpu
