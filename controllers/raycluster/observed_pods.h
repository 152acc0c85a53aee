// Observed pods of a RayCluster.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/types/views.h"

namespace tpuslice::raycluster {

using PodPtr = std::shared_ptr<const PodView>;

/// Why the pod will not run again: "pod failed: Evicted". Empty while it may.
///
/// A Ray container that has terminated counts if the pod's restart policy is Never, although other containers keep the
/// pod Running.
[[nodiscard]] std::string terminal_reason(const PodView& pod, std::string_view ray_container);

/// Running, and not reported as not ready: as upstream, a pod without a Ready condition counts.
[[nodiscard]] bool is_available(const PodView& pod);

/// A label that holds an index: 0, 1, ... Nothing for anything else.
[[nodiscard]] std::optional<int> index_label(const PodView& pod, std::string_view label);

/// The pods among `pods` that are not terminating.
[[nodiscard]] std::vector<PodPtr> not_terminating(const std::vector<PodPtr>& pods);

/// Head pods; everything else counts as a worker, of a group that may not exist.
struct PodsByType {
  std::vector<PodPtr> heads;
  std::vector<PodPtr> workers;
};
[[nodiscard]] PodsByType by_type(const std::vector<PodPtr>& pods);

}  // namespace tpuslice::raycluster
