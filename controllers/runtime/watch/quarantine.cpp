#include "controllers/runtime/watch/quarantine.h"

#include <algorithm>
#include <utility>

namespace tpuslice::runtime {
namespace {

constexpr Duration kFirstLogInterval = std::chrono::minutes(1);
constexpr Duration kMaxLogInterval = std::chrono::hours(1);
/// How often unreported objects are tried again.
constexpr Duration kReportInterval = std::chrono::seconds(5);
/// Maximum of one watch. Further objects are only counted.
constexpr std::size_t kMaxEntries = 500;

}  // namespace

void Quarantine::add(const QuarantinedObject& object, Instant now) {
  counter_.increment();
  Entry* const entry = find_or_add(object, now);
  if (entry == nullptr) return;
  if (object.uid != entry->object.uid) {
    entry->reported = false;
    entry->report_at = now;
  } else if (object.error.message() != entry->object.error.message() && std::exchange(entry->reported, false)) {
    entry->report_at = entry->next_log;
  }
  entry->object = object;
  entry->current = true;
  entry->list = list_;
  ++entry->versions;
  if (now < entry->next_log) return;
  log_.error("object quarantined", {{"namespace", object.key.namespace_name},
                                    {"name", object.key.name},
                                    {"error", object.error.message()},
                                    {"versions", std::exchange(entry->versions, 0)}});
  entry->interval = std::clamp(2 * entry->interval, kFirstLogInterval, kMaxLogInterval);
  entry->next_log = now + entry->interval;
  report(*entry);
}

void Quarantine::remove(const ObjectKey& key) {
  // The entry stays until its interval is over: objects may be broken and mended in turns.
  if (const auto found = entries_.find(key); found != entries_.end()) found->second.current = false;
}

void Quarantine::end_list() {
  for (auto& [key, entry] : entries_) entry.current = entry.current && entry.list == list_;
}

void Quarantine::report_pending(Instant now) {
  if (entries_.empty() || now < report_due_) return;
  report_due_ = now + kReportInterval;
  for (auto& [key, entry] : entries_) {
    if (entry.current && !entry.reported && now >= entry.report_at) report(entry);
  }
}

Quarantine::Entry* Quarantine::find_or_add(const QuarantinedObject& object, Instant now) {
  if (const auto found = entries_.find(object.key); found != entries_.end()) return &found->second;
  if (entries_.size() >= kMaxEntries) {
    std::erase_if(entries_, [now](const auto& each) { return !each.second.current && each.second.next_log <= now; });
  }
  if (entries_.size() >= kMaxEntries) return nullptr;
  return &entries_.emplace(object.key, Entry{object}).first->second;
}

void Quarantine::report(Entry& entry) { entry.reported = !report_ || report_(entry.object); }

}  // namespace tpuslice::runtime
