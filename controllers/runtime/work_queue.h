// WorkQueue: the keys that want reconciling. The one retry loop of the program.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/types/object.h"
#include "controllers/runtime/metrics.h"

namespace tpuslice::runtime {

struct WorkQueueOptions {
  std::string name = {};                                ///< Label of the workqueue_* metrics.
  Duration first_retry = std::chrono::milliseconds(5);  ///< Doubled on every retry of a key.
  Duration max_retry = std::chrono::seconds(1000);
  double retries_per_second = 10;  ///< Of all keys together.
  double retry_burst = 100;
  /// A key that changed again is taken at most once in this time, so that changes that come in a storm are seen
  /// together. The first is taken at once; what is due at a time of its own is not held back. Zero: every change
  /// counts.
  Duration pace = Duration::zero();
};

/// A key is in it at most once, and with one worker at a time: added while it is worked on, it comes again after
/// done(). Its size is bounded by the number of distinct keys. First come, first served.
///
/// Thread-safe.
class WorkQueue {
 public:
  WorkQueue(WorkQueueOptions options, const Clock& clock, Metrics& metrics);

  void add(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);
  /// Later; of several times the earliest counts.
  void add_after(const ObjectKey& key, Duration wait) TPUSLICE_EXCLUDES(mutex_);
  /// After this key's back-off, or when the overall retry rate allows, whichever is later.
  void add_rate_limited(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);
  /// The key went well: its back-off starts over.
  void forget(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);

  /// The next key, if one is due; the caller owes a done().
  [[nodiscard]] std::optional<ObjectKey> pop(Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// Waits for a key; nothing after `stop`.
  [[nodiscard]] std::optional<ObjectKey> wait_pop(const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  void done(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);

  /// When pop() will have something: Instant::min() for now, kNever without any key.
  [[nodiscard]] Instant next_due() const TPUSLICE_EXCLUDES(mutex_);
  /// Keys ready to be popped.
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_);

 private:
  /// True if there is one key more to pop.
  bool add_locked(const ObjectKey& key, Instant now) TPUSLICE_REQUIRES(mutex_);
  /// True if nothing was due before it.
  bool schedule_locked(const ObjectKey& key, Instant due) TPUSLICE_REQUIRES(mutex_);
  /// Where to wake a worker that looks for keys.
  [[nodiscard]] ConditionVariable& sleeper_locked() TPUSLICE_REQUIRES(mutex_) { return watched_ ? changed_ : idle_; }
  void remember_locked(const ObjectKey& key, Instant now) TPUSLICE_REQUIRES(mutex_);
  void promote_locked(Instant now) TPUSLICE_REQUIRES(mutex_);
  std::optional<ObjectKey> pop_locked(Instant now) TPUSLICE_REQUIRES(mutex_);
  Duration take_token_locked(Instant now) TPUSLICE_REQUIRES(mutex_);

  const WorkQueueOptions options_;
  const Clock& clock_;
  const QueueMetrics metrics_;

  mutable Mutex mutex_;
  // One waiting worker, the watch, looks out for what is ready or comes due; the others sleep until it has found a key.
  ConditionVariable changed_;
  ConditionVariable idle_;
  bool watched_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::deque<ObjectKey> ready_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<ObjectKey, Instant> dirty_ TPUSLICE_GUARDED_BY(mutex_);       ///< Wants work; since when.
  std::unordered_map<ObjectKey, Instant> processing_ TPUSLICE_GUARDED_BY(mutex_);  ///< Being worked on; since when.
  std::unordered_map<ObjectKey, Instant> delayed_ TPUSLICE_GUARDED_BY(mutex_);
  std::set<std::pair<Instant, ObjectKey>> schedule_ TPUSLICE_GUARDED_BY(mutex_);   ///< delayed_, by time.
  std::unordered_map<ObjectKey, Instant> held_until_ TPUSLICE_GUARDED_BY(mutex_);  ///< Taken less than a pace ago.
  std::deque<std::pair<Instant, ObjectKey>> held_in_order_ TPUSLICE_GUARDED_BY(mutex_);  ///< held_until_, by time.
  std::unordered_map<ObjectKey, int> failures_ TPUSLICE_GUARDED_BY(mutex_);
  double tokens_ TPUSLICE_GUARDED_BY(mutex_);
  Instant refilled_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
