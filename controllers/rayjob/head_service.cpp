#include "controllers/rayjob/head_service.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/plan/service.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/services.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "tpu/labels.h"

namespace tpuslice::rayjob {
namespace {

/// The head service of the cluster, with upstream's name and labels.
Object build_head_service(const RayJobState& state, const Object& cluster) {
  const RayJobSpec& spec = state.spec;
  const raycluster::RayClusterSpec cluster_spec = raycluster::RayClusterSpec::read(cluster);
  Object out = raycluster::build_head_service(cluster_spec, {.head_cluster_ip = state.options.head_cluster_ip});
  Json labels = Json::object();
  raycluster::set_label(labels, raycluster::kOriginatedFromCrName, spec.key.name);
  raycluster::set_label(labels, raycluster::kOriginatedFromCrd, kRayJobs.kind);
  raycluster::set_label(labels, raycluster::kRayNodeType, raycluster::kHeadNode);
  raycluster::RayClusterSpec named;
  named.key = spec.key;
  raycluster::set_label(labels, raycluster::kIdentifier, raycluster::identifier(named, raycluster::kHeadNode));
  raycluster::set_label(labels, raycluster::kRayCluster,
                        cluster.name());  // Not set by upstream; our watch selects by it.
  Json& metadata = out.mutable_json()["metadata"];
  metadata = {{"name", head_service_name(spec)},
              {"namespace", spec.key.namespace_name},
              {"labels", std::move(labels)},
              {"ownerReferences", Json::array({spec.owner.to_json()})}};
  return out;
}

}  // namespace

std::string head_service_name(const RayJobSpec& spec) { return spec.key.name + "-head-svc"; }

void ensure_head_service(const RayJobState& state, Draft& draft) {
  const ObjectView* live = state.usable_cluster();
  if (state.spec.selects_cluster || live == nullptr) return;
  Object desired = build_head_service(state, live->object());
  const plan::ChildDecision decision = plan::decide_service(desired.json(), state.seen.service.get());
  const std::string name = desired.key().to_string();
  using enum plan::ChildDecision::Kind;
  const auto& failure = state.seen.last_failure;
  if ((decision.kind == kCreate || decision.kind == kPatch) && failure && failure->reason == kFailedService) {
    draft.children = {failure->reason, failure->message};
    // A plan with a failing write sends no requests, so the Ray job could not be followed.
    if (const auto wait = plan::until_retry(failure, kFailedService, state.seen.now)) {
      draft.changes.keeps_failure = true;
      return draft.changes.requeue_within(*wait);
    }
  }
  switch (decision.kind) {
    case kCreate:
      draft.changes.reasons.push_back(fmt::format("service {} is missing: creating it", name));
      return add_action(Step::kService, plan::Action::create(kServices, std::move(desired)), kFailedService,
                        {"CreatedService", "FailedToCreateService", fmt::format("Created the service {}", name),
                         fmt::format("Failed to create the service {}", name)},
                        draft);
    case kPatch:
      draft.changes.reasons.push_back(
          fmt::format("service {} does not select the head of {}: updating it", name, live->key.name));
      return add_action(Step::kService,
                        plan::Action::patch(kServices, desired.key(), decision.patch, {.uid = state.seen.service->uid}),
                        kFailedService,
                        {"UpdatedService", "FailedToUpdateService", fmt::format("Updated the service {}", name),
                         fmt::format("Failed to update the service {}", name)},
                        draft);
    case kConflict:
      draft.children = {"ChildConflict", fmt::format("{}: delete it", decision.conflict)};
      return draft.changes.requeue_within(plan::kConflictRetry);
    case kNone:
    case kWait:
      return;
  }
}

}  // namespace tpuslice::rayjob
