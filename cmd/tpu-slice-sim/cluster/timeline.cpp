#include "cmd/tpu-slice-sim/cluster/timeline.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/requirements.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

using Lines = std::vector<std::string>;

/// The namespace is printed only if it is not `default`.
std::string display_name(const ObjectKey& key) {
  return key.namespace_name.empty() || key.namespace_name == "default" ? key.name : key.to_string();
}

std::string condition_field(const Json& object, std::string_view type, std::string_view field) {
  const Json* conditions = find_path(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return {};
  for (const Json& entry : *conditions) {
    if (string_at(entry, {"type"}) == type) return string_at(entry, {field});
  }
  return {};
}

std::string exit_codes(const Json& pod) {
  std::string out;
  const Json* list = find_path(pod, {"status", "containerStatuses"});
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& entry : *list) {
    const Json* code = find_path(entry, {"state", "terminated", "exitCode"});
    if (code != nullptr) out += fmt::format(" ({} exited with {})", string_at(entry, {"name"}), code->dump());
  }
  return out;
}

std::int64_t restarts(const Json& pod) {
  std::int64_t total = 0;
  const Json* list = find_path(pod, {"status", "containerStatuses"});
  if (list == nullptr || !list->is_array()) return total;
  for (const Json& entry : *list) total += entry.value("restartCount", std::int64_t{0});
  return total;
}

void describe_pod(const std::string& name, const Json& before, const Json& after, Lines& lines) {
  if (before.is_null()) lines.push_back(fmt::format("pod {} created", name));
  const std::string node = string_at(after, {"spec", "nodeName"});
  if (!node.empty() && string_at(before, {"spec", "nodeName"}).empty()) {
    lines.push_back(fmt::format("pod {} scheduled to {}", name, node));
  }
  const std::string why = condition_field(after, "PodScheduled", "message");
  const bool waits = condition_status(after, "PodScheduled") == "False";
  if (waits && why != condition_field(before, "PodScheduled", "message")) {
    lines.push_back(fmt::format("pod {} waits: {}", name, why));
  }
  const std::string phase = string_at(after, {"status", "phase"});
  if (phase != string_at(before, {"status", "phase"})) {
    if (phase == "Running") lines.push_back(fmt::format("pod {} running", name));
    if (phase == "Failed" && !terminating(after))
      lines.push_back(fmt::format("pod {} failed{}", name, exit_codes(after)));
    if (phase == "Succeeded") lines.push_back(fmt::format("pod {} succeeded", name));
  }
  const std::string ready = condition_status(after, "Ready");
  const std::string was_ready = condition_status(before, "Ready");
  if (ready == "True" && was_ready != "True") lines.push_back(fmt::format("pod {} ready", name));
  if (was_ready == "True" && ready != "True" && !terminating(after) && phase == "Running") {
    lines.push_back(fmt::format("pod {} no longer ready: {}{}", name, condition_field(after, "Ready", "reason"),
                                exit_codes(after)));
  }
  if (restarts(after) > restarts(before)) lines.push_back(fmt::format("pod {} container restarted", name));
  if (terminating(after) && !terminating(before)) lines.push_back(fmt::format("pod {} is being deleted", name));
}

void describe_node(const std::string& name, const Json& before, const Json& after, Lines& lines) {
  if (before.is_null()) return;
  const std::string ready = condition_status(after, "Ready");
  if (ready != condition_status(before, "Ready")) lines.push_back(fmt::format("node {} Ready={}", name, ready));
  const Json* cordoned = find_path(after, {"spec", "unschedulable"});
  const Json* was_cordoned = find_path(before, {"spec", "unschedulable"});
  const Json yes = true;
  const bool now = cordoned != nullptr && *cordoned == yes;
  const bool then = was_cordoned != nullptr && *was_cordoned == yes;
  if (now != then) lines.push_back(fmt::format("node {} {}", name, now ? "cordoned" : "uncordoned"));
}

std::string worker_counts(const Json& object) {
  const Json* desired = find_path(object, {"status", "desiredWorkerReplicas"});
  if (desired == nullptr) return {};
  const Json* available = find_path(object, {"status", "availableWorkerReplicas"});
  return fmt::format("{}/{} workers available", available == nullptr ? "0" : available->dump(), desired->dump());
}

void describe_custom(const std::string& kind, const std::string& name, const Json& before, const Json& after,
                     Lines& lines) {
  const std::string subject = to_lower(kind) + " " + name;
  if (before.is_null()) lines.push_back(fmt::format("{} created", subject));
  if (terminating(after) && !terminating(before)) lines.push_back(fmt::format("{} is being deleted", subject));
  const std::string counts = worker_counts(after);
  if (counts != worker_counts(before)) lines.push_back(fmt::format("{}: {}", subject, counts));
  const std::string state = string_at(after, {"status", "state"});
  if (!state.empty() && state != string_at(before, {"status", "state"})) {
    lines.push_back(fmt::format("{} is {}", subject, state));
  }
  const Json* conditions = find_path(after, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) return;
  for (const Json& entry : *conditions) {
    const std::string type = string_at(entry, {"type"});
    const std::string status = string_at(entry, {"status"});
    const std::string status_before = condition_status(before, type);
    // Most conditions of a new object are False at first.
    if (status == status_before || (status == "False" && status_before.empty())) continue;
    lines.push_back(fmt::format("{} condition {}={} ({})", subject, type, status, string_at(entry, {"reason"})));
  }
}

void report_event(const Json& event, Lines& lines) {
  std::string source = string_at(event, {"reportingController"});
  if (source.empty()) source = string_at(event, {"reportingComponent"});
  if (source == "default-scheduler") return;  // Reported as a change of the pod.
  const Json* about = find_path(event, {"regarding"});
  if (about == nullptr) about = find_path(event, {"involvedObject"});
  if (about == nullptr) return;
  std::string text = string_at(event, {"note"});
  if (text.empty()) text = string_at(event, {"message"});
  lines.push_back(fmt::format("event {} {} {}: {}", to_lower(string_at(*about, {"kind"})), string_at(*about, {"name"}),
                              string_at(event, {"reason"}), text));
}

}  // namespace

Timeline::Timeline(Registry& registry, Instant start, Summary summary)
    : registry_(registry),
      start_(start),
      summary_(std::move(summary)),
      feed_(
          registry.storage(), [] { return std::vector<std::string>(); }, false) {
  static_cast<void>(feed_.take());
}

Lines Timeline::take(Instant now) {
  Lines out;
  for (const Change& change : feed_.take().changes) {
    Lines lines;
    if (!summary_ || !summary_(change, lines)) report(change, lines);
    for (const std::string& line : lines) out.push_back(fmt::format("{:>8}  {}", format_elapsed(now - start_), line));
  }
  return out;
}

void Timeline::report(const Change& change, Lines& lines) const {
  static const Json kNothing;
  const Json& before = change.previous == nullptr ? kNothing : *change.previous;
  const Json& after = *change.object;
  const std::string name = display_name(change.key);
  const bool gone = change.type == ChangeType::kDeleted;
  if (change.resource == "pods") {
    if (gone) return lines.push_back(fmt::format("pod {} gone", name));
    return describe_pod(name, before, after, lines);
  }
  if (change.resource == "nodes") {
    if (gone) return lines.push_back(fmt::format("node {} deleted", name));
    return describe_node(name, before, after, lines);
  }
  if (change.resource == "services") {
    if (gone || before.is_null()) lines.push_back(fmt::format("service {} {}", name, gone ? "gone" : "created"));
    return;
  }
  if (change.resource == "events" || change.resource == "events.events.k8s.io") {
    if (!gone) report_event(after, lines);
    return;
  }
  const ResourcePtr resource = registry_.resources().find_id(change.resource);
  if (resource == nullptr || !resource->custom) return;
  if (gone) return lines.push_back(fmt::format("{} {} gone", to_lower(resource->kind), name));
  describe_custom(resource->kind, name, before, after, lines);
}

std::string format_elapsed(Duration elapsed) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count() / 100;
  if (tenths < 600) return fmt::format("+{}.{}s", tenths / 10, tenths % 10);
  return fmt::format("+{}m{:02}s", tenths / 600, tenths % 600 / 10);
}

}  // namespace tpuslice::sim
