// The environment that tells a TPU process its place in the slice, and how it joins a container's own.
//
// Sources: kuberay-tpu-webhook (names, ports 8471 and 8081, one hostname per host even with several containers),
// LeaderWorkerSet's accelerator utilities (port 8476, addresses on every generation, a hostname per process), GKE's
// webhook for Indexed Jobs and its defaults for tpu7x ("localhost"), JAX cloud_tpu_cluster.py (addresses supersede
// hostnames).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tpu/env_var.h"
#include "tpu/identity.h"

namespace tpuslice::tpu {

/// Ports of the slice builder, one per process that runs on a host at a time, which are the containers of `list` (an
/// array of a pod spec) at `processes`: what they declare as TPU_PROCESS_PORT, else consecutive ones from 8471, in
/// LeaderWorkerSets from 8476.
[[nodiscard]] std::vector<int> process_ports(const SliceIdentity& identity, const Json& list,
                                             const std::vector<TpuContainer>& processes);

/// What the `process`-th of a host's processes needs, in order; `ports` as process_ports() gives them, `multislice`
/// adds MEGASCALE_*.
///
/// TPU_WORKER_ID is the host's index where a host is one process, else host * processes + process.
[[nodiscard]] std::vector<EnvVar> worker_env(const SliceIdentity& identity, std::size_t process,
                                             const std::vector<int>& ports, bool multislice);

/// True if a container of a workload that puts `slices` to work together (SliceIdentity::slices) is part of a
/// multislice job: `env` declares MEGASCALE_NUM_SLICES with a value, or does not declare it and the workload has
/// several slices. An empty value opts out. A value that comes through envFrom cannot be seen at admission and does not
/// count.
[[nodiscard]] bool wants_multislice(int slices, const Json& env);

/// True if the user, not the platform, gave the worker its id or the names of all hosts. LeaderWorkerSet then leaves
/// the environment of the whole pod to the user.
[[nodiscard]] bool declares_identity(const Json& env);

/// `env` of a container with `wanted` joined in. A name that the user set keeps the user's value. What GKE puts there
/// for pods it does not recognise (TPU_WORKER_HOSTNAMES=localhost, TPU_PROCESS_ADDRESSES=localhost:8471,
/// TPU_PROCESS_PORT=8471 and TPU_WORKER_ID=<process>) is no user's value and is replaced in place.
///
/// New variables go before the user's, so that a user may write $(TPU_WORKER_ID); only one that itself refers to a
/// variable the user declares goes to the end, where it can.
[[nodiscard]] Json join_env(Json env, const std::vector<EnvVar>& wanted, std::size_t process);

}  // namespace tpuslice::tpu
