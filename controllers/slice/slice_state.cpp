#include "controllers/slice/slice_state.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Maximum in a message.
constexpr std::size_t kMaxHostIndexes = 8;

/// The pod is of the same Job as the live hosts. A suspended Job that is resumed recreates the pods of the other
/// indexes only.
bool is_of_same_attempt(const Slice& slice, const PodView& pod) {
  if (!pod.controller || pod.controller->kind != "Job") return false;
  return std::ranges::all_of(slice.hosts, [&](const PodPtr& host) {
    if (host->finished()) return true;
    return host->controller && host->controller->uid == pod.controller->uid;
  });
}

using plan::WaitingCode;

SliceState forming(WaitingCode code, std::string reason) { return {SlicePhase::kForming, std::move(reason), code}; }

/// The state of a slice that has not started and must wait, other than for missing hosts; nothing if nothing holds it
/// back.
std::optional<SliceState> held_back(const Slice& slice) {
  if (!slice.terminating.empty()) {
    const PodView& pod = *slice.terminating.front();
    return forming(WaitingCode::kPredecessorExists,
                   fmt::format("pod {} of its predecessor is still being deleted{}", pod.key.name,
                               pod.node_name.empty() ? "" : " on node " + pod.node_name));
  }
  if (!slice.surplus.empty()) {
    const PodView& pod = *slice.surplus.front();
    return forming(WaitingCode::kDuplicateHost,
                   fmt::format("pod {} is a duplicate of host {}, or beyond the slice's {} hosts: delete it",
                               pod.key.name, host_index(pod).value_or(0), slice.size));
  }
  for (const PodPtr& pod : slice.live()) {
    for (const std::string& gate : pod->scheduling->gates) {
      if (gate == tpu::kSliceGate) continue;
      return forming(WaitingCode::kOtherGate, fmt::format("pod {} is held by scheduling gate {}", pod->key.name, gate));
    }
  }
  for (const PodPtr& pod : slice.hosts) {
    if (pod->finished() && !is_of_same_attempt(slice, *pod)) {
      return forming(WaitingCode::kPredecessorExists,
                     fmt::format("pod {} of its predecessor has succeeded and still exists", pod->key.name));
    }
  }
  return std::nullopt;
}

SliceState state_before_start(const Slice& slice, Timestamp now) {
  if (std::optional<SliceState> state = held_back(slice)) return *std::move(state);
  std::string missing = missing_hosts(slice);
  if (missing.empty()) return {SlicePhase::kReady, {}};
  SliceState state = forming(WaitingCode::kHostsMissing, std::move(missing));
  const PodPtr host0 = slice.host0();
  if (host0 == nullptr || slice.start == Start::kTogether) return state;
  if (slice.start == Start::kOthersFollowHost0) return {SlicePhase::kReady, {}};
  const Timestamp deadline = slice.last_created() + kMissingPodsTimeout;
  if (now >= deadline) return {SlicePhase::kReady, {}};
  state.changes_at = deadline;
  return state;
}

/// Why a placed slice is broken.
std::string lost_pod(const Slice& slice) {
  if (!slice.failed.empty()) return describe_failed(*slice.failed.front());
  if (!slice.terminating.empty()) return fmt::format("pod {} is being deleted", slice.terminating.front()->key.name);
  std::string missing = missing_hosts(slice);
  if (!missing.empty()) return missing;
  for (const PodPtr& pod : slice.hosts) {
    if (is_gated(*pod)) return fmt::format("pod {} replaces a pod that was lost", pod->key.name);
  }
  return "one of its pods was replaced";
}

}  // namespace

bool WaitingReason::is_written(const PodView& pod) const {
  const std::string_view word = text.empty() ? std::string_view() : to_string(code);
  return pod.annotation(tpu::kWaiting) == text && pod.annotation(tpu::kWaitingReason) == word;
}

std::string describe_failed(const PodView& pod) {
  return fmt::format("pod {} failed{}{}", pod.key.name, pod.node_name.empty() ? "" : " on node " + pod.node_name,
                     pod.cause().empty() ? "" : ": " + pod.cause());
}

std::string missing_hosts(const Slice& slice) {
  if (slice.has_all_hosts()) return {};
  const auto missing = static_cast<std::size_t>(slice.size) - slice.hosts.size() - slice.removed.size();
  std::vector<int> listed;
  auto host = slice.hosts.begin();
  for (int index = 0; index < slice.size && listed.size() < kMaxHostIndexes; ++index) {
    if (host != slice.hosts.end() && host_index(**host) == index) {
      ++host;
    } else if (!slice.removed.contains(index)) {
      listed.push_back(index);
    }
  }
  return fmt::format("{} of {} pods exist; host{} {}{} missing", slice.hosts.size(), slice.size,
                     missing == 1 ? "" : "s", fmt::join(listed, ", "),
                     missing > listed.size() ? " and others are"
                     : missing == 1          ? " is"
                                             : " are");
}

SliceState state_of(const Slice& slice, Timestamp now) {
  const std::vector<PodPtr> started = slice.started();
  if (started.empty()) {
    const bool any_live = std::ranges::any_of(slice.hosts, [](const PodPtr& pod) { return is_live(*pod); });
    return any_live ? state_before_start(slice, now) : SliceState{};
  }
  const std::string members = members_of(slice);
  PodPtr ungated;
  for (const PodPtr& pod : started) {
    const std::string& recorded = pod->annotation(tpu::kSliceMembers);
    if (recorded.empty()) {
      if (ungated == nullptr) ungated = pod;
    } else if (recorded != kOpenMembers && recorded != members) {
      return {SlicePhase::kBroken, lost_pod(slice)};
    }
  }
  if (ungated == nullptr) return {SlicePhase::kPlaced, {}};
  return {SlicePhase::kUngated,
          fmt::format("pod {} was created without scheduling gate: delete it, and all pods of the slice "
                      "start together",
                      ungated->key.name),
          WaitingCode::kUngated};
}

}  // namespace tpuslice::slice
