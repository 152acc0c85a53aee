#include "controllers/runtime/recent_plans.h"

#include <utility>

#include "api/types/utf8.h"

namespace tpuslice::runtime {
namespace {

void shorten(std::string& text) { text.resize(truncate_utf8(text, RecentPlans::kMaxText).size()); }

}  // namespace

void RecentPlans::record(const ObjectKey& key, LastPlan plan) {
  shorten(plan.reason);
  shorten(plan.error);
  const MutexLock lock(mutex_);
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    known->second->plan = std::move(plan);
    entries_.splice(entries_.begin(), entries_, known->second);
    return;
  }
  entries_.push_front({key, std::move(plan)});
  by_key_.emplace(key, entries_.begin());
  if (entries_.size() <= kMaxKeys) return;
  by_key_.erase(entries_.back().key);
  entries_.pop_back();
}

std::optional<LastPlan> RecentPlans::of(const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto known = by_key_.find(key);
  return known == by_key_.end() ? std::nullopt : std::optional(known->second->plan);
}

std::vector<ObjectKey> RecentPlans::keys() const {
  std::vector<ObjectKey> out;
  const MutexLock lock(mutex_);
  out.reserve(entries_.size());
  for (const Entry& entry : entries_) out.push_back(entry.key);
  return out;
}

}  // namespace tpuslice::runtime
