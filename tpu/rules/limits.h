// Limits of workload objects. Admission refuses larger objects, and controllers do not act on them: work and memory of
// the operator must not depend on a number that a user writes. docs/compatibility.md lists the limits; tpu/catalog.h
// has that of a slice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/types/yaml.h"

namespace tpuslice::rules {

/// Objects that a controller creates for one workload: worker pods of a RayCluster, Jobs of a JobSet, groups of a
/// LeaderWorkerSet.
inline constexpr std::int64_t kMaxChildren = 10'000;

/// Pods of one workload that exist at a time, including those that the Job and StatefulSet controllers create.
/// Kubernetes supports 150,000 pods in a cluster.
inline constexpr std::int64_t kMaxPods = 100'000;

/// Worker groups of a RayCluster, replicated jobs of a JobSet.
inline constexpr std::size_t kMaxGroups = 256;

/// Ports of a container of a Ray head, and of a service that a user describes.
inline constexpr std::size_t kMaxPorts = 256;

/// Children that one plan creates; the next plan creates more.
inline constexpr std::size_t kMaxCreatesPerPlan = 1000;

/// YAML in a string of a workload: runtimeEnvYAML of a RayJob, serveConfigV2 of a RayService. Aliases are counted
/// expanded.
inline constexpr YamlLimits kUserYaml{.bytes = 1U << 20U, .depth = 32, .nodes = 50'000};

}  // namespace tpuslice::rules
