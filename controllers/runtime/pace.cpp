#include "controllers/runtime/pace.h"

#include <algorithm>

namespace tpuslice::runtime {

void Pace::started(const ObjectKey& key, Instant now) {
  drop_past(now);
  if (shortest_ > Duration::zero()) hold(key, now + shortest_);
}

std::optional<Instant> Pace::planned(const ObjectKey& key, Duration took, Instant now) {
  const Duration wait = by_plan_ * took;
  if (wait <= Duration::zero()) return std::nullopt;
  const Instant until = now + wait;
  const auto held = held_until_.find(key);
  if (held == held_until_.end() || held->second < until) hold(key, until);
  return until;
}

Instant Pace::next(const ObjectKey& key, Instant now) const {
  const auto held = held_until_.find(key);
  return held == held_until_.end() ? now : std::max(held->second, now);
}

void Pace::hold(const ObjectKey& key, Instant until) {
  held_until_[key] = until;
  in_order_.emplace_back(until, key);
}

void Pace::drop_past(Instant now) {
  while (!in_order_.empty() && in_order_.front().first <= now) {
    const auto over = held_until_.find(in_order_.front().second);
    if (over != held_until_.end() && over->second <= now) held_until_.erase(over);
    in_order_.pop_front();
  }
}

}  // namespace tpuslice::runtime
