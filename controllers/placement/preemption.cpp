#include "controllers/placement/preemption.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "controllers/placement/slices.h"

namespace tpuslice::placement {
namespace {

/// The pods of a node that the plan may end; a DaemonSet would create its pod again there.
bool may_end(const PodPtr& pod, std::int32_t priority) {
  return pod != nullptr && !pod->terminating() && pod->priority < priority &&
         !(pod->controller && pod->controller->kind == "DaemonSet");
}

/// The slice or pod that uses the node; null if it has no lower priority, or cannot be ended.
const Slice* victim_of(const NodeUse& use, const RunningSlices& running, std::int32_t priority, PodVictims& pods) {
  const auto slice = running.find(use.slice());
  if (slice == running.end()) return may_end(use.pod, priority) ? pods.of(use.pod) : nullptr;
  return slice->second->priority() < priority ? slice->second : nullptr;
}

/// The slices and pods that use the domain; absent if something else uses it, or one has no lower priority, is
/// preempted for another gang, or cannot be deleted.
std::optional<std::vector<const Slice*>> victims_of(const std::vector<const NodeUse*>& uses, Timestamp now,
                                                    const RunningSlices& running, std::int32_t priority,
                                                    const Claimed& claimed, PodVictims& pods,
                                                    const plan::FailedWrites* failed) {
  std::vector<const Slice*> victims;
  for (const NodeUse* use : uses) {
    if (use->reserved) return std::nullopt;
    if (use->is_free() || use->is_ending(now)) continue;
    const Slice* const victim = victim_of(*use, running, priority, pods);
    if (victim == nullptr) return std::nullopt;
    if (std::ranges::find(victims, victim) != victims.end()) continue;
    if (claimed.victims.contains(victim) || cannot_be_deleted(*victim, failed)) return std::nullopt;
    victims.push_back(victim);
  }
  if (victims.empty()) return std::nullopt;
  return victims;
}

/// Less is cheaper.
auto cost(const std::vector<const Slice*>& victims, const Claimed& claimed) {
  std::int32_t priority = std::numeric_limits<std::int32_t>::min();
  int hosts = 0;
  Timestamp placed{};
  std::set<std::string> workloads;
  for (const Slice* victim : victims) {
    priority = std::max(priority, victim->priority());
    hosts += std::max(victim->size, 1);
    placed = std::max(placed, victim->size == 0 ? victim->first_created() : placed_at(*victim));
    if (std::string name = workload_name(*victim); !claimed.workloads.contains(name)) workloads.insert(std::move(name));
  }
  return std::tuple(priority, workloads.size(), hosts, -placed.time_since_epoch());
}

}  // namespace

const Slice* PodVictims::of(const PodPtr& pod) {
  const auto [known, is_new] = slices_.try_emplace(pod->key);
  if (is_new) {
    known->second.key = pod->key;
    known->second.hosts = {pod};
  }
  return &known->second;
}

std::string workload_name(const Slice& victim) {
  const plan::ObjectReference workload = workload_of(*victim.any_pod());
  return fmt::format("{} {}", workload.kind, workload.key.to_string());
}

std::optional<DomainVictims> cheapest_victims(Candidates& candidates, Inventory& inventory,
                                              const RunningSlices& running, std::int32_t priority,
                                              const Claimed& claimed, PodVictims& pods,
                                              const plan::FailedWrites* failed) {
  std::optional<DomainVictims> best;
  for (const std::string& domain : candidates.occupied()) {
    const std::string& key = candidates.requirements().topology_key;
    if (claimed.domains.contains({key, domain})) continue;
    auto victims = victims_of(inventory.uses(key, domain), inventory.now(), running, priority, claimed, pods, failed);
    if (!victims || (best && cost(best->slices, claimed) <= cost(*victims, claimed))) continue;
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
