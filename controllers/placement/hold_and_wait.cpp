#include "controllers/placement/hold_and_wait.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

namespace tpuslice::placement {
namespace {

/// The domain of `key` that the slice alone uses; empty if there is none.
std::string domain_used_by(const Slice& slice, const std::string& key, Inventory& inventory) {
  const std::vector<PodPtr> started = slice.started();
  if (started.empty()) return {};
  const NodeUse* const node = inventory.use_of(started.front()->node_name);
  if (node == nullptr) return {};
  std::string domain = domain_of_node(*node->node, key);
  const bool alone = std::ranges::all_of(inventory.uses(key, domain), [&](const NodeUse* use) {
    return use->is_free() || (!use->reserved && (use->slice() == slice.key || use->is_ending(inventory.now())));
  });
  return alone ? domain : std::string();
}

/// Gives the domains of stalled gangs to those before them.
class Exchange {
 public:
  Exchange(const std::vector<StalledGang>& stalled, const Claimed& claimed, Inventory& inventory,
           const plan::FailedWrites* failed)
      : stalled_(stalled), claimed_(claimed), inventory_(inventory), failed_(failed) {}

  std::vector<Preemption> run() {
    for (std::size_t position = 0; position + 1 < stalled_.size(); ++position) {
      const Gang& gang = *stalled_[position].gang;
      const bool lost_slices =
          std::ranges::any_of(gang.running, [&](const Slice* each) { return given_.contains(each); });
      if (!lost_slices && may_preempt(gang, failed_)) complete(position);
    }
    return std::move(preemptions_);
  }

 private:
  void complete(std::size_t position) {
    std::vector<Preemption> found;
    for (const Slice* slice : stalled_[position].lacking) {
      std::optional<Preemption> one = find(*slice, position, found);
      if (!one) return;
      found.push_back(*std::move(one));
    }
    for (Preemption& each : found) {
      given_.insert(each.victim);
      preemptions_.push_back(std::move(each));
    }
  }

  std::optional<Preemption> find(const Slice& slice, std::size_t position, const std::vector<Preemption>& found) {
    const NodeRequirements requirements = node_requirements(slice);
    for (std::size_t other = stalled_.size() - 1; other > position; --other) {
      for (const Slice* victim : stalled_[other].gang->running) {
        if (given_.contains(victim) || claimed_.victims.contains(victim)) continue;
        if (std::ranges::find(found, victim, &Preemption::victim) != found.end()) continue;
        if (cannot_be_deleted(*victim, failed_)) continue;
        std::string domain = domain_used_by(*victim, requirements.topology_key, inventory_);
        if (domain.empty() || claimed_.domains.contains({requirements.topology_key, domain})) continue;
        if (stalled_[position].excluded.contains(domain)) continue;
        if (inventory_.check(requirements, domain).obstacle != Obstacle::kOccupied) continue;
        return Preemption{victim, &slice, std::move(domain), true};
      }
    }
    return std::nullopt;
  }

  const std::vector<StalledGang>& stalled_;
  const Claimed& claimed_;
  Inventory& inventory_;
  const plan::FailedWrites* const failed_;
  std::set<const Slice*> given_;
  std::vector<Preemption> preemptions_;
};

}  // namespace

std::optional<Timestamp> stalled_at(const Gang& gang, Duration timeout) {
  if (gang.running.empty() || timeout <= Duration::zero()) return std::nullopt;
  const auto created = [](const Slice* slice) { return slice->last_created(); };
  return created(std::ranges::max(gang.slices, {}, created)) + timeout;
}

std::vector<Preemption> preempt_stalled(const std::vector<StalledGang>& stalled, const Claimed& claimed,
                                        Inventory& inventory, const plan::FailedWrites* failed) {
  return Exchange(stalled, claimed, inventory, failed).run();
}

}  // namespace tpuslice::placement
