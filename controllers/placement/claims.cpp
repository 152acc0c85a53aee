#include "controllers/placement/claims.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/base/earlier.h"

namespace tpuslice::placement {

Claim Claims::claim_for(const Gang& gang, std::map<Candidates*, std::size_t> free, bool explain) {
  Claim claim;
  std::vector<std::pair<const Slice*, DomainVictims>> chosen;
  Claimed claimed = claimed_;
  std::set<const Slice*> victims;
  // Domains of different keys may overlap.
  const bool one_key = std::ranges::all_of(
      gang.slices, [&](const Slice* slice) { return slice->topology_key == gang.slices.front()->topology_key; });
  const auto* const failed = request_.failed_writes;
  const bool may_end = one_key && budget_.limit() > 0 && (explain || budget_.left() > 0) && may_preempt(gang, failed);
  for (const Slice* slice : gang.slices) {
    Candidates& candidates = *by_slice_.at(slice);
    const std::string& key = candidates.requirements().topology_key;
    if (std::size_t& left = free.at(&candidates); left > 0) {
      --left;
      continue;
    }
    if (std::string ending = find_ending(candidates, claimed); !ending.empty()) {
      claimed.domains.emplace(key, ending);
      claim.domains.emplace_back(&candidates, std::move(ending));
      continue;
    }
    std::optional<DomainVictims> cheapest;
    if (may_end)
      cheapest = cheapest_victims(candidates, inventory_, request_.placed->by_key, gang.priority(), claimed,
                                  pod_victims_, failed);
    if (!cheapest) return {};
    claimed.domains.emplace(key, cheapest->domain);
    claim.domains.emplace_back(&candidates, cheapest->domain);
    victims.insert(cheapest->slices.begin(), cheapest->slices.end());
    for (const Slice* victim : cheapest->slices) claimed.workloads.insert(workload_name(*victim));
    chosen.emplace_back(slice, *std::move(cheapest));
  }
  if (std::string obstacle = budget_.obstacle(victims.size()); !obstacle.empty()) return {"; " + obstacle, {}};
  budget_.use(victims.size());
  claimed.victims.insert(victims.begin(), victims.end());
  claimed_ = std::move(claimed);
  for (const auto& [candidates, domain] : claim.domains) {
    const auto until = inventory_.ending_until(candidates->requirements().topology_key, domain);
    if (until) set_earlier(changes_at_, *until);
  }
  for (const auto& [slice, victim] : chosen) {
    for (const Slice* each : victim.slices) {
      if (victims.erase(each) > 0) preemptions_.push_back({each, slice, victim.domain});
    }
  }
  if (!chosen.empty()) claim.text = "; slices of lower priority are preempted for it";
  return claim;
}

void Claims::reserve(const Gang& gang, const Claim& claim, const ExcludedDomains& excluded) {
  const std::string user = display_name(*gang.slices.front());
  for (const auto& [candidates, domain] : claim.domains) {
    candidates->remove(domain);
    inventory_.reserve(candidates->requirements().topology_key, domain, user);
  }
  std::size_t more = gang.slices.size() - claim.domains.size();
  for (const Slice* slice : gang.slices) {
    if (more == 0) break;
    Candidates& candidates = *by_slice_.at(slice);
    const std::string domain = candidates.take_free(excluded);
    if (domain.empty()) continue;
    inventory_.reserve(candidates.requirements().topology_key, domain, user);
    --more;
  }
}

std::string Claims::find_ending(Candidates& candidates, const Claimed& claimed) const {
  const std::string& key = candidates.requirements().topology_key;
  for (std::string& domain : candidates.ending()) {
    if (!claimed.domains.contains({key, domain})) return std::move(domain);
  }
  return {};
}

void Claims::take(Assignment& out) {
  if (changes_at_) set_earlier(out.changes_at, *changes_at_);
  out.preemptions = std::move(preemptions_);
  out.pod_victims = pod_victims_.take();
}

}  // namespace tpuslice::placement
