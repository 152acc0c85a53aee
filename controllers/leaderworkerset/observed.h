// LeaderWorkerSetObserved: everything a plan for one LeaderWorkerSet depends on.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/types/typed.h"
#include "api/types/views.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/reconciler.h"

namespace tpuslice::leaderworkerset {

using PodPtr = std::shared_ptr<const PodView>;
using NodePtr = std::shared_ptr<const NodeView>;
using ServicePtr = std::shared_ptr<const ServiceView>;
using StatefulSetPtr = std::shared_ptr<const StatefulSetView>;
using ObjectPtr = std::shared_ptr<const ObjectView>;

struct LeaderWorkerSetObserved {
  Typed<LeaderWorkerSetSpec> set;
  /// With the label kLwsName of `set`, or its name; any owner.
  std::vector<StatefulSetPtr> stateful_sets;
  std::vector<PodPtr> pods;          ///< With that label; any owner.
  std::vector<ObjectPtr> revisions;  ///< Controlled by `set`, by UID; or with its label and without an owner.
  std::vector<ServicePtr> services;  ///< With the names of its services; any owner.
  std::vector<NodePtr> nodes;        ///< Nodes of its leaders, if exclusive placement needs their labels.
  Timestamp now;
  std::optional<plan::Failure> last_failure;
  plan::WorkloadAnswers answers;  ///< About a StatefulSet that lacks pods.
};

}  // namespace tpuslice::leaderworkerset
