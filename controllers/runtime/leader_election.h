// LeaderElector: at most one replica leads, by holding a Lease.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/base/random.h"
#include "api/client/client.h"

namespace tpuslice::runtime {

struct ElectionOptions {
  std::string namespace_name = "tpu-slice-system";
  std::string name = "tpu-slice-operator";
  std::string identity = {};                     ///< Identity of this replica, unique: "<pod>_<random>".
  Duration lease = std::chrono::seconds(15);     ///< Others may take over if it is not renewed for this long.
  Duration renew_by = std::chrono::seconds(10);  ///< Leader work stops if not renewed within this; < lease.
  Duration retry = std::chrono::seconds(2);      ///< Gap between attempts; < renew_by.
  double jitter = 1.2;                           ///< Attempts to acquire wait up to this fraction longer.
  /// Asked by the stepping thread until it is true: before that the lease is read, but not acquired. Empty: true.
  std::function<bool()> may_acquire = {};
  /// After it has lost the lease, the elector acquires it again as any other replica, once may_acquire() is true again.
  /// Otherwise it never leads again.
  bool stands_by = false;
};

/// A lease has expired when *this* process has seen no change of it for its duration. Timestamps in the lease are not
/// used, so that clock skew does not matter. There is no fencing token; the preconditions of writes take its place.
///
/// One thread steps it; leading(), lost() and healthy() are thread-safe. `reader` and `writer` belong to a client that
/// is used for nothing else and whose deadline is well under `renew_by`.
class LeaderElector {
 public:
  LeaderElector(ElectionOptions options, client::Reader& reader, client::Writer& writer, const Clock& clock,
                Random& random, Metrics& metrics, const Logger& log);

  /// Called with the Lease when it was acquired, from step(), without a lock held. Set before the first step().
  void on_won(std::function<void(const Object& lease)> listener) { on_won_ = std::move(listener); }
  /// Acquires or renews the lease when due. Returns when it must be called next.
  Instant step(Instant now, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Steps until `stop`, or until the lease is lost for good; `changed` is called when leading() has changed.
  void run(const std::stop_token& stop, const std::function<void()>& changed);
  /// Releases the lease, so that others need not wait for it to expire. Called after all leader work and step() have
  /// ended.
  void release(const std::stop_token& stop);

  /// True while the lease is held and was renewed in time. May turn false while step() waits for an answer.
  [[nodiscard]] bool leading(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// How long no other replica can acquire the lease, while leading(); else zero.
  [[nodiscard]] Duration lease_left(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// True while the lease is held but not renewed in time, and once it is lost for good.
  [[nodiscard]] bool lost(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// False if the lease was held and has not been renewed for longer than its duration plus `retry`.
  [[nodiscard]] bool healthy(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// The holder of the lease as last read.
  [[nodiscard]] std::string holder() const TPUSLICE_EXCLUDES(mutex_);

 private:
  enum class State { kWaiting, kLeading, kLost, kReleased };

  Instant acquire(Instant now, const std::stop_token& stop);
  Instant renew(Instant now, const std::stop_token& stop);
  /// Reads the lease into lease_ and records when it last changed.
  Status observe(const std::stop_token& stop);
  void note(std::optional<Object> lease);
  [[nodiscard]] bool free(Instant now) const;
  /// Acquires or renews the lease, with its resourceVersion as precondition.
  Status take(const std::stop_token& stop);
  [[nodiscard]] Object wanted() const;
  [[nodiscard]] Object released() const;
  void won(Instant renewed);
  /// Returns when the next step is due.
  Instant lose(Instant now, std::string_view why);

  const ElectionOptions options_;
  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  Random& random_;
  const Logger log_;
  Gauge& master_status_;

  // Used by the stepping thread only.
  std::function<void(const Object& lease)> on_won_;
  std::optional<Object> lease_;  ///< The Lease as last read or written.
  Instant observed_at_;          ///< When its spec last changed.
  Instant due_ = Instant::min();
  bool may_acquire_ = false;  ///< options_.may_acquire() was true since the lease was lost last.

  mutable Mutex mutex_;
  State state_ TPUSLICE_GUARDED_BY(mutex_) = State::kWaiting;
  Instant renewed_ TPUSLICE_GUARDED_BY(mutex_);
  std::string holder_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
