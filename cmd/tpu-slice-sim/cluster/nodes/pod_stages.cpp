#include "cmd/tpu-slice-sim/cluster/nodes/pod_stages.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "api/base/backoff.h"
#include "cmd/tpu-slice-sim/cluster/nodes/pod_status.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kWaitForHead = "wait-gcs-ready";

std::string script(const Json& pod, const std::string& name) {
  return string_at(pod, {"metadata", "annotations", "sim.tpuslice.dev/" + name});
}

bool scripted(const Json& pod, const std::string& name) { return script(pod, name) == "true"; }

/// Parses "200ms", "5s", "2m"; 0 if malformed.
Duration duration_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return {};
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit == "ms") return milliseconds(value);
  if (unit == "s") return seconds(value);
  if (unit == "m") return std::chrono::minutes(value);
  return {};
}

int exit_code(const Json& pod) {
  const std::string text = script(pod, "exit-code");
  int value = 1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Duration back_off(int restarts, const KubeletOptions& options) {
  return exponential_backoff(restarts, options.back_off, options.longest_back_off);
}

void ensure_address(Json& pod, const StageContext& context) {
  if (string_at(pod, {"status", "podIP"}).empty()) give_address(pod, context.pod_ip);
}

Stage stop_stage(const Json& pod, const KubeletOptions& options) {
  const bool running = string_at(pod, {"status", "phase"}) == "Running" || !string_at(pod, {"status", "podIP"}).empty();
  const std::string phase = string_at(pod, {"status", "phase"});
  if (!running || phase == "Succeeded" || phase == "Failed") return {"remove", {}, true, false, {}};
  const Json* grace = find_path(pod, {"metadata", "deletionGracePeriodSeconds"});
  const bool now = grace != nullptr && grace->is_number_integer() && grace->get<std::int64_t>() == 0;
  return {"stop", now ? Duration{} : options.stop, false, false, [](Json& json, const StageContext& context) {
            for (const bool init : {true, false}) {
              for (const std::string& name : container_names(json, init)) {
                const ContainerState state = seen(json, name, init).state;
                if (state == ContainerState::kRunning) terminate(json, name, init, 143, context.now);
                if (state == ContainerState::kWaiting) terminate(json, name, init, 137, context.now);
              }
            }
            conclude(json, context.now);
          }};
}

/// The first init container that has not finished, if any.
std::optional<Stage> init_stage(const Json& pod, const KubeletOptions& options) {
  for (const std::string& name : container_names(pod, true)) {
    const ContainerSeen found = seen(pod, name, true);
    if (found.state == ContainerState::kTerminated && found.exit_code == 0) continue;
    const bool sidecar = is_sidecar(pod, name);
    if (sidecar && found.state == ContainerState::kRunning) continue;
    if (found.state == ContainerState::kRunning) {
      return Stage{"init-done/" + name, options.init, false, name == kWaitForHead,
                   [name](Json& json, const StageContext& context) {
                     terminate(json, name, true, 0, context.now);
                     conclude(json, context.now);
                   }};
    }
    return Stage{"init/" + name, options.pull, false, false, [name](Json& json, const StageContext& context) {
                   ensure_address(json, context);
                   run(json, name, true, context.now);
                   conclude(json, context.now);
                 }};
  }
  return std::nullopt;
}

/// Restarts containers that exited and may run again.
std::optional<Stage> restart_stage(const Json& pod, const KubeletOptions& options) {
  const std::string policy = string_at(pod, {"spec", "restartPolicy"}, "Always");
  for (const std::string& name : container_names(pod)) {
    const ContainerSeen found = seen(pod, name);
    if (found.state == ContainerState::kTerminated) {
      if (policy == "Never" || (policy == "OnFailure" && found.exit_code == 0)) continue;
      const Duration delay = back_off(found.restarts, options);
      if (delay == Duration{}) {
        return Stage{"restart/" + name, milliseconds(10), false, false,
                     [name](Json& json, const StageContext& context) {
                       run(json, name, false, context.now);
                       conclude(json, context.now);
                     }};
      }
      const std::string message = fmt::format("back-off {}s restarting failed container={}",
                                              std::chrono::duration_cast<seconds>(delay).count(), name);
      return Stage{"back-off/" + name, {}, false, false, [name, message](Json& json, const StageContext& context) {
                     wait(json, name, false, "CrashLoopBackOff", message);
                     conclude(json, context.now);
                   }};
    }
    if (found.state == ContainerState::kWaiting && found.reason == "CrashLoopBackOff") {
      return Stage{fmt::format("restart/{}/{}", name, found.restarts), back_off(found.restarts, options), false, false,
                   [name](Json& json, const StageContext& context) {
                     run(json, name, false, context.now);
                     conclude(json, context.now);
                   }};
    }
  }
  return std::nullopt;
}

std::optional<Stage> start_stage(const Json& pod, const KubeletOptions& options) {
  std::vector<std::string> waiting;
  for (const std::string& name : container_names(pod)) {
    const ContainerSeen found = seen(pod, name);
    if (found.state == ContainerState::kWaiting && found.reason != "CrashLoopBackOff") waiting.push_back(name);
  }
  if (waiting.empty()) return std::nullopt;
  if (scripted(pod, "image-pull-error")) {
    if (seen(pod, waiting.front()).reason == "ImagePullBackOff") return std::nullopt;
    return Stage{"pull-error", options.pull, false, false, [waiting](Json& json, const StageContext& context) {
                   for (const std::string& name : waiting) {
                     wait(json, name, false, "ImagePullBackOff", "Back-off pulling image");
                   }
                   conclude(json, context.now);
                 }};
  }
  const Duration delay = container_names(pod, true).empty() ? options.pull : options.start;
  return Stage{"start", delay, false, false, [waiting](Json& json, const StageContext& context) {
                 ensure_address(json, context);
                 for (const std::string& name : waiting) run(json, name, false, context.now);
                 conclude(json, context.now);
               }};
}

Stage exit_stage(std::string name, Duration delay, std::vector<std::string> containers, int code) {
  return {std::move(name), delay, false, false,
          [containers = std::move(containers), code](Json& json, const StageContext& context) {
            for (const std::string& container : containers) terminate(json, container, false, code, context.now);
            conclude(json, context.now);
          }};
}

bool ready_condition(const Json& pod) {
  const Json* conditions = find_path(pod, {"status", "conditions"});
  if (conditions == nullptr) return false;
  return std::any_of(conditions->begin(), conditions->end(), [](const Json& entry) {
    return string_at(entry, {"type"}) == "Ready" && string_at(entry, {"status"}) == "True";
  });
}

/// Readiness, then the scripted faults.
std::optional<Stage> running_stage(const Json& pod, const KubeletOptions& options) {
  const std::vector<std::string> names = container_names(pod);
  if (names.empty()) return std::nullopt;
  const std::string restarts = std::to_string(seen(pod, names.front()).restarts);
  if (scripted(pod, "crash-loop")) {
    return exit_stage("crash/" + restarts, milliseconds(50), {names.front()}, exit_code(pod));
  }
  std::vector<std::string> unready;
  for (const std::string& name : names) {
    const ContainerSeen found = seen(pod, name);
    if (found.state == ContainerState::kRunning && !found.ready) unready.push_back(name);
  }
  const bool probed = unready.empty() && ready_condition(pod);
  const bool stopped = unready.empty() && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
                         return seen(pod, name).state != ContainerState::kRunning;
                       });
  if (!probed && !stopped && !scripted(pod, "never-ready")) {
    return Stage{"ready/" + restarts, unready.empty() ? Duration{} : options.ready, false, false,
                 [unready](Json& json, const StageContext& context) {
                   for (const std::string& name : unready) set_ready(json, name, true);
                   conclude(json, context.now);
                 }};
  }
  if (const std::string after = script(pod, "fail-after"); !after.empty() && restarts == "0") {
    if (seen(pod, names.front()).state == ContainerState::kRunning) {
      return exit_stage("fail", duration_of(after), {names.front()}, exit_code(pod));
    }
  }
  if (const std::string after = script(pod, "complete-after"); !after.empty()) {
    std::vector<std::string> running;
    for (const std::string& name : names) {
      if (seen(pod, name).state == ContainerState::kRunning) running.push_back(name);
    }
    if (!running.empty()) return exit_stage("complete", duration_of(after), running, 0);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Stage> next_stage(const Json& pod, const KubeletOptions& options) {
  if (find_path(pod, {"metadata", "deletionTimestamp"}) != nullptr) return stop_stage(pod, options);
  const std::string phase = string_at(pod, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return std::nullopt;
  if (find_path(pod, {"status", "startTime"}) == nullptr) {
    return Stage{"admit", {}, false, false, [](Json& json, const StageContext& context) {
                   admit(json, context.host_ip, context.now);
                 }};
  }
  if (auto stage = init_stage(pod, options)) return stage;
  if (auto stage = start_stage(pod, options)) return stage;
  if (scripted(pod, "image-pull-error")) return std::nullopt;
  if (auto stage = restart_stage(pod, options)) return stage;
  return running_stage(pod, options);
}

std::optional<std::pair<std::string, std::string>> awaited_head_service(const Json& pod) {
  const std::string space = string_at(pod, {"metadata", "namespace"});
  const Json* list = find_path(pod, {"spec", "initContainers"});
  if (list == nullptr || !list->is_array()) return std::nullopt;
  for (const Json& container : *list) {
    if (string_at(container, {"name"}) != kWaitForHead) continue;
    const Json* env = find_path(container, {"env"});
    if (env != nullptr && env->is_array()) {
      for (const Json& entry : *env) {
        if (string_at(entry, {"name"}) != "FQ_RAY_IP") continue;
        const std::string host = string_at(entry, {"value"});
        const std::size_t dot = host.find('.');
        if (dot == std::string::npos) return std::make_pair(space, host);
        const std::size_t end = host.find('.', dot + 1);
        return std::make_pair(host.substr(dot + 1, end == std::string::npos ? end : end - dot - 1),
                              host.substr(0, dot));
      }
    }
    return std::make_pair(space, string_at(pod, {"metadata", "labels", "ray.io/cluster"}) + "-head-svc");
  }
  return std::nullopt;
}

}  // namespace tpuslice::sim
