// What a plan needs to know of one observed pod.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/types/views.h"
#include "controllers/raycluster/changes.h"

namespace tpuslice::raycluster {

using PodPtr = std::shared_ptr<const PodView>;

/// Why the pod will not work again: "pod failed: Evicted". Empty while it may.
///
/// A Ray container that ended counts where nothing restarts it, although other containers keep the pod Running.
[[nodiscard]] std::string death_of(const PodView& pod, std::string_view ray_container);

/// A label that holds an index: 0, 1, ... Nothing for anything else.
[[nodiscard]] std::optional<int> index_label(const PodView& pod, std::string_view label);

/// A delete of exactly this pod.
[[nodiscard]] runtime::Action delete_pod(const PodView& pod, std::string_view failure_reason);

/// A create of `pod`.
[[nodiscard]] runtime::Action create_pod(Object pod, std::string_view failure_reason);
[[nodiscard]] runtime::Action create_pod(ObjectKey key, runtime::Body::Maker make, std::string_view failure_reason);

/// Head pods; everything else counts as a worker, of a group that may not exist.
struct PodsByType {
  std::vector<PodPtr> heads;
  std::vector<PodPtr> workers;
};
[[nodiscard]] PodsByType by_type(const std::vector<PodPtr>& pods);

}  // namespace tpuslice::raycluster
