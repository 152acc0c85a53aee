// LeaderElector: at most one replica acts, by holding a Lease.
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
  std::string identity = {};                     ///< Of this replica, unique: "<pod>_<random>".
  Duration lease = std::chrono::seconds(15);     ///< Others may take over after this much silence.
  Duration renew_by = std::chrono::seconds(10);  ///< Leader work stops if not renewed within this; < lease.
  Duration retry = std::chrono::seconds(2);      ///< Gap between attempts; < renew_by.
  double jitter = 1.2;                           ///< Attempts to acquire wait up to this fraction longer.
};

/// Whether the lease is free is judged by how long ago *this* process saw it change, never by the timestamps in it:
/// clocks of other machines do not matter. There is no fencing token; the preconditions of the writes are the fence.
///
/// One thread steps it; leading(), lost() and healthy() may be asked from any. `reader` and `writer` are of a client of
/// its own, whose connections nobody else uses and whose deadline is well under `renew_by`.
class LeaderElector {
 public:
  LeaderElector(ElectionOptions options, client::Reader& reader, client::Writer& writer, const Clock& clock,
                Random& random, Metrics& metrics, Logger log);

  /// Acquires or renews when due. Returns when it wants to be called next.
  Instant step(Instant now, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Steps until `stop` or until the lease is lost; `changed` is called when leading() has changed.
  void run(const std::stop_token& stop, const std::function<void()>& changed);
  /// Gives the lease up, so that others need not wait. Only after all guarded work has stopped.
  void release(const std::stop_token& stop);

  /// Held and renewed in time, by the clock: true may turn false while step() waits for an answer.
  [[nodiscard]] bool leading(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// Was the leader and is no more. Never turns false: the process has to end.
  [[nodiscard]] bool lost(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// False for one that was the leader, has not renewed for longer than the lease, and still runs.
  [[nodiscard]] bool healthy(Instant now) const TPUSLICE_EXCLUDES(mutex_);
  /// Who holds the lease, as last seen.
  [[nodiscard]] std::string holder() const TPUSLICE_EXCLUDES(mutex_);

 private:
  enum class State { kWaiting, kLeading, kLost, kReleased };

  Instant acquire(Instant now, const std::stop_token& stop);
  Instant renew(Instant now, const std::stop_token& stop);
  /// Reads the lease, null if there is none, and notes when it last changed.
  Status observe(const std::stop_token& stop);
  void note(std::optional<Object> lease);
  [[nodiscard]] bool free(Instant now) const;
  /// Makes us the holder, or renews that; the object's resourceVersion is the precondition.
  Status take(const std::stop_token& stop);
  [[nodiscard]] Object wanted() const;
  void won(Instant renewed);
  void lose(std::string_view why);

  const ElectionOptions options_;
  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  Random& random_;
  const Logger log_;
  Gauge& master_status_;

  // Of the stepping thread alone.
  std::optional<Object> lease_;  ///< As last read or written.
  Instant observed_at_;          ///< When its spec last changed.
  Instant due_ = Instant::min();

  mutable Mutex mutex_;
  State state_ TPUSLICE_GUARDED_BY(mutex_) = State::kWaiting;
  Instant renewed_ TPUSLICE_GUARDED_BY(mutex_);
  std::string holder_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::runtime
