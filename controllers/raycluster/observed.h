// RayClusterObserved: the observation of one RayCluster, everything that its plan depends on.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/plan/reconciler.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// The live objects with the names of the cluster's children other than pods and services, of any owner.
struct ObservedChildren {
  struct Child {
    ResourceType type;
    std::shared_ptr<const ObjectView> object;
  };
  std::vector<Child> objects;
  std::vector<ResourceType> unwatched;  ///< Their objects are unknown: the store is not synced.

  /// Null if there is none.
  [[nodiscard]] const ObjectView* find(const ResourceType& type, const ObjectKey& key) const {
    const auto found = std::ranges::find_if(
        objects, [&](const Child& child) { return child.type == type && child.object->key == key; });
    return found == objects.end() ? nullptr : found->object.get();
  }
  [[nodiscard]] bool watches(const ResourceType& type) const {
    return std::ranges::find(unwatched, type) == unwatched.end();
  }
};

struct RayClusterObserved {
  Typed<RayClusterSpec> cluster;
  /// Controlled by `cluster`, by UID; and orphans with its labels (adoption.h).
  std::vector<std::shared_ptr<const PodView>> pods;
  /// Services of `cluster`, and those of other owners with its names.
  std::vector<std::shared_ptr<const ObjectView>> services;
  Timestamp now;
  std::optional<plan::Failure> last_failure;
  ObservedChildren children = {};
  /// The Job, while `cluster` is being deleted, with the name of its cleanup of Redis, of any owner; null without one.
  std::shared_ptr<const JobView> cleanup_job = {};
  bool jobs_watched = true;  ///< False: cleanup_job is unknown.
};

}  // namespace tpuslice::raycluster
