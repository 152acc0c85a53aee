// EventRecorder: tells people what happened to an object, as events.k8s.io/v1 Events. Never in a reconcile's way.
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
#include "api/client/client.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::runtime {

class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Returns at once; `event.after` is not looked at.
  virtual void record(const ObjectReference& regarding, const EventIntent& event) = 0;
};

struct EventRecorderOptions {
  std::string controller = "tpuslice.dev/operator";  ///< reportingController
  std::string instance = "tpu-slice-operator";       ///< reportingInstance: this replica.
  std::size_t queue = 1000;                          ///< Events not sent yet; more drop the oldest.
  Duration finish = std::chrono::minutes(6);         ///< A series this quiet has ended.
  Duration refresh = std::chrono::minutes(30);       ///< The count of a running series is written this often.
  int tries = 12;                                    ///< Then an event is dropped.
  Duration retry = std::chrono::seconds(10);
  double burst = 25;                          ///< New events of one object at once,
  Duration refill = std::chrono::minutes(5);  ///< and one more per this.
  std::size_t sends_per_step = 16;
};

/// record() may be called from any thread; one thread steps it.
///
/// Identical events become one Event whose series counts them. Names are derived, so a send whose reply was lost makes
/// no second Event.
class EventRecorder final : public EventSink {
 public:
  EventRecorder(EventRecorderOptions options, client::Writer& writer, const Clock& clock, Metrics& metrics, Logger log);

  void record(const ObjectReference& regarding, const EventIntent& event) override TPUSLICE_EXCLUDES(mutex_);

  /// Sends what is due. Returns when it wants to be called next, unless something is recorded before.
  Instant step(Instant now, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Steps until `stop`.
  void run(const std::stop_token& stop);

 private:
  struct Recorded {
    ObjectReference regarding;
    EventIntent event;
    Timestamp time;
  };
  /// An Event on the server, or on its way there.
  struct Known {
    ObjectKey key;
    Json body;
    std::int64_t count = 1;
    std::int64_t told = 0;  ///< The count the server was last told.
    Timestamp last_seen;
    Instant quiet_since;
    Instant written;
    bool created = false;  ///< The server has it.
    bool dirty = true;     ///< The server should be told now.
    int tries = 0;
  };
  struct Bucket {
    double tokens = 0;
    Instant refilled;
  };

  void take_in(const Recorded& recorded, Instant now);
  [[nodiscard]] bool allowed(const ObjectReference& regarding, Instant now);
  [[nodiscard]] Json body_of(const Recorded& recorded, const std::string& name) const;
  /// True if `known` needs no more sending; false to try again later.
  bool send(Known& known, const std::stop_token& stop);
  /// Ends quiet series, refreshes running ones. Returns when to look again.
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

  // Of the stepping thread alone.
  std::map<std::string, Known> known_;  ///< By what makes events identical.
  std::deque<std::string> unsent_;      ///< Keys of known_, oldest first.
  std::map<std::string, Bucket> buckets_;
  Instant blocked_until_ = Instant::min();
  Instant upkeep_due_ = Instant::max();
};

}  // namespace tpuslice::runtime
