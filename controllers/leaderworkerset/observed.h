// LeaderWorkerSetObserved: all that a plan for one LeaderWorkerSet depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/views.h"
#include "controllers/runtime/reconciler.h"

namespace tpuslice::leaderworkerset {

using PodPtr = std::shared_ptr<const PodView>;
using NodePtr = std::shared_ptr<const NodeView>;
using ServicePtr = std::shared_ptr<const ServiceView>;
using StatefulSetPtr = std::shared_ptr<const StatefulSetView>;
using ObjectPtr = std::shared_ptr<const ObjectView>;

struct LeaderWorkerSetObserved {
  Object set;
  /// With the label tpu::kLwsName of `set`, or its name; whoever owns them.
  std::vector<StatefulSetPtr> stateful_sets;
  std::vector<PodPtr> pods;          ///< With that label, whoever owns them.
  std::vector<ObjectPtr> revisions;  ///< Whose controller is `set`, by UID.
  std::vector<ServicePtr> services;  ///< Of the names that its services have, whoever owns them.
  std::vector<NodePtr> nodes;        ///< Of its leaders, where they decide on the domain of their workers.
  Timestamp now;
  std::optional<runtime::Failure> last_failure;
};

}  // namespace tpuslice::leaderworkerset
