#include "controllers/rayservice/rayservice_status.h"

#include <utility>

#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/share_status.h"

namespace tpuslice::rayservice {
namespace {

/// Sets a member unless it is empty, like Go's omitempty.
void put_member(Json& json, const char* name, Json value) {
  const bool zero = value.is_null() || value == 0 || value == "" || (value.is_structured() && value.empty());
  if (zero) {
    json.erase(name);
  } else {
    json[name] = std::move(value);
  }
}

Json deployments_json(const std::map<std::string, ray::DeploymentInfo>& deployments) {
  Json out = Json::object();
  for (const auto& [name, deployment] : deployments) {
    Json& each = out[name] = Json::object();
    put_member(each, "status", deployment.status);
    put_member(each, "message", deployment.message);
  }
  return out;
}

Json applications_json(const ray::ServeInfo& info) {
  Json out = Json::object();
  for (const auto& [name, application] : info.applications) {
    Json& each = out[name.empty() ? "default" : name] = Json::object();
    put_member(each, "status", application.status);
    put_member(each, "message", application.message);
    put_member(each, "serveDeploymentStatuses", deployments_json(application.deployments));
  }
  return out;
}

/// Status of the active or pending cluster. What is unknown stays as it was.
Json cluster_status(const RayServiceState& state, const std::string& name, const std::optional<Serving>& serving) {
  Json out = Json::object();
  if (name.empty()) return out;
  for (const char* member : {"activeServiceStatus", "pendingServiceStatus"}) {
    const Json* before = find_set(state.status, {member});
    if (before != nullptr && string_at(*before, {"rayClusterName"}) == name) out = *before;
  }
  out["rayClusterName"] = name;
  const Cluster* cluster = state.clusters.find(name);
  put_member(out, "rayClusterStatus", cluster == nullptr ? Json() : plan::status_of(cluster->object));
  if (cluster == nullptr) out.erase("applicationStatuses");
  if (serving && serving->info) put_member(out, "applicationStatuses", applications_json(*serving->info));
  return out;
}

Json with_observed_generation(const RayServiceState& state) {
  Json out = state.status.is_object() ? state.status : Json::object();
  out["observedGeneration"] = state.seen.service.generation();
  if (!find_set(out, {"conditions"})) out["conditions"] = Json::array();
  return out;
}

/// Updates lastUpdateTime if anything else changed.
Json with_time(const RayServiceState& state, Json after) {
  if (after == state.status) return after;
  after["lastUpdateTime"] = format_rfc3339(state.seen.now);
  return after;
}

void put_service_status(Json& status) {
  put_member(status, "serviceStatus", is_condition_true(status["conditions"], kReady) ? "Running" : "");
}

/// Endpoints of the service that is switched; of an incremental upgrade also those of the pending cluster.
int count_endpoints(const RayServiceState& state, const ClusterChoice& choice) {
  const Cluster* selected = state.clusters.find_alive(selected_cluster(state));
  int out = selected == nullptr ? 0 : serve_endpoints(*selected);
  const bool both = state.spec.incremental && choice.active != nullptr && choice.pending != nullptr;
  if (both && selected != choice.pending) out += serve_endpoints(*choice.pending);
  return out;
}

/// The status of the cluster, and its share of an incremental upgrade. A refused spec says nothing about shares.
Json cluster_with_share(const RayServiceState& state, const RunningDecisions& decisions, bool refused, bool pending,
                        const std::string& name) {
  Json out = cluster_status(state, name, pending ? decisions.pending : decisions.active);
  if (!name.empty() && !refused) put_share(state, decisions, pending, out);
  return out;
}

void update_running(const RayServiceState& state, const RunningDecisions& decisions, const Problem& refusal,
                    Json& status, plan::Changes& changes) {
  const ClusterChoice& choice = decisions.choice;
  ConditionInput input{
      state, decisions, refusal, choice.active_name, choice.pending_name, count_endpoints(state, choice)};
  // After a failed write the services may still select the cluster of before. Once they do not, the choice says so.
  const bool promoted = decisions.promote && !state.seen.last_failure;
  if (promoted) {
    input.active_name = choice.pending_name;
    input.pending_name.clear();
  }
  update_conditions(input, status["conditions"], changes);
  const bool timed_out = string_at(*find_condition(status["conditions"], kReady), {"reason"}) == kInitializingTimedOut;
  const bool refused = static_cast<bool>(refusal);
  put_member(status, "activeServiceStatus",
             timed_out ? Json() : cluster_with_share(state, decisions, refused, promoted, input.active_name));
  put_member(status, "pendingServiceStatus",
             timed_out || input.pending_name.empty()
                 ? Json()
                 : cluster_with_share(state, decisions, refused, true, input.pending_name));
  put_member(status, "numServeEndpoints", input.endpoints);
  put_service_status(status);
}

void update_suspended(const RayServiceState& state, SuspendPhase phase, const Problem& refusal, Json& status,
                      plan::Changes& changes) {
  update_suspension(state, phase, status["conditions"]);
  update_accepted(state, refusal, status["conditions"], changes);
  if (phase == SuspendPhase::kRequested) {
    for (const char* member : {"activeServiceStatus", "pendingServiceStatus", "numServeEndpoints"})
      status.erase(member);
  }
  put_service_status(status);
}

}  // namespace

Json next_status(const RayServiceState& state, const Decisions& decisions, plan::Changes& changes) {
  if (state.seen.service.deletion_timestamp()) return state.status;
  Json status = with_observed_generation(state);
  if (decisions.running) {
    update_running(state, *decisions.running, decisions.refusal, status, changes);
  } else if (decisions.suspension) {
    update_suspended(state, *decisions.suspension, decisions.refusal, status, changes);
  } else {
    update_accepted(state, decisions.refusal, status["conditions"], changes);
    update_timed_out(state, decisions.refusal, status["conditions"]);
  }
  return with_time(state, std::move(status));
}

}  // namespace tpuslice::rayservice
