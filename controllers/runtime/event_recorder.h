// EventRecorder: writes events.k8s.io/v1 Events, without delaying reconciles.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/base/token_bucket.h"
#include "api/client/client.h"
#include "controllers/plan/plan.h"

namespace tpuslice::runtime {

class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Does not block.
  virtual void record(const plan::ObjectReference& regarding, const plan::EventIntent& event) = 0;
};

struct EventRecorderOptions {
  std::string controller = "tpuslice.dev/operator";  ///< reportingController
  std::string instance = "tpu-slice-operator";       ///< reportingInstance: this replica.
  std::size_t queue = 1000;                          ///< Unsent events; beyond it the oldest is dropped.
  Duration finish = std::chrono::minutes(6);         ///< A series ends after this long without an event.
  Duration refresh = std::chrono::minutes(30);       ///< How often the count of a running series is written.
  int tries = 12;                                    ///< Attempts to send an event before it is dropped.
  Duration retry = std::chrono::seconds(10);
  /// A namespace whose events are throttled (429) waits for `retry`, the other namespaces only for this long.
  Duration throttled_interval = std::chrono::milliseconds(100);
  double burst = 25;                          ///< New events of one object and reason at once.
  Duration refill = std::chrono::minutes(5);  ///< One more of them is allowed per this time.
  std::size_t sends_per_step = 16;
  /// Series in memory, and objects and reasons whose events are counted; beyond it the oldest ones are forgotten.
  std::size_t max_series = 4096;
};

/// record() is thread-safe; the rest is called by one thread.
///
/// Identical events become one Event whose series counts them; they may differ in `related`, which is that of the
/// first. Names are derived, so that a request whose reply was lost does not create a second Event when it is repeated.
class EventRecorder final : public EventSink {
 public:
  EventRecorder(EventRecorderOptions options, client::Writer& writer, const Clock& clock, Metrics& metrics, Logger log);

  void record(const plan::ObjectReference& regarding, const plan::EventIntent& event) override
      TPUSLICE_EXCLUDES(mutex_);

  /// Sends due events. Returns when it must be called next, unless an event is recorded before.
  Instant step(Instant now, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Steps until `stop`.
  void run(const std::stop_token& stop);

 private:
  struct Recorded {
    plan::ObjectReference regarding;
    plan::EventIntent event;
    Timestamp time;
  };
  /// An Event that was sent or is about to be.
  struct Known {
    ObjectKey key;
    Json body;
    std::int64_t count = 1;
    std::int64_t sent_count = 0;  ///< The count that was last sent.
    Timestamp last_seen;
    Instant last_event_at;
    Instant written;
    bool created = false;  ///< It exists on the server.
    bool dirty = true;     ///< It must be sent.
    int tries = 0;
  };

  void take_in(const Recorded& recorded, Instant now);
  void send_due(Instant now, const std::stop_token& stop);
  /// Delays the next request after one that failed.
  void back_off(const std::string& namespace_name, const Error& error);
  [[nodiscard]] bool allowed(const Recorded& recorded, Instant now);
  [[nodiscard]] Json body_of(const Recorded& recorded, const std::string& name) const;
  /// The error if it is to be sent again later.
  std::optional<Error> send(Known& known, const std::stop_token& stop);
  std::optional<Error> write(Known& known, const std::stop_token& stop);
  /// Writes the series of an Event that exists.
  std::optional<Error> write_series(const Known& known, const std::stop_token& stop);
  /// Removes the series that is the oldest.
  void forget_oldest_series();
  void forget_oldest_bucket(Instant now);
  /// Ends series without recent events, refreshes the others. Returns when it must be called next.
  Instant upkeep(Instant now);

  const EventRecorderOptions options_;
  client::Writer& writer_;
  const Clock& clock_;
  const Logger log_;
  Counter& dropped_;
  Counter& filtered_;
  Counter& failed_;

  Mutex mutex_;
  ConditionVariable recorded_;
  std::deque<Recorded> queue_ TPUSLICE_GUARDED_BY(mutex_);

  // Used by the stepping thread only.
  std::map<std::string, Known> known_;          ///< By identity().
  std::deque<std::string> unsent_;              ///< Keys of known_, oldest first.
  std::map<std::string, TokenBucket> buckets_;  ///< By object and reason.
  Instant blocked_until_ = Instant::min();
  std::map<std::string, Instant> throttled_until_;  ///< By namespace.
  Instant upkeep_due_ = Instant::max();
};

}  // namespace tpuslice::runtime
