#include "controllers/placement/rejection.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/base/earlier.h"

namespace tpuslice::placement {
namespace {

/// `first`, doubled `times` times, at most `longest`.
Duration doubled(Duration first, int times, Duration longest) {
  for (; times > 0 && first < longest; --times) first *= 2;
  return std::min(first, longest);
}

}  // namespace

Timestamp excluded_until(const RejectionsOfDomain& of) {
  if (of.changed) return of.last;
  return of.last + doubled(std::chrono::minutes(10), of.times - 1, std::chrono::hours(2));
}

Timestamp held_until(const Rejections& of) {
  const bool changed = std::ranges::any_of(of.domains, [](const auto& each) { return each.second.changed; });
  if (of.times < 2 || changed) return of.last;
  return of.last + doubled(std::chrono::minutes(1), of.times - 2, std::chrono::minutes(30));
}

Timestamp forgotten_at(const Rejections& of) { return of.last + std::chrono::hours(4); }

const Rejections* rejections_of(const Slice& slice, const RejectedSlices* all) {
  if (all == nullptr || all->empty()) return nullptr;
  const auto found = all->find(slice.key);
  if (found == all->end() || found->second.workload != workload_of(*slice.any_pod())) return nullptr;
  return &found->second;
}

void add_excluded(const Slice& slice, const RejectedSlices* all, Timestamp now, ExcludedDomains& excluded,
                  std::optional<Timestamp>& changes_at) {
  const Rejections* const rejections = rejections_of(slice, all);
  if (rejections == nullptr) return;
  for (const auto& [domain, of] : rejections->domains) {
    const Timestamp until = excluded_until(of);
    if (domain.first != slice.topology_key || now >= until) continue;
    set_earlier(changes_at, until);
    excluded.try_emplace(
        domain.second, fmt::format("{} rejected it, and is not tried before {}", domain.second, format_rfc3339(until)));
  }
}

std::optional<slice::Hold> hold_of_rejected(const Slice& slice, const RejectedSlices* all, Timestamp now) {
  const Rejections* const rejections = rejections_of(slice, all);
  if (rejections == nullptr || now >= held_until(*rejections)) return std::nullopt;
  const Timestamp until = held_until(*rejections);
  return slice::Hold{
      fmt::format("kube-scheduler rejected its last {} placements; the last, in {}: {}; correct what that "
                  "names, it is placed again after {}",
                  rejections->times, rejections->last_domain.second, rejections->reason, format_rfc3339(until)),
      until};
}

}  // namespace tpuslice::placement
