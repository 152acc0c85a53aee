// The environment that tells a TPU process its place in the slice, and how it joins a container's own.
//
// Sources: kuberay-tpu-webhook (names, ports 8471 and 8081, one hostname per host even with several containers), GKE's
// defaults for tpu7x ("localhost"), JAX cloud_tpu_cluster.py (addresses supersede hostnames).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tpu/identity.h"

namespace tpuslice::tpu {

/// First port of the slice builder on tpu7x; the c-th process of a host listens on 8471 + c.
inline constexpr int kProcessPort = 8471;
/// Multislice coordinator; 8080, the default, is Ray's metrics port.
inline constexpr int kMegascalePort = 8081;

struct EnvVar {
  std::string name;
  std::string value;       ///< Used if field_path is empty.
  std::string field_path;  ///< Downward API, e.g. "status.hostIP".

  [[nodiscard]] Json to_json() const;
  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

/// Ports of the slice builder, one per process of a host: what the containers declare as TPU_PROCESS_PORT, else
/// 8471 + c. Empty where hosts are not split (before tpu7x). `pod_containers` is spec.containers.
[[nodiscard]] std::vector<int> process_ports(const SliceIdentity& identity, const Json& pod_containers);

/// What the `container`-th TPU container needs, in order; `ports` as process_ports() gives them, `multislice` adds
/// MEGASCALE_*.
[[nodiscard]] std::vector<EnvVar> worker_env(const SliceIdentity& identity, std::size_t container,
                                             const std::vector<int>& ports, bool multislice);

/// True if `env` declares MEGASCALE_NUM_SLICES with a value; an empty one opts out. A value that comes through envFrom
/// cannot be seen at admission and does not count.
[[nodiscard]] bool declares_multislice(const Json& env);

/// `env` of the `container`-th TPU container with `wanted` joined in. A name that the user set keeps the user's value.
/// What GKE puts there for pods it does not recognise (TPU_WORKER_HOSTNAMES=localhost,
/// TPU_PROCESS_ADDRESSES=localhost:8471, TPU_PROCESS_PORT=8471 and TPU_WORKER_ID=<container>) is no user's value and is
/// replaced in place.
///
/// New variables go before the user's, so that a user may write $(TPU_WORKER_ID); only one that itself refers to a
/// variable the user declares goes to the end, where it can.
[[nodiscard]] Json join_env(Json env, const std::vector<EnvVar>& wanted, std::size_t container);

}  // namespace tpuslice::tpu
