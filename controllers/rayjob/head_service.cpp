#include "controllers/rayjob/head_service.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/plan/service.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
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

HeadServiceDecision decide_head_service(const RayJobState& state) {
  const ObjectView* live = state.usable_cluster();
  if (state.spec.selects_cluster || live == nullptr) return {};
  HeadServiceDecision out;
  out.desired = build_head_service(state, live->object());
  out.child = plan::decide_service(out.desired.json(), state.seen.service.get());
  using enum plan::ChildDecision::Kind;
  if (out.child.kind == kConflict) {
    out.problem = {"ChildConflict", fmt::format("{}: delete it", out.child.conflict)};
    out.requeue_after = plan::kConflictRetry;
  }
  const auto& failure = state.seen.last_failure;
  const bool writes = out.child.kind == kCreate || out.child.kind == kPatch;
  if (!writes || !failure || failure->reason != kFailedService) return out;
  out.problem = {failure->reason, failure->message};
  // A plan with a failing write sends no requests, so the Ray job could not be followed.
  out.requeue_after = plan::until_retry(failure, kFailedService, state.seen.now);
  out.keeps_failure = out.requeue_after.has_value();
  if (out.keeps_failure) out.child = {};
  return out;
}

}  // namespace tpuslice::rayjob
