// The services of a RayCluster: one for the head, one that gives the workers of multi-host groups their DNS names.
#pragma once

#include "controllers/raycluster/changes.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/options.h"
#include "controllers/raycluster/spec.h"

namespace tpuslice::raycluster {

[[nodiscard]] Object build_head_service(const RayClusterSpec& spec, const Options& options);
/// Without ports: it exists for its DNS records, which are there before the pods are ready.
[[nodiscard]] Object build_headless_service(const RayClusterSpec& spec);
/// True if some worker is addressed by name: a group has several hosts, or its slices form one multislice.
[[nodiscard]] bool needs_headless_service(const RayClusterSpec& spec);

/// Names of the services that `spec` has.
[[nodiscard]] std::vector<ObjectKey> service_keys(const RayClusterSpec& spec);
/// The head service among `services`, or nullptr.
[[nodiscard]] const ObjectView* find_head_service(const RayClusterSpec& spec, const RayClusterObserved& seen);

struct ServiceChanges {
  Changes changes;
  std::string conflict;  ///< Somebody else's service has one of our names: which, and what to do. Empty: none.
};

/// Creates what is missing; restores ports, selector and labels that drifted.
[[nodiscard]] ServiceChanges plan_services(const RayClusterSpec& spec, const RayClusterObserved& seen,
                                           const Options& options);

}  // namespace tpuslice::raycluster
