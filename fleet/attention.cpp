// What needs someone: broken and idle pools, slices that never start, and slices that have nodes and do not run.
#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/human_duration.h"
#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "fleet/accelerator_model.h"

namespace tpuslice::fleet {
namespace {

/// A slice whose hosts are not Ready for longer needs someone. Images of TPU programs take minutes to pull.
constexpr Duration kSlowStart = std::chrono::minutes(15);
constexpr std::size_t kMaxAttentionText = 300;

std::string for_how_long(const std::optional<Timestamp>& since, Timestamp now) {
  return since ? " for " + human_duration(std::max(now - *since, Duration::zero())) : std::string();
}

void add_pool(const Pool& pool, Timestamp now, std::vector<Attention>& out) {
  if (pool.state != PoolState::kBroken && pool.state != PoolState::kDraining) return;
  const bool used = std::ranges::any_of(pool.users, [](const PoolUser& user) { return !user.reserved; });
  if (pool.state == PoolState::kDraining && used) return;
  const std::string effect = used ? "it is in use" : fmt::format("{} chips idle", pool.chips);
  out.push_back({"pool/" + pool.name,
                 {},
                 clip(fmt::format("{}{}: {}", pool.problem, for_how_long(pool.since, now), effect), kMaxAttentionText),
                 "kubectl tpu explain pool/" + pool.name});
}

/// What is wrong with the slice; empty if nothing is.
std::string problem_of(const FleetSlice& slice, Timestamp now) {
  const std::string what = slice.problem.empty() ? "" : ": " + slice.problem;
  if (slice.state == SliceState::kWaiting && slice.never) {
    return fmt::format("slice {} does not start as the cluster is: {}", slice.slice, slice.reason);
  }
  if (slice.state == SliceState::kPlaced && slice.since && now - *slice.since >= kSlowStart) {
    return fmt::format("slice {} has nodes, {} of {} hosts Ready{}{}", slice.slice, slice.ready, slice.hosts,
                       for_how_long(slice.since, now), what);
  }
  if (slice.state == SliceState::kRestarting) return fmt::format("slice {} restarts{}", slice.slice, what);
  return {};
}

}  // namespace

std::vector<Attention> make_attention(const Fleet& fleet) {
  std::vector<Attention> out;
  for (const Pool& pool : fleet.pools) add_pool(pool, fleet.time, out);
  std::set<WorkloadName> known;  // One of each workload.
  for (const FleetSlice& slice : fleet.slices) {
    std::string problem = problem_of(slice, fleet.time);
    if (problem.empty() || !known.insert(slice.workload).second) continue;
    const std::string name = fmt::format("{}/{}", to_lower(slice.workload.kind), slice.workload.name);
    out.push_back({name, slice.workload.namespace_name, clip(std::move(problem), kMaxAttentionText),
                   fmt::format("kubectl tpu explain {} -n {}", name, slice.workload.namespace_name)});
  }
  return out;
}

}  // namespace tpuslice::fleet
