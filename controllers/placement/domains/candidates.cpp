#include "controllers/placement/domains/candidates.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "controllers/placement/domains/mismatch.h"
#include "tpu/labels.h"
#include "tpu/topology_key.h"

namespace tpuslice::placement {
namespace {

constexpr std::size_t kMaxDomainsInReason = 6;

}  // namespace

std::string Candidates::take_free(const ExcludedDomains& excluded, std::string_view preferred) {
  check_domains();
  const auto own = std::ranges::find(free_, preferred);
  if (own != free_.end()) std::rotate(own, own + 1, free_.end());
  std::string found;
  std::vector<std::string> passed;
  while (!free_.empty() && found.empty()) {
    std::string domain = std::move(free_.back());
    free_.pop_back();
    if (excluded.contains(domain)) {
      passed.push_back(std::move(domain));
    } else if (inventory_.occupancy(requirements_->topology_key, domain, {}).obstacle == Obstacle::kNone) {
      found = std::move(domain);
    } else {
      skipped_.push_back(std::move(domain));
    }
  }
  for (std::string& domain : std::views::reverse(passed)) put_back(std::move(domain));
  return found;
}

void Candidates::prefer_block(std::size_t needed, const ExcludedDomains& excluded) {
  check_domains();
  std::map<std::string_view, std::string_view> blocks;  // By domain.
  for (const auto& [name, domain] : equals_) {
    blocks.emplace(*name, value_of(domain->nodes.front()->node->labels, tpu::kBlockLabel));
  }
  const auto block_of = [&](const std::string& domain) {
    const auto found = blocks.find(domain);
    return found == blocks.end() ? std::string_view() : found->second;
  };
  std::map<std::string_view, std::size_t> sizes;
  for (const std::string& domain : free_) {
    if (const std::string_view block = block_of(domain); !block.empty() && !excluded.contains(domain)) ++sizes[block];
  }
  if (sizes.size() < 2) return;
  const auto best = std::ranges::min_element(sizes, {}, [&](const auto& entry) {
    const bool fits = entry.second >= needed;
    return std::pair(!fits, fits ? entry.second : free_.size() - entry.second);
  });
  std::ranges::stable_partition(free_, [&](const std::string& domain) { return block_of(domain) != best->first; });
}

std::size_t Candidates::count_free(const ExcludedDomains& excluded) {
  std::vector<std::string> taken;
  for (std::string domain = take_free(excluded); !domain.empty(); domain = take_free(excluded)) {
    taken.push_back(std::move(domain));
  }
  for (std::string& domain : std::views::reverse(taken)) put_back(std::move(domain));
  return taken.size();
}

void Candidates::restore_skipped() {
  for (std::string& domain : std::views::reverse(skipped_)) free_.push_back(std::move(domain));
  skipped_.clear();
}

std::string Candidates::take_occupied() {
  check_domains();
  if (occupied_.empty()) return {};
  std::string domain = std::move(occupied_.back());
  occupied_.pop_back();
  std::erase(ending_, domain);
  return domain;
}

void Candidates::remove(const std::string& domain) {
  check_domains();
  std::erase(free_, domain);
  std::erase(occupied_, domain);
  std::erase(ending_, domain);
}

const std::vector<std::string>& Candidates::occupied() {
  check_domains();
  return occupied_;
}

std::vector<std::string> Candidates::ending() {
  check_domains();
  std::vector<std::string> out;
  // A slice with another topology key may have taken nodes of the domain since.
  std::ranges::copy_if(ending_, std::back_inserter(out), [&](const std::string& domain) {
    return inventory_.ending_until(requirements_->topology_key, domain).has_value();
  });
  return out;
}

std::size_t Candidates::usable() {
  check_domains();
  return usable_;
}

std::string Candidates::explain(std::size_t needed, std::string_view viewer, const ExcludedDomains& excluded) {
  if (requirements_->too_many) {
    return fmt::format(
        "its pods have more than {} different node selectors, affinities, tolerations, requests or numbers of chips",
        kMaxRequirementsOfSlice);
  }
  check_domains();
  std::vector<std::string> texts;
  std::size_t free = 0;
  for (const Compared& each : compared_) {
    const bool fits = each.fit->obstacle == Obstacle::kNone;
    const auto rejected = excluded.find(*each.name);
    const bool is_free = fits && each.domain->used == 0;
    if (is_free && rejected == excluded.end()) ++free;
    if (texts.size() == kMaxDomainsInReason) continue;
    if (is_free && rejected != excluded.end()) {
      texts.push_back(rejected->second);
      continue;
    }
    const Fit fit = fits ? occupancy(*each.name, *each.domain, viewer) : *each.fit;
    texts.push_back(fit.text.empty() ? *each.name + " is free" : fit.text);
  }
  const std::size_t count = compared_.size();
  if (count == 0) {
    return explain_mismatch(*requirements_, inventory_.domains(requirements_->topology_key));
  }
  const std::string more = count > texts.size() ? fmt::format("; and {} more", count - texts.size()) : "";
  const std::string enough = needed == 1 ? "none is free" : fmt::format("{} free at once, {} needed", free, needed);
  return fmt::format("{} {} {}, {}: {}{}", count, domain_noun(requirements_->topology_key, count),
                     count == 1 ? "matches" : "match", enough, fmt::join(texts, "; "), more);
}

plan::WaitingCode Candidates::code() {
  if (requirements_->too_many) return plan::WaitingCode::kTooManyRequirements;
  check_domains();
  if (compared_.empty()) return plan::WaitingCode::kNoMatchingNodes;
  return usable_ == 0 ? plan::WaitingCode::kNodesNotUsable : plan::WaitingCode::kNodesInUse;
}

void Candidates::check_domains() {
  if (std::exchange(checked_, true)) return;
  const Domains::ByValue& domains = inventory_.domains(requirements_->topology_key);
  comparison_->forget_old_results(domains.size());
  std::vector<std::pair<Rank, std::pair<const std::string*, const Domain*>>> free;
  std::vector<std::pair<const std::string*, const Domain*>> occupied;
  for (const auto& [name, domain] : domains) {
    const Fit& fit = comparison_->with(name, domain);
    if (fit.obstacle == Obstacle::kMismatch) continue;
    compared_.push_back({&name, &domain, &fit});
    if (fit.obstacle != Obstacle::kNone) continue;
    if (domain.used == 0) {
      free.emplace_back(rank(name, domain, fit), std::pair(&name, &domain));
    } else {
      occupied.emplace_back(&name, &domain);
    }
  }
  usable_ = free.size() + occupied.size();
  std::ranges::stable_sort(free, {}, [](const auto& entry) { return entry.first; });
  for (const auto& [rank, entry] : std::views::reverse(free)) free_.push_back(*entry.first);
  for (const auto& [rank, entry] : free) {
    if (rank != free.front().first) break;
    equals_.push_back(entry);
  }
  // The domain with the fewest nodes in use is likely to become free first.
  std::ranges::stable_sort(occupied, {},
                           [](const auto& entry) { return entry.second->nodes.size() - entry.second->used; });
  for (const auto& [name, domain] : occupied) {
    occupied_.push_back(*name);
    if (inventory_.ending_until(*domain)) ending_.push_back(*name);
  }
}

Candidates::Rank Candidates::rank(const std::string& name, const Domain& domain, const Fit& fit) const {
  const DomainFailures& failures = preferences_.failures;
  const auto failed = failures.empty() ? failures.end() : failures.find({requirements_->topology_key, name});
  const std::set<std::string>& scout_nodes = preferences_.scout_nodes;
  const bool has_scout = !scout_nodes.empty() && std::ranges::any_of(domain.nodes, [&](const NodeUse* use) {
    return scout_nodes.contains(use->node->key.name);
  });
  return {has_scout,
          !concern(fit).empty(),
          failed == failures.end() ? 0 : failed->second,
          free_nodes_around(domain),
          -fit.preference,
          preferences_.capacities.at(static_cast<std::size_t>(fit.capacity))};
}

std::vector<std::size_t> Candidates::free_nodes_around(const Domain& domain) const {
  const std::string& key = requirements_->topology_key;
  if (!tpu::is_gke_topology_key(key)) return {};
  std::vector<std::pair<std::size_t, std::size_t>> around;  // Number of nodes, and of free ones.
  for (const auto& [label, value] : domain.nodes.front()->node->labels) {
    if (label == key || !tpu::is_gke_topology_key(label)) continue;
    const Domains::ByValue& others = inventory_.domains(label);
    const auto other = others.find(std::string_view(value));
    if (other == others.end() || other->second.nodes.size() <= domain.nodes.size()) continue;
    around.emplace_back(other->second.nodes.size(), other->second.nodes.size() - other->second.used);
  }
  std::ranges::sort(around);
  std::vector<std::size_t> free;
  free.reserve(around.size());
  for (const auto& [nodes, free_nodes] : around) free.push_back(free_nodes);
  return free;
}

std::string Candidates::concern(const Fit& fit) const {
  if (!fit.unhealthy.empty()) return "has label " + fit.unhealthy;
  if (!fit.maintenance || *fit.maintenance > inventory_.now() + std::chrono::hours(24)) return {};
  return "has maintenance scheduled for " + format_rfc3339(*fit.maintenance);
}

std::string Candidates::concern(const std::string& domain) {
  const Domains::ByValue& domains = inventory_.domains(requirements_->topology_key);
  const auto found = domains.find(domain);
  return found == domains.end() ? std::string() : concern(comparison_->with(found->first, found->second));
}

}  // namespace tpuslice::placement
