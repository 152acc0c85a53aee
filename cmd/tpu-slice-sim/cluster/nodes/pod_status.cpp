#include "cmd/tpu-slice-sim/cluster/nodes/pod_status.h"

#include <algorithm>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/hashing.h"

namespace tpuslice::sim {

namespace {

const char* list_name(bool init) { return init ? "initContainerStatuses" : "containerStatuses"; }

const Json* find_spec(const Json& pod, std::string_view container, bool init) {
  const Json* list = find_path(pod, {"spec", init ? "initContainers" : "containers"});
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& entry : *list) {
    if (string_at(entry, {"name"}) == container) return &entry;
  }
  return nullptr;
}

Json& entry_of(Json& pod, std::string_view container, bool init) {
  Json& list = pod["status"][list_name(init)];
  if (!list.is_array()) list = Json::array();
  for (Json& entry : list) {
    if (string_at(entry, {"name"}) == container) return entry;
  }
  const Json* spec = find_spec(pod, container, init);
  const std::string image = spec == nullptr ? std::string() : string_at(*spec, {"image"});
  list.push_back({{"name", std::string(container)},
                  {"image", image},
                  {"imageID", ""},
                  {"ready", false},
                  {"started", false},
                  {"restartCount", 0},
                  {"state", Json::object()},
                  {"lastState", Json::object()}});
  return list.back();
}

std::string container_id(const Json& pod, std::string_view container, std::int64_t restarts) {
  return fmt::format("containerd://{:016x}",
                     hash_of({string_at(pod, {"metadata", "uid"}), container, std::to_string(restarts)}));
}

bool restarts_always(const Json& pod, std::string_view container) {
  const Json* spec = find_spec(pod, container, true);
  return spec != nullptr && string_at(*spec, {"restartPolicy"}) == "Always";
}

bool initialized(const Json& pod) {
  for (const std::string& name : container_names(pod, true)) {
    const ContainerSeen found = seen(pod, name, true);
    const bool sidecar = restarts_always(pod, name) && found.started;
    if (!sidecar && (found.state != ContainerState::kTerminated || found.exit_code != 0)) return false;
  }
  return true;
}

std::string unready_containers(const Json& pod) {
  std::vector<std::string> out;
  for (const std::string& name : container_names(pod)) {
    if (!seen(pod, name).ready) out.push_back(name);
  }
  return fmt::format("{}", fmt::join(out, " "));
}

std::string uninitialized_containers(const Json& pod) {
  std::vector<std::string> out;
  for (const std::string& name : container_names(pod, true)) {
    const ContainerSeen found = seen(pod, name, true);
    const bool done = found.state == ContainerState::kTerminated && found.exit_code == 0;
    if (!done && !(restarts_always(pod, name) && found.started)) out.push_back(name);
  }
  return fmt::format("{}", fmt::join(out, " "));
}

/// Succeeded or Failed if no container will run again, else empty.
std::string final_phase(const Json& pod) {
  const std::string policy = string_at(pod, {"spec", "restartPolicy"}, "Always");
  const bool stopping = find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr;
  bool failed = false;
  for (const std::string& name : container_names(pod, true)) {
    const ContainerSeen found = seen(pod, name, true);
    if (found.state == ContainerState::kTerminated && found.exit_code != 0 && (stopping || policy == "Never")) {
      return "Failed";
    }
  }
  for (const std::string& name : container_names(pod)) {
    const ContainerSeen found = seen(pod, name);
    if (found.state != ContainerState::kTerminated) return {};
    if (!stopping && policy == "Always") return {};
    if (!stopping && policy == "OnFailure" && found.exit_code != 0) return {};
    failed |= found.exit_code != 0;
  }
  return failed ? "Failed" : "Succeeded";
}

void conclude_ready(Json& pod, const std::string& phase, Timestamp now) {
  Json& status = pod["status"];
  const std::string unready = unready_containers(pod);
  if (phase == "Succeeded") {
    set_condition(status, {"Ready", "False", "PodCompleted", ""}, now);
    set_condition(status, {"ContainersReady", "False", "PodCompleted", ""}, now);
  } else if (phase == "Failed") {
    set_condition(status, {"Ready", "False", "PodFailed", ""}, now);
    set_condition(status, {"ContainersReady", "False", "PodFailed", ""}, now);
  } else if (unready.empty()) {
    set_condition(status, {"Ready", "True", "", ""}, now);
    set_condition(status, {"ContainersReady", "True", "", ""}, now);
  } else {
    const std::string message = fmt::format("containers with unready status: [{}]", unready);
    set_condition(status, {"Ready", "False", "ContainersNotReady", message}, now);
    set_condition(status, {"ContainersReady", "False", "ContainersNotReady", message}, now);
  }
}

}  // namespace

std::vector<std::string> container_names(const Json& pod, bool init) {
  std::vector<std::string> out;
  const Json* list = find_path(pod, {"spec", init ? "initContainers" : "containers"});
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& entry : *list) out.push_back(string_at(entry, {"name"}));
  return out;
}

ContainerSeen seen(const Json& pod, std::string_view container, bool init) {
  ContainerSeen out;
  const Json* list = find_path(pod, {"status", list_name(init)});
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& entry : *list) {
    if (string_at(entry, {"name"}) != container) continue;
    out.restarts = entry.value("restartCount", 0);
    out.ready = entry.value("ready", false);
    out.started = entry.value("started", false);
    if (const Json* terminated = find_path(entry, {"state", "terminated"})) {
      out.state = ContainerState::kTerminated;
      out.exit_code = terminated->value("exitCode", 0);
      out.reason = string_at(*terminated, {"reason"});
    } else if (find_path(entry, {"state", "running"}) != nullptr) {
      out.state = ContainerState::kRunning;
    } else {
      out.state = ContainerState::kWaiting;
      out.reason = string_at(entry, {"state", "waiting", "reason"});
    }
  }
  return out;
}

void admit(Json& pod, const std::string& host_ip, Timestamp now) {
  Json& status = pod["status"];
  status["startTime"] = format_rfc3339(now);
  status["hostIP"] = host_ip;
  status["hostIPs"] = Json::array({Json{{"ip", host_ip}}});
  const std::vector<std::string> inits = container_names(pod, true);
  const char* reason = inits.empty() ? "ContainerCreating" : "PodInitializing";
  for (const std::string& name : inits) wait(pod, name, true, "PodInitializing", "");
  for (const std::string& name : container_names(pod)) wait(pod, name, false, reason, "");
  conclude(pod, now);
}

void give_address(Json& pod, const std::string& ip) {
  pod["status"]["podIP"] = ip;
  pod["status"]["podIPs"] = Json::array({Json{{"ip", ip}}});
}

void wait(Json& pod, std::string_view container, bool init, const std::string& reason, const std::string& message) {
  Json& entry = entry_of(pod, container, init);
  if (entry["state"].contains("terminated")) entry["lastState"] = entry["state"];
  Json waiting = {{"reason", reason}};
  if (!message.empty()) waiting["message"] = message;
  entry["state"] = {{"waiting", waiting}};
  entry["ready"] = false;
  entry["started"] = false;
}

void run(Json& pod, std::string_view container, bool init, Timestamp now) {
  Json& entry = entry_of(pod, container, init);
  if (entry["state"].contains("terminated")) entry["lastState"] = entry["state"];
  std::int64_t restarts = entry["restartCount"].get<std::int64_t>();
  if (entry["lastState"].contains("terminated")) entry["restartCount"] = ++restarts;
  entry["state"] = {{"running", {{"startedAt", format_rfc3339(now)}}}};
  entry["started"] = true;
  entry["ready"] = false;
  entry["imageID"] = string_at(entry, {"image"});
  entry["containerID"] = container_id(pod, container, restarts);
}

void terminate(Json& pod, std::string_view container, bool init, int exit_code, Timestamp now) {
  Json& entry = entry_of(pod, container, init);
  const std::string started = string_at(entry, {"state", "running", "startedAt"}, format_rfc3339(now));
  entry["state"] = {{"terminated",
                     {{"exitCode", exit_code},
                      {"reason", exit_code == 0 ? "Completed" : "Error"},
                      {"startedAt", started},
                      {"finishedAt", format_rfc3339(now)},
                      {"containerID", string_at(entry, {"containerID"})}}}};
  entry["started"] = false;
  entry["ready"] = init && exit_code == 0;
}

void set_ready(Json& pod, std::string_view container, bool ready) { entry_of(pod, container, false)["ready"] = ready; }

void conclude(Json& pod, Timestamp now) {
  Json& status = pod["status"];
  const std::vector<std::string> names = container_names(pod);
  std::string phase = final_phase(pod);
  if (phase.empty()) {
    const bool started = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const ContainerSeen found = seen(pod, name);
      return found.state == ContainerState::kRunning || found.state == ContainerState::kTerminated ||
             found.reason == "CrashLoopBackOff";
    });
    phase = started ? "Running" : "Pending";
  }
  status["phase"] = phase;
  if (initialized(pod)) {
    set_condition(status, {"Initialized", "True", phase == "Succeeded" ? "PodCompleted" : "", ""}, now);
  } else {
    set_condition(status,
                  {"Initialized", "False", "ContainersNotInitialized",
                   fmt::format("containers with incomplete status: [{}]", uninitialized_containers(pod))},
                  now);
  }
  conclude_ready(pod, phase, now);
}

void fail(Json& pod, int exit_code, const std::string& reason, const std::string& message, Timestamp now) {
  for (const std::string& name : container_names(pod)) {
    if (seen(pod, name).state == ContainerState::kRunning) terminate(pod, name, false, exit_code, now);
  }
  conclude(pod, now);
  Json& status = pod["status"];
  status["phase"] = "Failed";
  if (!reason.empty()) status["reason"] = reason;
  if (!message.empty()) status["message"] = message;
  conclude_ready(pod, "Failed", now);
}

}  // namespace tpuslice::sim
