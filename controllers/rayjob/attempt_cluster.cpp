#include "controllers/rayjob/attempt_cluster.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "controllers/plan/child.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/ray/child_cluster.h"
#include "controllers/ray/dashboard.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/limits.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submitter.h"

namespace tpuslice::rayjob {
namespace {

using ClusterKind = ClusterDecision::Kind;

constexpr const char* kClusterPending = "ClusterPending";

/// Unique among the attempts: each has one more failure, or another generation after a change of spec.suspend. Start
/// times alone may be equal, since they have a resolution of seconds.
std::string attempt_number(const RayJobState& state) {
  const RayJobStatus& status = state.status;
  if (!status.started) return fmt::format("{}/", status.failed);
  return fmt::format("{}/{}/{}", status.failed, format_rfc3339(*status.started), state.spec.generation);
}

std::int64_t count_at(const Json& cluster_status, std::string_view member) { return int_at(cluster_status, {member}); }

ClusterDecision not_accepted(std::string message) { return {.problem = {"NotAccepted", std::move(message)}}; }

ClusterDecision not_found(const RayJobState& state) {
  const std::string name = ObjectKey{state.spec.key.namespace_name, state.status.cluster_name}.to_string();
  return {.kind = ClusterKind::kNotFound,
          .problem = {
              "ClusterNotFound",
              fmt::format("RayCluster {} set in the clusterSelector is not found. It must be created manually", name)}};
}

ClusterDecision create(const RayJobState& state, Object desired) {
  ClusterDecision out{.kind = ClusterKind::kCreate};
  const std::string name = desired.key().to_string();
  const auto& failure = state.seen.last_failure;
  if (failure && failure->reason == kFailedRayCluster) {
    out.child_problem = {failure->reason, failure->message};
    out.problem = {kClusterPending, fmt::format("RayCluster {} could not be created: {}", name, failure->message)};
  } else {
    out.problem = {kClusterPending, fmt::format("RayCluster {} is being created", name)};
  }
  out.desired = std::move(desired);
  return out;
}

ClusterDecision decide_missing_cluster(const RayJobState& state) {
  if (state.seen.cluster == nullptr && state.refusal) {
    return not_accepted("the spec is refused, so no RayCluster is created");
  }
  Result<Object> desired = build_cluster(state);
  if (!desired) {
    ClusterDecision out = not_accepted(desired.error().message());
    out.child_problem = {"InvalidSpec", desired.error().message()};
    return out;
  }
  using enum plan::ChildDecision::Kind;
  const plan::ChildDecision decision =
      plan::decide_by_owner(desired->json(), state.seen.cluster.get(), [](const Json&) { return Json(); });
  switch (decision.kind) {
    case kCreate:
      return create(state, *std::move(desired));
    case kWait:
      return {.problem = {kClusterPending,
                          fmt::format("RayCluster {} is being deleted, and is then created again", desired->name())}};
    case kConflict: {
      const std::string message = fmt::format("{}: delete it", decision.conflict);
      return {.kind = ClusterKind::kConflict,
              .problem = {kClusterPending, message},
              .child_problem = {"ChildConflict", message},
              .requeue_after = plan::kConflictRetry};
    }
    case kNone:
    case kPatch:
      break;
  }
  return {};
}

/// The message of the condition if its status is `problem`; empty otherwise.
std::string message_of(const Json& conditions, std::string_view type, std::string_view problem) {
  const Json* found = find_condition(conditions, type);
  if (found == nullptr || string_at(*found, {"status"}) != problem) return {};
  const std::string message = string_at(*found, {"message"});
  return message.empty() ? string_at(*found, {"reason"}) : message;
}

/// The cluster has fewer available workers than before, and does not desire fewer.
bool lost_workers(const Json& before, const Json& after) {
  return count_at(after, "availableWorkerReplicas") < count_at(before, "availableWorkerReplicas") &&
         count_at(after, "desiredWorkerReplicas") >= count_at(before, "desiredWorkerReplicas");
}

/// SidecarMode: the submitter does not wait for workers, and once its container has terminated, the head pod, whose
/// containers are not restarted, is never Ready, nor is the cluster.
bool sidecar_has_ended(const RayJobState& state) {
  if (state.mode != SubmissionMode::kSidecar) return false;
  const SubmitterState submitter = submitter_state(state);
  return submitter.kind == SubmitterState::Kind::kSucceeded || submitter.kind == SubmitterState::Kind::kAborted;
}

bool lacks_workers(const Json& cluster_status) {
  return count_at(cluster_status, "availableWorkerReplicas") < count_at(cluster_status, "desiredWorkerReplicas");
}

std::string describe_loss(const Object& cluster, const Json& after) {
  const bool has_tpus = string_at(after, {"desiredTPU"}, "0") != "0";
  return fmt::format("RayCluster {} has {} of {} workers{}", cluster.name(), count_at(after, "availableWorkerReplicas"),
                     count_at(after, "desiredWorkerReplicas"),
                     has_tpus ? ": a slice that lost a host is rebuilt with all its hosts" : "");
}

}  // namespace

std::string next_cluster_name(const RayJobState& state) {
  if (state.spec.selects_cluster) return state.spec.selected_cluster;
  return ray::child_cluster_name(state.seen.job, attempt_number(state));
}

std::string next_job_id(const RayJobState& state) {
  if (state.spec.mode == SubmissionMode::kInteractive) return {};
  if (!state.spec.job_id.empty()) return state.spec.job_id;
  constexpr std::size_t kSuffix = 5;
  const std::string identity = fmt::format("{}/job/{}", state.spec.uid, attempt_number(state));
  return fmt::format("{}-{}", state.spec.key.name, short_hash(identity, kSuffix));
}

Result<Object> build_cluster(const RayJobState& state) {
  const RayJobSpec& spec = state.spec;
  Object out = ray::build_child_cluster(state.seen.job, state.status.cluster_name,
                                        spec.cluster == nullptr ? Json::object() : *spec.cluster);
  raycluster::set_label(out.mutable_json()["metadata"]["labels"], kSubmissionMode, to_string(spec.mode));
  if (spec.mode == SubmissionMode::kSidecar) RETURN_IF_ERROR(add_sidecar_submitter(state, out));
  return out;
}

std::string describe_wait(const Object& cluster) {
  const Json& conditions = array_at(cluster.json(), {"status", "conditions"});
  // The causes in causal order. A cluster without conditions of ours is reconciled by another operator.
  struct Cause {
    std::string_view type;
    std::string_view problem = "False";
  };
  constexpr std::array kCauses{Cause{plan::kAccepted},
                               Cause{raycluster::kReplicaFailure, "True"},
                               Cause{raycluster::kServicesReady},
                               Cause{plan::kChildrenReady},
                               Cause{plan::kSlicesPlaced},
                               Cause{plan::kContainersStarted},
                               Cause{raycluster::kHeadPodReady}};
  for (const Cause& cause : kCauses) {
    if (std::string message = message_of(conditions, cause.type, cause.problem); !message.empty()) {
      return fmt::format("RayCluster {}: {}", cluster.name(), message);
    }
  }
  const Json status = plan::status_of(cluster);
  if (string_at(status, {"state"}) == "suspended") return fmt::format("RayCluster {} is suspended", cluster.name());
  return fmt::format("RayCluster {} has {} of {} workers ready", cluster.name(),
                     count_at(status, "readyWorkerReplicas"), count_at(status, "desiredWorkerReplicas"));
}

ClusterDecision decide_cluster(const RayJobState& state) {
  const ObjectView* live = state.usable_cluster();
  if (live == nullptr) return state.spec.selects_cluster ? not_found(state) : decide_missing_cluster(state);
  const Object cluster = live->object();
  ClusterDecision out{.status = plan::status_of(cluster)};
  if (string_at(out.status, {"state"}) == "ready" || sidecar_has_ended(state)) {
    out.kind = ClusterKind::kReady;
    out.dashboard_url =
        ray::dashboard_host_port(raycluster::RayClusterSpec::read(cluster), state.options.cluster_domain);
  } else {
    out.problem = {kClusterPending, describe_wait(cluster)};
  }
  return out;
}

ClusterDecision follow_cluster(const RayJobState& state) {
  const Object cluster = state.usable_cluster()->object();
  const Json before = state.status.cluster.is_object() ? state.status.cluster : Json::object();
  ClusterDecision out{.status = plan::status_of(cluster)};
  const Json* condition = find_condition(state.status.conditions, kClusterReady);
  const bool were_lost = condition != nullptr && string_at(*condition, {"reason"}) == kWorkersLost;
  if (!lacks_workers(out.status) || (!were_lost && !lost_workers(before, out.status))) return out;
  out.lost_workers = describe_loss(cluster, out.status);
  out.problem = {std::string(kWorkersLost), out.lost_workers};
  if (!state.spec.selects_cluster) {
    out.problem.message += fmt::format("; if the job fails, {}", describe_retry(state, kAppFailed));
  }
  if (!were_lost) out.kind = ClusterKind::kLostWorkers;
  return out;
}

}  // namespace tpuslice::rayjob
