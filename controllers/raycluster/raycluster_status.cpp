#include "controllers/raycluster/raycluster_status.h"

#include <algorithm>

#include "api/types/conditions.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/desired_resources.h"
#include "controllers/raycluster/head.h"
#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

constexpr const char* kSuspendedState = "suspended";

Json status_or_empty(const Object& cluster) {
  Json status = plan::status_of(cluster);
  return status.is_object() ? status : Json::object();
}

/// Sets a member unless it is zero, like Go's omitempty.
void put(Json& status, const char* name, std::int64_t value) {
  if (value == 0) {
    status.erase(name);
  } else {
    status[name] = value;
  }
}

void put(Json& status, const char* name, const std::string& value) {
  if (value.empty()) {
    status.erase(name);
  } else {
    status[name] = value;
  }
}

/// Terminating pods do not count: others may have been created for them.
bool all_pods_running(const StatusInput& input, std::int32_t desired) {
  const std::vector<PodPtr> pods = not_terminating(input.state.seen.pods);
  return input.state.pods.heads.size() == 1 && pods.size() == static_cast<std::size_t>(desired) + 1 &&
         std::ranges::all_of(pods, [](const PodPtr& pod) { return is_available(*pod); });
}

void put_counts(const StatusInput& input, const DesiredWorkers& desired, Json& status) {
  const std::vector<PodPtr> workers = not_terminating(input.state.pods.workers);
  const auto running = [](const PodPtr& pod) { return pod->phase == PodPhase::kRunning; };
  const auto ready = [](const PodPtr& pod) { return pod->phase == PodPhase::kRunning && pod->ready; };
  put(status, "availableWorkerReplicas", std::ranges::count_if(workers, running));
  put(status, "readyWorkerReplicas", std::ranges::count_if(workers, ready));
  put(status, "desiredWorkerReplicas", desired.desired);
  put(status, "minWorkerReplicas", desired.minimum);
  put(status, "maxWorkerReplicas", desired.maximum);
  const DesiredResources resources = desired_resources(input.state.spec);
  status["desiredCPU"] = resources.cpu.to_string();
  status["desiredMemory"] = resources.memory.to_string();
  status["desiredGPU"] = resources.gpu.to_string();
  status["desiredTPU"] = resources.tpu.to_string();
}

std::string endpoint_of(const Json& port) {
  for (const char* member : {"nodePort", "targetPort", "port"}) {
    const auto found = port.find(member);
    if (found == port.end()) continue;
    if (found->is_number_integer() && found->get<std::int64_t>() != 0)
      return std::to_string(found->get<std::int64_t>());
    if (found->is_string() && !found->get<std::string>().empty()) return found->get<std::string>();
  }
  return {};
}

void put_endpoints(const ObjectView* service, Json& status) {
  if (service == nullptr) return;
  Json endpoints = Json::object();
  const Object object = service->object();
  if (const Json* ports = find_path(object.json(), {"spec", "ports"}); ports != nullptr && ports->is_array()) {
    for (const Json& port : *ports) {
      const std::string name = string_at(port, {"name"});
      const std::string endpoint = endpoint_of(port);
      if (!name.empty() && !endpoint.empty()) endpoints[name] = endpoint;
    }
  }
  status.erase("endpoints");
  if (!endpoints.empty()) status["endpoints"] = std::move(endpoints);
}

void put_head(const PodPtr& head, const ObjectView* service, Json& status) {
  Json info = Json::object();
  if (head != nullptr) {
    put(info, "podIP", head->pod_ip);
    put(info, "podName", head->key.name);
  }
  if (service != nullptr) {
    const std::string cluster_ip = string_at(service->object().json(), {"spec", "clusterIP"});
    const bool headless = cluster_ip.empty() || cluster_ip == "None";
    put(info, "serviceIP", headless ? (head == nullptr ? std::string() : head->pod_ip) : cluster_ip);
    put(info, "serviceName", service->key.name);
  }
  status["head"] = std::move(info);
}

void set_state(Json& status, const std::string& state, Timestamp now) {
  status["state"] = state;
  status["stateTransitionTimes"][state] = format_rfc3339(now);
}

/// Sets the state as upstream does: `ready` means that the cluster was ready once, so it only changes to `suspended`.
void put_state(const StatusInput& input, bool all_running, Json& status) {
  const std::string before = string_at(status, {"state"});
  std::string state = before;
  const bool conflict =
      input.services.reason == kServiceConflict || (input.children && input.children->reason == kChildConflict);
  if (all_running && !input.state.seen.last_failure && !conflict) {
    state = "ready";
    status.erase("reason");
  }
  if (input.state.spec.suspend && input.state.seen.pods.empty()) state = kSuspendedState;
  if (state != before) set_state(status, state, input.state.seen.now);
}

/// Updates lastUpdateTime if anything else changed.
Json with_update_time(const Json& before, Json after, Timestamp now) {
  const auto time = before.find("lastUpdateTime");
  if (time != before.end()) after["lastUpdateTime"] = *time;
  if (after == before) return before;
  after["lastUpdateTime"] = format_rfc3339(now);
  return after;
}

}  // namespace

Json build_status(const StatusInput& input) {
  const Json before = status_or_empty(input.state.seen.cluster);
  Json status = before;
  const DesiredWorkers desired = desired_workers(input.state.spec);
  const bool all_running = all_pods_running(input, desired.desired);
  const ObjectView* service = find_head_service(input.state.spec, input.state.seen);
  put_counts(input, desired, status);
  put_endpoints(service, status);
  put_head(choose_head(input.state.spec, input.state.pods.heads), service, status);
  put_state(input, all_running, status);
  put(status, "observedGeneration", input.state.seen.cluster.generation());
  update_conditions(input, all_running, status["conditions"]);
  return with_update_time(before, std::move(status), input.state.seen.now);
}

Json refused_status(const RayClusterState& state, const Problem& refusal) {
  const auto& [seen, spec, pods, phase] = state;
  const Json before = status_or_empty(seen.cluster);
  Json status = before;
  put(status, "observedGeneration", seen.cluster.generation());
  const bool suspended = phase == SuspendPhase::kPodsDeleted || phase == SuspendPhase::kSuspended;
  if (suspended && string_at(status, {"state"}) != kSuspendedState) set_state(status, kSuspendedState, seen.now);
  update_refused(state, refusal, status["conditions"]);
  return with_update_time(before, std::move(status), seen.now);
}

bool condition_changed(const Json& before, const Json& after, std::string_view type) {
  const auto text = [type](const Json& status) {
    const Json* conditions = find_path(status, {"conditions"});
    const Json* condition = conditions == nullptr ? nullptr : find_condition(*conditions, type);
    return condition == nullptr ? std::string()
                                : string_at(*condition, {"status"}) + string_at(*condition, {"message"});
  };
  return text(before) != text(after);
}

}  // namespace tpuslice::raycluster
