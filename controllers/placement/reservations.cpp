#include "controllers/placement/reservations.h"

#include <algorithm>
#include <chrono>
#include <ranges>

#include <fmt/format.h>

#include "api/base/earlier.h"

namespace tpuslice::placement {

bool Reservations::fits_empty_cluster(const Gang& gang) const {
  std::map<Candidates*, std::size_t> needed;
  std::map<Candidates*, std::size_t> asked;
  for (const Slice* slice : gang.slices) {
    ++needed[by_slice_.at(slice)];
    if (request_.asks_for_nodes(slice->key)) ++asked[by_slice_.at(slice)];
  }
  return std::ranges::all_of(
      needed, [&](const auto& entry) { return entry.second <= entry.first->usable() + asked[entry.first]; });
}

std::string Reservations::reserve_for(const Gang& gang, const ExcludedDomains& excluded) {
  const Duration timeout = request_.reservation.timeout;
  if (timeout <= Duration::zero() || !fits_empty_cluster(gang)) return {};
  const std::int64_t window = std::max<std::int64_t>((request_.now - gang.queued_since()) / timeout, 0);
  const Timestamp window_end = gang.queued_since() + (window + 1) * timeout;
  const bool yields = window % 2 == 1;
  std::vector<CandidateDomain> free;
  std::vector<CandidateDomain> awaited;
  for (const Slice* slice : gang.slices) {
    Candidates& candidates = *by_slice_.at(slice);
    if (std::string domain = candidates.take_free(excluded); !domain.empty()) {
      free.emplace_back(&candidates, std::move(domain));
      continue;
    }
    if (yields) continue;
    if (std::string domain = candidates.take_occupied(); !domain.empty()) {
      awaited.emplace_back(&candidates, std::move(domain));
    }
  }
  if (!free.empty()) set_earlier(changes_at_, window_end);
  if (yields) {
    for (auto& [candidates, domain] : std::views::reverse(free)) candidates->put_back(std::move(domain));
    if (free.empty()) return {};
    return fmt::format("; until {} younger slices may use those that are free, as some were reserved for {} minutes",
                       format_rfc3339(window_end), std::chrono::ceil<std::chrono::minutes>(timeout).count());
  }
  const std::optional<Timestamp> backfill_until = last_end(awaited, window_end);
  std::size_t reserved = 0;
  const std::size_t reserved_before = reserved_nodes_;
  for (const CandidateDomain& domain : awaited) reserve(gang, domain, backfill_until);
  std::vector<CandidateDomain> refused;
  for (CandidateDomain& domain : free) {
    if (reserve(gang, domain, backfill_until)) {
      ++reserved;
    } else {
      refused.push_back(std::move(domain));
    }
  }
  for (auto& [candidates, domain] : std::views::reverse(refused)) candidates->put_back(std::move(domain));
  if (reserved_nodes_ > reserved_before) set_earlier(changes_at_, window_end);
  return reserved == 0 ? "" : fmt::format("; {} reserved for it until {}", reserved, format_rfc3339(window_end));
}

bool Reservations::reserve(const Gang& gang, const CandidateDomain& domain, std::optional<Timestamp> backfill_until) {
  const std::string& key = domain.first->requirements().topology_key;
  const std::size_t nodes = inventory_.free_nodes(key, domain.second);
  if (nodes == 0) return true;
  const Gang*& of_namespace = reserving_gangs_.try_emplace(gang.namespace_name(), &gang).first->second;
  const bool within_share =
      (reserved_nodes_ + nodes) * 100 <= inventory_.size() * static_cast<std::size_t>(request_.reservation.percent);
  if (of_namespace != &gang || (!within_share && reserving_gangs_.size() > 1)) return false;
  reserved_nodes_ += nodes;
  inventory_.reserve(key, domain.second, display_name(*gang.slices.front()), backfill_until);
  if (backfill_until) backfill_.emplace_back(key, domain.second);
  return true;
}

std::optional<Timestamp> Reservations::last_end(const std::vector<CandidateDomain>& domains,
                                                Timestamp window_end) const {
  std::optional<Timestamp> last;
  for (const auto& [candidates, domain] : domains) {
    for (const NodeUse* use : inventory_.uses(candidates->requirements().topology_key, domain)) {
      if (use->is_free() || use->reserved) continue;
      const auto slice = request_.placed->by_key.find(use->slice());
      if (slice == request_.placed->by_key.end()) return std::nullopt;
      const std::optional<Timestamp> end = ends_by(*slice->second, placed_at(*slice->second));
      if (!end) return std::nullopt;
      last = std::max(last.value_or(*end), *end);
    }
  }
  if (!last) return std::nullopt;
  return std::min(*last, window_end);
}

std::string Reservations::take_backfill(const Gang& gang, Candidates& candidates, const ExcludedDomains& excluded) {
  if (backfill_.empty() || gang.slices.size() > 1) return {};
  const std::optional<Timestamp> end = gang.ends_by(request_.now);
  if (!end) return {};
  const std::string& key = candidates.requirements().topology_key;
  for (const DomainName& domain : backfill_) {
    if (domain.first != key || excluded.contains(domain.second)) continue;
    const bool ends_before = std::ranges::all_of(inventory_.uses(key, domain.second), [&](const NodeUse* use) {
      return use->is_free() || (use->reserved && use->backfill_until && *end <= *use->backfill_until);
    });
    if (!ends_before || inventory_.check(candidates.requirements(), domain.second).obstacle != Obstacle::kOccupied) {
      continue;
    }
    inventory_.cancel_reservations(key, domain.second);
    return domain.second;
  }
  return {};
}

}  // namespace tpuslice::placement
