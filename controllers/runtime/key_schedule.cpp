#include "controllers/runtime/key_schedule.h"

namespace tpuslice::runtime {

bool KeySchedule::add(const ObjectKey& key, Instant due) {
  const auto [entry, added] = due_.emplace(key, due);
  if (!added) {
    if (entry->second <= due) return false;
    by_time_.erase({entry->second, key});
    entry->second = due;
  }
  const auto place = by_time_.emplace(due, key).first;
  return place == by_time_.begin();
}

void KeySchedule::postpone(const ObjectKey& key, Instant until) {
  const auto entry = due_.find(key);
  if (entry == due_.end() || entry->second >= until) return;
  by_time_.erase({entry->second, key});
  by_time_.emplace(until, key);
  entry->second = until;
}

std::optional<ObjectKey> KeySchedule::pop(Instant now) {
  if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
  ObjectKey key = std::move(by_time_.extract(by_time_.begin()).value().second);
  due_.erase(key);
  return key;
}

std::optional<Instant> KeySchedule::due(const ObjectKey& key) const {
  const auto entry = due_.find(key);
  return entry == due_.end() ? std::nullopt : std::optional(entry->second);
}

}  // namespace tpuslice::runtime
