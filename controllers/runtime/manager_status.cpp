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
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (!stores_[i].required || watches_[i]->synced() || watches_[i]->absent()) continue;
    out.emplace_back(watches_[i]->type().resource());
  }
  return out;
}

std::vector<std::string> Manager::broken_watches() const {
  std::vector<std::string> out;
  const Instant now = clock_.now();
  for (const auto& watch : watches_) {
    const Duration time = watch->broken_for(now);
    if (time < kBrokenWatch) continue;
    out.push_back(fmt::format("{} for {} s", watch->type().resource(),
                              std::chrono::duration_cast<std::chrono::seconds>(time).count()));
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
