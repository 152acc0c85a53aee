// WorkQueue: the keys that are due. All reconciles that failed are retried by it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/base/token_bucket.h"
#include "api/types/object.h"
#include "controllers/runtime/key_report.h"
#include "controllers/runtime/key_schedule.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/pace.h"

namespace tpuslice::runtime {

struct WorkQueueOptions {
  std::string name = {};                                ///< Label of the workqueue_* metrics.
  Duration first_retry = std::chrono::milliseconds(5);  ///< Doubled on every retry of a key.
  Duration max_retry = std::chrono::seconds(1000);
  double retries_per_second = 10;  ///< Rate of all keys of a namespace together.
  double retry_burst = 100;
  /// Shortest time between two reconciles of a key because of changes, so that a burst of changes is handled at once.
  /// The first change is handled immediately; retries and requeues are not delayed. Zero: no limit.
  Duration pace = Duration::zero();
  /// The same, as a multiple of how long the last plan of the key took: with 9, plans because of changes take no more
  /// than a tenth of the time. Requeues that were scheduled before that plan wait, too.
  int pace_by_plan = 0;
};

/// Each key is queued at most once and processed by one worker at a time: a key that is added while it is processed is
/// queued again after done(). The size is bounded by the number of distinct keys. First in, first out.
///
/// It is the queue of client-go with a pace. Keys are ready, or on a schedule of those that become ready later;
/// back-off and rate of retries say how much later, and so does the pace.
///
/// Thread-safe.
class WorkQueue {
 public:
  /// `clock` and `metrics` outlive it.
  WorkQueue(WorkQueueOptions options, const Clock& clock, Metrics& metrics);
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);
  /// Adds the key after `wait`; of several times the earliest counts.
  void add_after(const ObjectKey& key, Duration wait) TPUSLICE_EXCLUDES(mutex_);
  /// Adds the key after its back-off, or when the retry rate of its namespace allows, whichever is later. A failure
  /// before the retry is due, since the object changed meanwhile, does not lengthen the back-off. `at_least`: what the
  /// server asked for.
  void add_rate_limited(const ObjectKey& key, Duration at_least = Duration::zero()) TPUSLICE_EXCLUDES(mutex_);
  /// Resets the back-off of the key.
  void forget(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);

  /// The next key, if one is due. The caller must call done().
  [[nodiscard]] std::optional<ObjectKey> pop(Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// Waits for a key; returns none on `stop`.
  [[nodiscard]] std::optional<ObjectKey> wait_pop(const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Reports how long planning took for a key that is being processed.
  void planned(const ObjectKey& key, Duration took) TPUSLICE_EXCLUDES(mutex_);
  void done(const ObjectKey& key) TPUSLICE_EXCLUDES(mutex_);

  /// When pop() will return a key: Instant::min() for now, kNever without any key.
  [[nodiscard]] Instant next_due() const TPUSLICE_EXCLUDES(mutex_);
  /// Keys ready to be popped.
  [[nodiscard]] std::size_t size() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] QueuedKey state_of(const ObjectKey& key) const TPUSLICE_EXCLUDES(mutex_);
  /// Keys that are processed, then those that are queued, then those that are scheduled, the next first: at most
  /// `limit`.
  [[nodiscard]] std::vector<ObjectKey> first_keys(std::size_t limit) const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Retry {
    int count = 0;  ///< Number of failures, one for each retry.
    Instant due;
  };

  void update_metrics() TPUSLICE_EXCLUDES(mutex_);
  /// True if this made a key ready.
  bool add_locked(const ObjectKey& key, Instant now) TPUSLICE_REQUIRES(mutex_);
  /// The condition variable to notify of a key: the watcher waits on changed_; without one, a worker that sleeps on
  /// idle_ becomes the watcher.
  [[nodiscard]] ConditionVariable& sleeper_locked() TPUSLICE_REQUIRES(mutex_) {
    return has_watcher_ ? changed_ : idle_;
  }
  void promote_locked(Instant now) TPUSLICE_REQUIRES(mutex_);
  std::optional<ObjectKey> pop_locked(Instant now) TPUSLICE_REQUIRES(mutex_);
  Duration take_token_locked(const std::string& namespace_name, Instant now) TPUSLICE_REQUIRES(mutex_);

  const WorkQueueOptions options_;
  const Clock& clock_;
  Metrics& registry_;
  const QueueMetrics metrics_;

  mutable Mutex mutex_;
  // One of the workers without a key is the watcher: it waits until a key is ready or due. The others sleep until it
  // has taken a key, so that one key does not wake all of them.
  ConditionVariable changed_;
  ConditionVariable idle_;
  bool has_watcher_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::deque<ObjectKey> ready_ TPUSLICE_GUARDED_BY(mutex_);
  /// Keys in ready_, and those that are to be once they are not processed any more; since when.
  std::unordered_map<ObjectKey, Instant> dirty_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<ObjectKey, Instant> processing_ TPUSLICE_GUARDED_BY(mutex_);  ///< Start of each key's plan.
  KeySchedule schedule_ TPUSLICE_GUARDED_BY(mutex_);                               ///< Keys that are added later.
  Pace pace_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<ObjectKey, Retry> retries_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, TokenBucket> buckets_ TPUSLICE_GUARDED_BY(mutex_);  ///< By namespace.
};

}  // namespace tpuslice::runtime
