// The RayCluster that a RayJob or RayService makes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/object.h"
#include "api/types/views.h"

namespace tpuslice::ray {

/// Index function for stores of pods: "<namespace>/<cluster>" of a head pod.
[[nodiscard]] std::optional<std::string> index_head(const PodView& pod);

/// "<owner>-<5 characters>": derived from the owner's uid and `number`, so that a create can be repeated. Each attempt
/// of a RayJob, and each version of a RayService, has a number of its own.
[[nodiscard]] std::string child_cluster_name(const Object& owner, std::string_view number);

/// Has `spec`, the labels and annotations of the owner, and labels that name the owner.
[[nodiscard]] Object build_child_cluster(const Object& owner, std::string name, Json spec);

}  // namespace tpuslice::ray
