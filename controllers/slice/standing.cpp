#include "controllers/slice/standing.h"

#include <algorithm>

#include <fmt/format.h>

#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Host indices in a message.
constexpr std::size_t kIndexesTold = 8;

std::string missing_hosts(const Slice& slice) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < slice.hosts.size(); ++i) {
    if (slice.hosts[i] == nullptr) missing.push_back(i);
  }
  if (missing.empty()) return {};
  const std::size_t there = slice.hosts.size() - missing.size();
  const std::size_t told = std::min(missing.size(), kIndexesTold);
  return fmt::format("{} of {} pods exist; host{} {}{} missing", there, slice.hosts.size(),
                     missing.size() == 1 ? "" : "s", fmt::join(missing.begin(), missing.begin() + told, ", "),
                     missing.size() > told ? " and others are"
                     : missing.size() == 1 ? " is"
                                           : " are");
}

/// What holds a slice back that has not started; empty for nothing.
std::string obstacle_of(const Slice& slice) {
  if (!slice.leaving.empty()) {
    const PodView& pod = *slice.leaving.front();
    return fmt::format("pod {} of its predecessor is still being deleted{}", pod.key.name,
                       pod.node_name.empty() ? "" : " on node " + pod.node_name);
  }
  if (!slice.surplus.empty()) {
    const PodView& pod = *slice.surplus.front();
    return fmt::format("pod {} is host {} too, or beyond the slice's {} hosts: delete it", pod.key.name,
                       host_index(pod).value_or(0), slice.hosts.size());
  }
  for (const PodPtr& pod : slice.live()) {
    for (const std::string& gate : pod->scheduling_gates) {
      if (gate != tpu::kSliceGate) return fmt::format("pod {} is held by scheduling gate {}", pod->key.name, gate);
    }
  }
  for (const PodPtr& pod : slice.hosts) {
    if (pod != nullptr && pod->finished()) return fmt::format("pod {} has already ended", pod->key.name);
  }
  return {};
}

/// A slice of which nothing has started.
Standing before_start(const Slice& slice, Timestamp now) {
  if (std::string obstacle = obstacle_of(slice); !obstacle.empty()) return {Phase::kForming, std::move(obstacle)};
  std::string missing = missing_hosts(slice);
  if (missing.empty()) return {Phase::kReady, {}};
  const PodPtr& first = slice.hosts.front();
  if (first == nullptr || slice.start == Start::kTogether) return {Phase::kForming, std::move(missing)};
  if (slice.start == Start::kFirstHostFirst) return {Phase::kReady, {}};
  const Timestamp patience_ends = slice.complete_since() + kAlone;
  if (now >= patience_ends) return {Phase::kReady, {}};
  return {Phase::kForming, std::move(missing), patience_ends};
}

std::string what_was_lost(const Slice& slice) {
  if (!slice.failed.empty()) {
    const PodView& pod = *slice.failed.front();
    return fmt::format("pod {} failed{}", pod.key.name, pod.reason.empty() ? "" : ": " + pod.reason);
  }
  if (!slice.leaving.empty()) return fmt::format("pod {} is being deleted", slice.leaving.front()->key.name);
  std::string missing = missing_hosts(slice);
  if (!missing.empty()) return missing;
  for (const PodPtr& pod : slice.hosts) {
    if (is_gated(*pod)) return fmt::format("pod {} replaces a pod that was lost", pod->key.name);
  }
  return "one of its pods was replaced";
}

}  // namespace

Standing standing_of(const Slice& slice, Timestamp now) {
  const std::vector<PodPtr> started = slice.started();
  if (started.empty()) {
    const bool any =
        std::ranges::any_of(slice.hosts, [](const PodPtr& pod) { return pod != nullptr && is_live(*pod); });
    return any ? before_start(slice, now) : Standing{};
  }
  const std::string members = members_of(slice);
  PodPtr ungated;
  for (const PodPtr& pod : started) {
    const std::string& record = annotation(*pod, tpu::kSliceMembers);
    if (record.empty()) {
      if (ungated == nullptr) ungated = pod;
    } else if (record != kOpenMembers && record != members) {
      return {Phase::kBroken, what_was_lost(slice)};
    }
  }
  if (ungated == nullptr) return {Phase::kPlaced, {}};
  return {Phase::kUngated,
          fmt::format("pod {} was created without scheduling gate: delete it, and all pods of the slice "
                      "start together",
                      ungated->key.name)};
}

}  // namespace tpuslice::slice
