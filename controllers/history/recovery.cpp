#include "controllers/history/recovery.h"

#include <algorithm>

#include "tpu/labels.h"

namespace tpuslice::history {
namespace {

/// Whether the pod was placed, or created, after the interruption. The API has whole seconds.
bool is_later(const PodView& pod, const Record& record) {
  const std::string& members = pod.annotation(tpu::kSliceMembers);
  if (!record.placement.empty() && !members.empty()) return members != record.placement;
  if (pod.uid == record.placement) return false;
  const Timestamp since = std::chrono::floor<std::chrono::seconds>(record.time);
  const Timestamp created = pod.created.value_or(Timestamp{});
  return std::max(created, parse_rfc3339(pod.annotation(tpu::kPlacedAt)).value_or(created)) >= since;
}

bool is_unready(const slice::PodPtr& pod) { return pod->phase == PodPhase::kRunning && pod->not_ready; }

}  // namespace

bool all_run(const slice::Slice& slice) {
  if (!slice.has_all_hosts() || !slice.terminating.empty()) return false;
  bool any_runs = false;
  for (const slice::PodPtr& pod : slice.hosts) {
    if (pod->phase == PodPhase::kSucceeded) continue;
    if (pod->phase != PodPhase::kRunning) return false;
    any_runs = true;
  }
  return any_runs;
}

std::optional<std::string> runs_again_in(const Record& record, const std::vector<slice::PodPtr>& pods) {
  const slice::Slice slice = slice::read_slice(record.key(), pods);
  if (!all_run(slice) || !record.is_of(slice::workload_of(*slice.hosts.front()))) return std::nullopt;
  if (std::ranges::any_of(slice.hosts, is_unready)) return std::nullopt;
  const bool is_new =
      std::ranges::all_of(slice.hosts, [&](const slice::PodPtr& pod) { return is_later(*pod, record); });
  if (!is_new) return std::nullopt;
  return slice.hosts.front()->annotation(tpu::kPlacedIn);
}

}  // namespace tpuslice::history
