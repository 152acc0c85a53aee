// EventQueue: what happens next in virtual time. Events of the same time come in the order in which they were added.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "api/base/clock.h"

namespace tpuslice::fleet_bench {

enum class EventKind : std::uint8_t {
  kJobArrives,            ///< Subject: the job.
  kJobEnds,               ///< Subject: the job; attempt: that which was started.
  kPodsGone,              ///< The pods of a job that was stopped are gone. Subject: the job; attempt: theirs.
  kMaintenanceAnnounced,  ///< Subject: the fault, as below.
  kFaultBegins,
  kFaultSeen,  ///< The API server shows it: nodes are not Ready, or no longer exist.
  kEviction,   ///< Kubernetes evicts the pods of nodes that are not Ready.
  kFaultEnds,
  kPlan,    ///< The policy has asked for a plan at this time.
  kSample,  ///< The hour is over.
};

struct Event {
  Timestamp at;
  EventKind kind = EventKind::kPlan;
  int subject = 0;
  int attempt = 0;
};

class EventQueue {
 public:
  void add(const Event& event) { events_.push({event, added_++}); }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  /// The queue is not empty, as for take().
  [[nodiscard]] Timestamp next_time() const { return events_.top().event.at; }
  Event take() {
    const Event event = events_.top().event;
    events_.pop();
    return event;
  }

 private:
  struct Entry {
    Event event;
    std::uint64_t number = 0;
  };
  struct IsLater {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.event.at != b.event.at ? a.event.at > b.event.at : a.number > b.number;
    }
  };

  std::priority_queue<Entry, std::vector<Entry>, IsLater> events_;
  std::uint64_t added_ = 0;
};

}  // namespace tpuslice::fleet_bench
