#include "cmd/tpu-slice-sim/report/verdict.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cmd/tpu-slice-sim/report/slice_pods.h"
#include "tpu/labels.h"

namespace tpuslice {
namespace {

/// The operator writes reasons of slices that are 5 s old; then it needs a moment.
constexpr Duration kReasonTime = std::chrono::seconds(8);

struct SliceState {
  int hosts = 0;
  int running = 0;
  bool gated = false;
  std::string reason;           ///< Waiting reason.
  std::string unstarted;        ///< Why the first pod that waits does.
  std::string failed;           ///< The first pod that has failed.
  Timestamp last_created = {};  ///< The youngest of its pods.
};

bool runs(const Json& pod) {
  const std::string phase = string_at(pod, {"status", "phase"});
  return phase == "Running" || phase == "Succeeded";
}

bool has_failed(const Json& pod) { return string_at(pod, {"status", "phase"}) == "Failed"; }

/// "Pending, 0/3 nodes are available"
std::string describe(const Json& pod) {
  std::string text = string_at(pod, {"status", "phase"});
  for (const Json& condition : array_at(pod, {"status", "conditions"})) {
    const bool waits = string_at(condition, {"type"}) == "PodScheduled" && string_at(condition, {"status"}) == "False";
    if (waits) text += ", " + string_at(condition, {"message"});
  }
  return text;
}

void add_host(const Json& pod, SliceState& slice) {
  const std::string name = string_at(pod, {"metadata", "name"});
  if (has_failed(pod)) {
    if (slice.failed.empty()) slice.failed = fmt::format("pod {}: Failed", name);
    return;
  }
  if (slice.reason.empty()) slice.reason = string_at(pod, {"metadata", "annotations", tpu::kWaiting});
  if (!array_at(pod, {"spec", "schedulingGates"}).empty()) slice.gated = true;
  const auto created = parse_rfc3339(string_at(pod, {"metadata", "creationTimestamp"}));
  if (created) slice.last_created = std::max(slice.last_created, *created);
  if (runs(pod)) {
    ++slice.running;
  } else if (slice.unstarted.empty()) {
    slice.unstarted = fmt::format("pod {}: {}", name, describe(pod));
  }
}

std::map<std::string, SliceState> slices_of(const std::vector<sim::JsonPtr>& pods) {
  std::map<std::string, SliceState> slices;
  for (const sim::JsonPtr& pod : pods) {
    const std::optional<SlicePod> host = read_slice_pod(*pod);
    if (!host) continue;
    SliceState& slice = slices[host->slice];
    slice.hosts = host->hosts;
    add_host(*pod, slice);
  }
  return slices;
}

std::string why(const SliceState& slice) {
  if (!slice.reason.empty()) return slice.reason;
  std::string text = fmt::format("{} of {} pods run", slice.running, slice.hosts);
  const std::string& pod = slice.unstarted.empty() ? slice.failed : slice.unstarted;
  if (!pod.empty()) text += "; " + pod;
  return text;
}

/// Whether it lacks pods that have failed, and none of the others waits.
bool has_failed(const SliceState& slice) {
  return slice.reason.empty() && slice.unstarted.empty() && !slice.failed.empty();
}

std::string count(std::size_t some, std::size_t all, const char* noun) {
  return fmt::format("{} of {} {}{}", some, all, noun, all == 1 ? "" : "s");
}

}  // namespace

Verdict judge(const std::vector<sim::JsonPtr>& pods) {
  Verdict verdict;
  const std::map<std::string, SliceState> slices = slices_of(pods);
  std::size_t whole = 0;
  for (const auto& [name, slice] : slices) {
    if (slice.running >= slice.hosts) {
      ++whole;
      continue;
    }
    verdict.lines.push_back(fmt::format("{}: slice {} ({} host{}): {}", has_failed(slice) ? "failed" : "waits", name,
                                        slice.hosts, slice.hosts == 1 ? "" : "s", why(slice)));
  }
  std::size_t others = 0;
  std::size_t running = 0;
  for (const sim::JsonPtr& pod : pods) {
    if (read_slice_pod(*pod)) continue;
    ++others;
    if (runs(*pod)) {
      ++running;
    } else {
      verdict.lines.push_back(
          fmt::format("{}: pod {}: {}", has_failed(*pod) ? "failed" : "waits", short_key(*pod), describe(*pod)));
    }
  }
  verdict.all_run = verdict.lines.empty();
  if (slices.empty() && others == 0) return verdict;
  std::vector<std::string> parts;
  if (!slices.empty()) parts.push_back(count(whole, slices.size(), "slice"));
  if (others > 0) parts.push_back(count(running, others, slices.empty() ? "pod" : "other pod"));
  const std::size_t some = slices.empty() ? running : others == 0 ? whole : 2;
  verdict.sentence = fmt::format("{} run{}", fmt::join(parts, " and "), some == 1 ? "s" : "");
  return verdict;
}

bool awaits_reason(const std::vector<sim::JsonPtr>& pods, Timestamp now) {
  return std::ranges::any_of(slices_of(pods), [&](const auto& entry) {
    const SliceState& slice = entry.second;
    return slice.gated && slice.reason.empty() && now < slice.last_created + kReasonTime;
  });
}

}  // namespace tpuslice
