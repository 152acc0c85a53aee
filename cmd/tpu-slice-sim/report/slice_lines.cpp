#include "cmd/tpu-slice-sim/report/slice_lines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"
#include "cmd/tpu-slice-sim/report/slice_pods.h"
#include "tpu/labels.h"

namespace tpuslice {
namespace {

using sim::condition_status;

std::string phase_of(const Json& pod) { return string_at(pod, {"status", "phase"}); }

std::int64_t restarts_of(const Json& pod) {
  std::int64_t total = 0;
  for (const Json& each : array_at(pod, {"status", "containerStatuses"})) total += int_at(each, {"restartCount"});
  return total;
}

/// What a person wants to see of the single pod.
bool is_failure(const Json& before, const Json& after) {
  if (sim::terminating(after)) return false;
  const std::string phase = phase_of(after);
  const bool failed = phase == "Failed" && phase_of(before) != "Failed";
  const bool unready =
      phase == "Running" && condition_status(before, "Ready") == "True" && condition_status(after, "Ready") != "True";
  return failed || unready || restarts_of(after) > restarts_of(before);
}

/// Events of which the lines about slices and pods say the same.
bool is_known_event(const Json& event) {
  constexpr std::array<std::string_view, 4> kKept = {"SliceWaiting", "SliceTornDown", "SlicePreempted",
                                                     "SliceNodeNotReady"};
  const Json* about = find_path(event, {"regarding"});
  if (about == nullptr) about = find_path(event, {"involvedObject"});
  if (about != nullptr && string_at(*about, {"kind"}) == "Pod") return true;
  return string_at(event, {"type"}) == "Normal" && std::ranges::count(kKept, string_at(event, {"reason"})) == 0;
}

/// "v6e-4x4-a"; the node where the domain is not known.
std::string place_of(const Json& pod) {
  const std::string domain = string_at(pod, {"metadata", "annotations", tpu::kPlacedIn});
  return domain.empty() ? string_at(pod, {"spec", "nodeName"}) : domain;
}

}  // namespace

bool SliceLines::report(const sim::Change& change, std::vector<std::string>& lines) {
  const Json& object = *change.object;
  if (change.resource == "events" || change.resource == "events.events.k8s.io") return is_known_event(object);
  return change.resource == "pods" && report_pod(change, lines);
}

bool SliceLines::report_pod(const sim::Change& change, std::vector<std::string>& lines) {
  static const Json kNothing;
  const Json& before = change.previous == nullptr ? kNothing : *change.previous;
  const Json& after = *change.object;
  const std::optional<SlicePod> host = read_slice_pod(after);
  if (!host) return false;
  if (change.type == sim::ChangeType::kDeleted) {
    const auto found = slices_.find(host->slice);
    if (found == slices_.end()) return true;
    found->second.pods.erase(change.key.name);
    if (!found->second.pods.empty()) return true;
    lines.push_back(fmt::format("slice {}: gone", host->slice));
    slices_.erase(found);
    return true;
  }
  Slice& slice = slices_[host->slice];
  slice.hosts = static_cast<std::size_t>(host->hosts);
  if (phase_of(after) == "Failed") {
    // A Job creates another pod for this host.
    slice.pods.erase(change.key.name);
  } else {
    slice.pods[change.key.name] = {string_at(after, {"spec", "nodeName"}), condition_status(after, "Ready") == "True",
                                   phase_of(after) == "Succeeded", sim::terminating(after)};
  }
  advance(host->slice, after, slice, lines);
  return !is_failure(before, after);
}

void SliceLines::advance(const std::string& name, const Json& pod, Slice& slice, std::vector<std::string>& lines) {
  const auto all = [&](auto member) {
    return std::ranges::all_of(slice.pods, [&](const auto& entry) { return member(entry.second); });
  };
  const bool ends = std::ranges::any_of(slice.pods, [](const auto& entry) { return entry.second.ends; });
  if (ends) {
    if (slice.stage != Stage::kEnding) lines.push_back(fmt::format("slice {}: its pods are deleted", name));
    slice.stage = Stage::kEnding;
    return;
  }
  if (slice.pods.size() < slice.hosts) {
    if (slice.stage != Stage::kEnding) slice.stage = Stage::kForming;
    return;
  }
  if (slice.stage == Stage::kEnding) slice.stage = Stage::kForming;
  const std::size_t hosts = slice.pods.size();
  const auto reach = [&](Stage stage, const std::string& text) {
    if (slice.stage >= stage) return;
    slice.stage = stage;
    lines.push_back(fmt::format("slice {}: {}", name, text));
  };
  const bool gated = !array_at(pod, {"spec", "schedulingGates"}).empty();
  reach(Stage::kCreated, fmt::format("{} pod{} created{}", hosts, hosts == 1 ? "" : "s", gated ? ", gated" : ""));
  if (!all([](const Pod& each) { return !each.node.empty(); })) {
    slice.stage = Stage::kCreated;
    return;
  }
  reach(Stage::kScheduled, fmt::format("on {}, whole", place_of(pod)));
  if (!all([](const Pod& each) { return each.ready || each.succeeded; })) slice.stage = Stage::kScheduled;
  if (all([](const Pod& each) { return each.ready; }))
    reach(Stage::kReady, fmt::format("{} of {} Ready", hosts, hosts));
  if (all([](const Pod& each) { return each.succeeded; })) reach(Stage::kSucceeded, "succeeded");
}

}  // namespace tpuslice
