// What a manager reports: to probes, logs and /debug/keys.
#include <fmt/format.h>

#include "controllers/runtime/manager.h"

namespace tpuslice::runtime {
namespace {

/// Shorter interruptions of a watch are normal.
constexpr Duration kBrokenWatch = std::chrono::minutes(1);

}  // namespace

bool Manager::ready() const { return not_synced().empty(); }

std::vector<std::string> Manager::not_synced() const {
  std::vector<std::string> out;
  for (const WatchedStore& store : stores_) {
    for (const auto& watch : store.watches) {
      if (store.required && !watch->synced() && !watch->absent()) out.push_back(watch->name());
    }
  }
  return out;
}

std::vector<std::string> Manager::broken_watches() const {
  std::vector<std::string> out;
  const Instant now = clock_.now();
  for (const WatchedStore& store : stores_) {
    for (const auto& watch : store.watches) {
      const Duration time = watch->broken_for(now);
      if (time < kBrokenWatch) continue;
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
      out.push_back(fmt::format("{} for {} s", watch->name(), seconds.count()));
    }
  }
  return out;
}

std::vector<KeyReport> Manager::report(const KeyQuery& query) const {
  std::vector<KeyReport> out;
  for (const auto& controller : controllers_) {
    if (!query.controller.empty() && query.controller != controller->name()) continue;
    for (KeyReport& each : controller->report(query)) {
      if (out.size() < query.limit) out.push_back(std::move(each));
    }
  }
  return out;
}

bool Manager::healthy() const {
  if (!elector_) return true;
  const Instant now = clock_.now();
  const MutexLock lock(mutex_);
  const bool stuck = lost_since_ && now - *lost_since_ > options_.election.lease;
  return !stuck && elector_->healthy(now);
}

}  // namespace tpuslice::runtime
