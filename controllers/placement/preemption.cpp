#include "controllers/placement/preemption.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {
namespace {

/// The slices that use the domain; absent if something else uses it, or one has no lower priority, is preempted for
/// another gang, or cannot be deleted.
std::optional<std::vector<const Slice*>> victims_of(const std::vector<const NodeUse*>& uses, Timestamp now,
                                                    const RunningSlices& running, std::int32_t priority,
                                                    const Claimed& claimed, const plan::FailedWrites* failed) {
  std::vector<const Slice*> victims;
  for (const NodeUse* use : uses) {
    if (use->reserved) return std::nullopt;
    if (use->is_free() || use->is_ending(now)) continue;
    const auto slice = running.find(use->slice());
    if (slice == running.end() || slice->second->priority() >= priority) return std::nullopt;
    if (std::ranges::find(victims, slice->second) != victims.end()) continue;
    if (claimed.victims.contains(slice->second) || cannot_be_deleted(*slice->second, failed)) return std::nullopt;
    victims.push_back(slice->second);
  }
  if (victims.empty()) return std::nullopt;
  return victims;
}

/// Less is cheaper.
auto cost(const std::vector<const Slice*>& victims) {
  std::int32_t priority = std::numeric_limits<std::int32_t>::min();
  int hosts = 0;
  Timestamp placed{};
  for (const Slice* victim : victims) {
    priority = std::max(priority, victim->priority());
    hosts += victim->size;
    placed = std::max(placed, placed_at(*victim));
  }
  return std::tuple(priority, hosts, -placed.time_since_epoch());
}

}  // namespace

std::optional<DomainVictims> cheapest_victims(Candidates& candidates, Inventory& inventory,
                                              const RunningSlices& running, std::int32_t priority,
                                              const Claimed& claimed, const plan::FailedWrites* failed) {
  std::optional<DomainVictims> best;
  for (const std::string& domain : candidates.occupied()) {
    const std::string& key = candidates.requirements().topology_key;
    if (claimed.domains.contains({key, domain})) continue;
    auto victims = victims_of(inventory.uses(key, domain), inventory.now(), running, priority, claimed, failed);
    if (!victims || (best && cost(best->slices) <= cost(*victims))) continue;
    best = DomainVictims{domain, *std::move(victims)};
  }
  return best;
}

bool may_preempt(const Gang& gang, const plan::FailedWrites* failed) {
  return std::ranges::none_of(gang.slices, [&](const Slice* slice) {
    return std::ranges::any_of(slice->hosts, [](const PodPtr& pod) { return pod->never_preempts; }) ||
           refused_release(*slice, failed) != nullptr;
  });
}

}  // namespace tpuslice::placement
