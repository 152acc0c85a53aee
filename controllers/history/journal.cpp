#include "controllers/history/journal.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "controllers/history/recovery.h"
#include "controllers/runtime/metrics.h"
#include "controllers/slice/accelerator_labels.h"

namespace tpuslice::history {
namespace {

Counter& lost_host_seconds(Metrics& metrics, const std::string& accelerator) {
  return metrics.counter("tpuslice_lost_host_seconds_total",
                         "How long the hosts of slices had run when they were interrupted, all hosts together.",
                         {{"accelerator", slice::accelerator_label(accelerator)}});
}

Histogram& recovery_seconds(Metrics& metrics, const std::string& accelerator) {
  return metrics.histogram("tpuslice_slice_recovery_seconds",
                           "Time from the interruption of a slice until all its hosts run again.",
                           runtime::long_duration_buckets(), {{"accelerator", slice::accelerator_label(accelerator)}});
}

}  // namespace

Journal::Journal(Metrics& metrics)
    : metrics_(metrics),
      lost_(metrics.counter("tpuslice_history_records_lost_total",
                            "Number of interruptions that could not be written into the history.")) {
  for (const std::string_view label : slice::accelerator_labels()) (void)lost_host_seconds(metrics, std::string(label));
}

void Journal::record(const plan::Interruption& interruption) {
  plan::Interruption named = interruption;
  if (owner_of_) {
    const plan::ObjectReference owner = owner_of_(interruption.workload);
    named.workload.kind = owner.kind;
    named.workload.key.name = owner.key.name;
  }
  const Record record = record_of(named);
  const auto is_known = [&](const Record& each) { return each.is_same(record); };
  {
    const MutexLock lock(mutex_);
    const auto known = interrupted_.find(record.key());
    if (known != interrupted_.end() && is_known(known->second)) return;
    if (std::ranges::any_of(unwritten_, is_known)) return;
    interrupted_[record.key()] = record;
    add_unwritten(record);
  }
  lost_host_seconds(metrics_, record.accelerator).increment(static_cast<double>(record.host_seconds));
  notify();
}

std::optional<Record> Journal::interrupted(const ObjectKey& slice) const {
  const MutexLock lock(mutex_);
  const auto found = interrupted_.find(slice);
  return found == interrupted_.end() ? std::nullopt : std::optional(found->second);
}

void Journal::add_unwritten(const Record& record) {
  if (unwritten_.size() >= kMaxUnwritten) {
    const Record oldest = std::move(unwritten_.front());
    unwritten_.erase(unwritten_.begin());
    // interrupted_ must not grow while the history cannot be read.
    const auto known = interrupted_.find(oldest.key());
    if (known != interrupted_.end() && known->second.is_same(oldest)) interrupted_.erase(known);
    if (oldest.sequence < 0) lost_.increment();
  }
  unwritten_.push_back(record);
}

void Journal::recover(const Record& seen, const Recovery& recovery) {
  Record record;
  {
    const MutexLock lock(mutex_);
    const auto found = interrupted_.find(seen.key());
    if (found == interrupted_.end() || !found->second.is_same(seen)) return;
    record = std::move(found->second);
    interrupted_.erase(found);
    record.recovery = recovery;
    const auto unwritten = std::ranges::find_if(unwritten_, [&](const Record& each) { return each.is_same(record); });
    if (unwritten == unwritten_.end()) {
      add_unwritten(record);
    } else {
      unwritten->recovery = recovery;
    }
  }
  const std::chrono::duration<double> took = recovery.time - record.time;
  recovery_seconds(metrics_, record.accelerator).observe(std::max(took.count(), 0.0));
  notify();
}

void Journal::merge_into(Ring& ring, Timestamp now) {
  const MutexLock lock(mutex_);
  std::erase_if(unwritten_, [&](const Record& record) {
    const Record* const written = ring.find(record);
    if (written == nullptr) return record.sequence >= 0;  // It was written, and is too old by now.
    return written->recovery || !record.recovery;
  });
  for (const Record& record : unwritten_) {
    if (const Record* const written = ring.find(record)) {
      ring.recover(written->sequence, *record.recovery);
    } else {
      ring.append(record);
    }
  }
  interrupted_.clear();
  for (const auto& [sequence, record] : ring.records()) {
    if (record.recovery || now >= record.time + kRecoveryWindow) {
      interrupted_.erase(record.key());
    } else {
      interrupted_.insert_or_assign(record.key(), record);
    }
  }
}

}  // namespace tpuslice::history
