// The services of a RayCluster: one for the head, one that gives the workers of multi-host groups their DNS names, and,
// if the cluster has the annotation ray.io/enable-serve-service, one for clients of Ray Serve.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/plan/service.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Ports of the head container by name, or Ray's defaults if it declares none; always with the metrics port.
[[nodiscard]] std::map<std::string, std::int64_t> head_ports(const RayClusterSpec& spec);

/// Ports of a service for those of the head named serve or serve-*.
[[nodiscard]] Json serve_ports(const RayClusterSpec& spec);

[[nodiscard]] Object build_head_service(const RayClusterSpec& spec, const Options& options);
/// Without ports: it exists for its DNS records, which are published before the pods are ready.
[[nodiscard]] Object build_headless_service(const RayClusterSpec& spec);
/// The service for the ports of the head named serve or serve-*; selects all pods of the cluster, as each may run a
/// proxy.
[[nodiscard]] Object build_serve_service(const RayClusterSpec& spec);
/// The replicas of the group form one multislice, so their workers connect to each other.
[[nodiscard]] bool is_multislice(const WorkerGroup& group);
/// True if some worker is addressed by name: a group has several hosts, or its slices form one multislice.
[[nodiscard]] bool needs_headless_service(const RayClusterSpec& spec);

/// The services of `spec`.
[[nodiscard]] std::vector<ObjectKey> service_keys(const RayClusterSpec& spec);
/// The observed head service, if it is owned by the cluster; else nullptr.
[[nodiscard]] const ObjectView* find_head_service(const RayClusterSpec& spec, const RayClusterObserved& seen);

/// Reason of kServicesReady: the same of the serve service only, which the pods do not need.
inline constexpr std::string_view kServeServiceConflict = "ServeServiceConflict";

struct Service {
  Object desired;
  std::string uid;  ///< UID of the live service; empty without.
  plan::ChildDecision decision;
  bool connects_pods = true;  ///< Pods find each other by this service.
  bool adopted = false;       ///< The decision makes an orphan a child.
};
/// A service with our labels and selector that has no owner is adopted.
[[nodiscard]] std::vector<Service> decide_services(const RayClusterSpec& spec, const RayClusterObserved& seen,
                                                   const Options& options);

/// False while a service by which pods find each other is owned by another object: they would connect to its pods.
[[nodiscard]] bool pods_can_connect(const std::vector<Service>& services);

/// Which services of other owners have our names, and what to do about it; empty if none.
[[nodiscard]] std::string service_conflicts(const std::vector<Service>& services);

/// Why the services cannot be used yet: ServiceConflict, FailedService or ServicesPending.
[[nodiscard]] Problem service_problem(const std::vector<Service>& services,
                                      const std::optional<plan::Failure>& last_failure);

}  // namespace tpuslice::raycluster
