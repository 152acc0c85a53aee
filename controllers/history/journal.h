// Journal: what is to be written into the history, and which slices are expected to run again. In memory: a replica
// that ends loses what it has not written; one that no longer leads keeps it until it leads again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/types/object.h"
#include "controllers/history/ring.h"

namespace tpuslice::history {

/// Thread-safe. The slice controllers record interruptions, the watches of pods record recoveries, and the history
/// controller writes both.
class Journal {
 public:
  /// More records that are not written yet are dropped, the oldest first; the interruptions among them are counted.
  static constexpr std::size_t kMaxUnwritten = kMaxRecords;

  explicit Journal(Metrics& metrics);

  /// How records name a workload: the object that its user created, such as the RayJob of a RayCluster.
  using OwnerOf = std::function<plan::ObjectReference(const plan::ObjectReference& workload)>;
  /// Called on any thread. Set before the first record; without it, records have the workload itself.
  void name_workloads_by(OwnerOf owner_of) { owner_of_ = std::move(owner_of); }
  /// Called, on any thread and without a lock, after something to write was added. Set before the first record.
  void on_change(std::function<void()> call) { changed_ = std::move(call); }

  void record(const plan::Interruption& interruption) TPUSLICE_EXCLUDES(mutex_);
  /// The record of the slice that has not run since; absent if there is none.
  [[nodiscard]] std::optional<Record> interrupted(const ObjectKey& slice) const TPUSLICE_EXCLUDES(mutex_);
  /// The slice runs again after `seen`. Not if interrupted() is another interruption by now.
  void recover(const Record& seen, const Recovery& recovery) TPUSLICE_EXCLUDES(mutex_);

  /// Drops what the ring has already; what it lacks is added to it. From then on interrupted() has its records that
  /// wait for a recovery, those of the last kRecoveryWindow.
  void merge_into(Ring& ring, Timestamp now) TPUSLICE_EXCLUDES(mutex_);

 private:
  void notify() const {
    if (changed_) changed_();
  }
  /// Drops the oldest if there are too many.
  void add_unwritten(const Record& record) TPUSLICE_REQUIRES(mutex_);

  Metrics& metrics_;
  Counter& lost_;
  OwnerOf owner_of_;
  std::function<void()> changed_;
  mutable Mutex mutex_;
  std::vector<Record> unwritten_ TPUSLICE_GUARDED_BY(mutex_);  ///< New records, and those with a new recovery.
  std::map<ObjectKey, Record> interrupted_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::history
