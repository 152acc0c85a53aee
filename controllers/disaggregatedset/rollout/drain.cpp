#include "controllers/disaggregatedset/rollout/drain.h"

#include <algorithm>
#include <tuple>

namespace tpuslice::disaggregatedset {
namespace {

Timestamp created(const RoleSets& sets) {
  Timestamp newest{};
  for (const auto& [role, set] : sets) newest = std::max(newest, set->created);
  return newest;
}

const std::string& revision_of(const RoleSets& sets) { return sets.begin()->second->revision; }

/// Takes from one revision.
void drain_revision(const RoleSets& sets, std::map<std::string, std::int64_t>& budget, std::vector<Scaling>& out) {
  const auto taken_from = [&](const RoleSet& set) {
    const auto left = budget.find(set.role);
    return left == budget.end() ? 0 : std::min(left->second, set.replicas);
  };
  // A role without replicas from the beginning does not end the others.
  const bool ends = std::ranges::any_of(sets, [&](const auto& entry) {
    const RoleSet& set = *entry.second;
    return set.initial_replicas.value_or(set.replicas) > 0 && taken_from(set) == set.replicas;
  });
  for (const auto& [role, set] : sets) {
    const std::int64_t taken = taken_from(*set);
    const std::int64_t replicas = ends ? 0 : set->replicas - taken;
    if (replicas >= set->replicas) continue;
    if (!set->terminating) out.push_back({set, replicas});
    // What a role loses only because another one ends is beyond the budget.
    if (!ends || taken == set->replicas) budget[role] -= taken;
  }
}

}  // namespace

std::vector<Scaling> drain(const std::vector<RoleSets>& old, std::map<std::string, std::int64_t> budget) {
  std::vector<Scaling> out;
  std::vector<RoleSets> newest_first = old;
  std::ranges::sort(newest_first, [](const RoleSets& a, const RoleSets& b) {
    return std::tuple(created(b), revision_of(a)) < std::tuple(created(a), revision_of(b));
  });
  for (const RoleSets& sets : newest_first) {
    if (std::ranges::none_of(budget, [](const auto& entry) { return entry.second > 0; })) break;
    drain_revision(sets, budget, out);
  }
  return out;
}

}  // namespace tpuslice::disaggregatedset
