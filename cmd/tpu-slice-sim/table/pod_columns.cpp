#include <fmt/format.h>

#include "cmd/tpu-slice-sim/registry/kinds.h"
#include "cmd/tpu-slice-sim/table/age.h"
#include "cmd/tpu-slice-sim/table/builtin_columns.h"

namespace tpuslice::sim {
namespace {

const Json* condition(const Json& pod, std::string_view type) {
  for (const Json& each : array_at(pod, {"status", "conditions"})) {
    if (string_at(each, {"type"}) == type) return &each;
  }
  return nullptr;
}

bool is_true(const Json& pod, std::string_view type) {
  const Json* found = condition(pod, type);
  return found != nullptr && string_at(*found, {"status"}) == "True";
}

std::string terminated_text(const Json& terminated) {
  if (std::string reason = string_at(terminated, {"reason"}); !reason.empty()) return reason;
  if (const std::int64_t signal = int_at(terminated, {"signal"}); signal != 0) return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", int_at(terminated, {"exitCode"}));
}

void count_restarts(const Json& status, PodSummary& summary) {
  summary.restarts += int_at(status, {"restartCount"});
  const std::string last = string_at(status, {"lastState", "terminated", "finishedAt"});
  summary.last_restart = std::max(summary.last_restart, last);
}

/// Whether init containers still run; the status then shows which.
bool summarize_init(const Json& pod, PodSummary& summary) {
  const Json& statuses = array_at(pod, {"status", "initContainerStatuses"});
  PodSummary sidecars;
  bool initializing = false;
  for (std::size_t i = 0; i < statuses.size() && !initializing; ++i) {
    const Json& status = statuses[i];
    const bool sidecar = is_sidecar(pod, string_at(status, {"name"}));
    count_restarts(status, summary);
    if (sidecar) count_restarts(status, sidecars);
    const Json* terminated = find_path(status, {"state", "terminated"});
    if (terminated != nullptr && int_at(*terminated, {"exitCode"}) == 0) continue;
    if (sidecar && bool_at(status, {"started"})) {
      if (bool_at(status, {"ready"})) ++summary.ready;
      continue;
    }
    const std::string waiting = string_at(status, {"state", "waiting", "reason"});
    if (terminated != nullptr) {
      summary.status = "Init:" + terminated_text(*terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.status = "Init:" + waiting;
    } else {
      summary.status = fmt::format("Init:{}/{}", i, array_at(pod, {"spec", "initContainers"}).size());
    }
    initializing = true;
  }
  if (!initializing || is_true(pod, "Initialized")) {  // Restarts of finished init containers do not count.
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    return false;
  }
  return true;
}

void summarize_containers(const Json& pod, PodSummary& summary) {
  bool running = false;
  const Json& statuses = array_at(pod, {"status", "containerStatuses"});
  for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
    count_restarts(*status, summary);
    const std::string waiting = string_at(*status, {"state", "waiting", "reason"});
    const Json* terminated = find_path(*status, {"state", "terminated"});
    if (!waiting.empty()) {
      summary.status = waiting;
    } else if (terminated != nullptr) {
      summary.status = terminated_text(*terminated);
    } else if (bool_at(*status, {"ready"}) && find_path(*status, {"state", "running"}) != nullptr) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.status == "Completed" && running) summary.status = is_true(pod, "Ready") ? "Running" : "NotReady";
}

std::string restarts_text(const PodSummary& pod, Timestamp now) {
  const auto last = parse_rfc3339(pod.last_restart);
  if (pod.restarts == 0 || !last) return std::to_string(pod.restarts);
  return fmt::format("{} ({} ago)", pod.restarts, human_duration(now - *last));
}

std::string gates_text(const Json& pod) {
  const Json& gates = array_at(pod, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  std::size_t ready = 0;
  for (const Json& gate : gates) ready += is_true(pod, string_at(gate, {"conditionType"})) ? 1U : 0U;
  return fmt::format("{}/{}", ready, gates.size());
}

Column summary_column(const char* name, std::string (*text)(const PodSummary&)) {
  return text_column(name, [text](const Json& pod) { return text(summarize_pod(pod)); });
}

}  // namespace

PodSummary summarize_pod(const Json& pod) {
  PodSummary summary;
  summary.containers = static_cast<std::int64_t>(array_at(pod, {"spec", "containers"}).size());
  for (const Json& each : array_at(pod, {"spec", "initContainers"})) {
    if (string_at(each, {"restartPolicy"}) == "Always") ++summary.containers;
  }
  summary.status = string_at(pod, {"status", "phase"});
  const std::string reason = string_at(pod, {"status", "reason"});
  if (!reason.empty()) summary.status = reason;
  const Json* scheduled = condition(pod, "PodScheduled");
  if (scheduled != nullptr && string_at(*scheduled, {"reason"}) == "SchedulingGated")
    summary.status = "SchedulingGated";
  if (!summarize_init(pod, summary)) summarize_containers(pod, summary);
  if (find_path(pod, {"metadata", "deletionTimestamp"}) == nullptr) return summary;
  const std::string phase = string_at(pod, {"status", "phase"});
  if (reason == "NodeLost") {
    summary.status = "Unknown";
  } else if (phase != "Succeeded" && phase != "Failed") {
    summary.status = "Terminating";
  }
  return summary;
}

std::vector<Column> pod_columns() {
  const auto field = [](const char* name, const char* part, const char* member) {
    return text_column(
        name,
        [part, member](const Json& pod) {
          return or_none(string_at(pod, {part, member}));
        },
        1);
  };
  Column restarts;
  restarts.name = "Restarts";
  restarts.cell = [](const Json& pod, Timestamp now) { return Json(restarts_text(summarize_pod(pod), now)); };
  return {
      name_column(),
      summary_column("Ready", [](const PodSummary& pod) { return fmt::format("{}/{}", pod.ready, pod.containers); }),
      summary_column("Status", [](const PodSummary& pod) { return pod.status; }),
      restarts,
      age_column(),
      field("IP", "status", "podIP"),
      field("Node", "spec", "nodeName"),
      field("Nominated Node", "status", "nominatedNodeName"),
      text_column("Readiness Gates", gates_text, 1)};
}

}  // namespace tpuslice::sim
