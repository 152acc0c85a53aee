#include "controllers/slice/candidates.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tpuslice::slice {
namespace {

constexpr std::size_t kMaxDomainsInReason = 6;

}  // namespace

std::string Candidates::take_free(std::string_view preferred) {
  check_domains();
  const auto own = std::ranges::find(free_, preferred);
  if (own != free_.end()) std::rotate(own, own + 1, free_.end());
  while (!free_.empty()) {
    std::string domain = std::move(free_.back());
    free_.pop_back();
    if (inventory_.occupancy(requirements_->topology_key, domain, {}).obstacle == Obstacle::kNone) return domain;
    skipped_.push_back(std::move(domain));
  }
  return {};
}

std::size_t Candidates::count_free() {
  std::vector<std::string> taken;
  for (std::string domain = take_free(); !domain.empty(); domain = take_free()) taken.push_back(std::move(domain));
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
  return domain;
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
    return std::ranges::find(occupied_, domain) != occupied_.end() &&
           inventory_.is_ending(requirements_->topology_key, domain);
  });
  return out;
}

std::size_t Candidates::usable() {
  check_domains();
  return usable_;
}

std::string Candidates::explain(std::size_t needed, std::string_view viewer) {
  if (requirements_->too_many) {
    return fmt::format(
        "its pods have more than {} different node selectors, affinities, tolerations or numbers of chips",
        kMaxRequirementsOfSlice);
  }
  check_domains();
  std::vector<std::string> texts;
  std::size_t free = 0;
  for (const auto& [domain, compared] : compared_) {
    Fit fit = compared;
    if (fit.obstacle == Obstacle::kNone) fit = inventory_.occupancy(requirements_->topology_key, domain, viewer);
    if (fit.obstacle == Obstacle::kNone) ++free;
    if (texts.size() < kMaxDomainsInReason) texts.push_back(fit.text.empty() ? domain + " is free" : fit.text);
  }
  const std::size_t count = compared_.size();
  if (count == 0) {
    return fmt::format("no {} matches the pods' node selector and affinity", domain_noun(requirements_->topology_key));
  }
  const std::string more = count > texts.size() ? fmt::format("; and {} more", count - texts.size()) : "";
  const std::string enough = needed == 1 ? "none is free" : fmt::format("{} free at once, {} needed", free, needed);
  return fmt::format("{} {} would match, {}: {}{}", count, domain_noun(requirements_->topology_key, count), enough,
                     fmt::join(texts, "; "), more);
}

void Candidates::check_domains() {
  if (std::exchange(checked_, true)) return;
  const std::string& key = requirements_->topology_key;
  for (std::string& domain : inventory_.domains(key)) {
    Fit fit = inventory_.compare(*requirements_, domain);
    if (fit.obstacle == Obstacle::kMismatch) continue;
    if (fit.obstacle == Obstacle::kNone) {
      const bool is_free = inventory_.occupancy(key, domain, {}).obstacle == Obstacle::kNone;
      (is_free ? free_ : occupied_).push_back(domain);
    }
    compared_.push_back({std::move(domain), std::move(fit)});
  }
  usable_ = free_.size() + occupied_.size();
  std::ranges::stable_sort(free_, {}, [&](const std::string& domain) {
    const auto found = failures_.find({key, domain});
    return std::pair(has_scout(domain), found == failures_.end() ? 0 : found->second);
  });
  std::ranges::reverse(free_);
  // The domain with the fewest nodes in use is likely to become free first.
  std::ranges::stable_sort(occupied_, {},
                           [&](const std::string& domain) { return inventory_.free_nodes(key, domain); });
  std::ranges::copy_if(occupied_, std::back_inserter(ending_),
                       [&](const std::string& domain) { return inventory_.is_ending(key, domain); });
}

bool Candidates::has_scout(const std::string& domain) {
  if (scout_nodes_.empty()) return false;
  return std::ranges::any_of(inventory_.uses(requirements_->topology_key, domain),
                             [&](const NodeUse* use) { return scout_nodes_.contains(use->node->key.name); });
}

}  // namespace tpuslice::slice
