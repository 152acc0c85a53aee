// WorkloadClient: sends the requests of plans to servers in the pods of workloads, and keeps the answers.
//
// These servers run code of users: they may be slow, gone, or answer anything. So they have threads of their own, a
// share of them for each namespace, and what is kept of an answer is what the plan's reader returns.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/base/random.h"
#include "api/client/client.h"
#include "api/http/transport.h"
#include "controllers/plan/workload_request.h"

namespace tpuslice::runtime {

/// Sends one request to `address` ("10.0.1.7:8265") and waits for the response. Thread-safe.
/// Errors: as http::Transport::call.
using SendToWorkload = std::function<Result<http::Response>(const std::string& address, const http::Request& request,
                                                            Duration deadline, const std::stop_token& stop)>;

/// Over plain HTTP. Redirects are not followed. `override_address`: connects to this address instead of that of the
/// request, for operators that cannot reach pods; empty: no override.
///
/// Errors: InvalidArgument for loopback and link-local addresses, which are not those of a pod.
[[nodiscard]] SendToWorkload send_over_network(std::string override_address = {});

struct WorkloadClientOptions {
  int workers = 16;                                  ///< Requests under way at a time,
  int per_namespace = 4;                             ///< and of one namespace.
  Duration timeout = std::chrono::seconds(5);        ///< Of one request.
  Duration max_interval = std::chrono::seconds(30);  ///< Of repeated requests that fail, whose interval doubles.
  std::size_t max_requests = 32;                     ///< Of one object; more are not sent.
};

/// An object of a kind.
struct WorkloadOwner {
  std::string controller;  ///< "rayjob"
  ObjectKey key;
  friend auto operator<=>(const WorkloadOwner&, const WorkloadOwner&) = default;
};

/// Thread-safe.
class WorkloadClient {
 public:
  /// `reader` is for the Secrets with tokens. All references outlive it.
  WorkloadClient(SendToWorkload send, client::Reader& reader, const Clock& clock, Metrics& metrics,
                 WorkloadClientOptions options = {});

  /// Called after an answer that differs from the one before, without a lock held. Before the first step().
  void on_answer(const std::string& controller, std::function<void(const ObjectKey&)> listener);

  /// Replaces the requests of the object: those that it had keep their schedule and answer, new ones are due now.
  void set(const WorkloadOwner& owner, const std::vector<plan::WorkloadRequest>& requests) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] plan::WorkloadAnswers answers(const WorkloadOwner& owner) const TPUSLICE_EXCLUDES(mutex_);

  /// Sends one request, if one is due, and waits for its answer. False if none was due.
  bool step(Instant now, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] Instant next_due() const TPUSLICE_EXCLUDES(mutex_);
  /// One worker, until `stop`.
  void run(const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] int workers() const { return options_.workers; }

 private:
  using SlotId = std::pair<WorkloadOwner, std::string>;  ///< Owner and name of the request.
  struct Slot {
    std::shared_ptr<const plan::WorkloadRequest> request;
    std::optional<Instant> due;  ///< Its place in the schedule; absent: none.
    bool in_flight = false;
    bool waiting = false;  ///< In waiting_.
    int failures = 0;      ///< In a row.
    std::shared_ptr<const plan::WorkloadAnswer> answer;
  };
  using Slots = std::map<std::string, Slot, std::less<>>;

  [[nodiscard]] std::optional<SlotId> take_locked(Instant now) TPUSLICE_REQUIRES(mutex_);
  void schedule_locked(const SlotId& id, Slot& slot, Instant due) TPUSLICE_REQUIRES(mutex_);
  void unschedule_locked(const SlotId& id, Slot& slot) TPUSLICE_REQUIRES(mutex_);
  void release_namespace_locked(const std::string& name, Instant now) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] Slot* find_locked(const SlotId& id) TPUSLICE_REQUIRES(mutex_);
  void send(const SlotId& id, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] plan::WorkloadAnswer ask(const WorkloadOwner& owner, const plan::WorkloadRequest& request,
                                         const std::stop_token& stop) const;
  [[nodiscard]] Result<std::string> token(const std::string& namespace_name, const plan::TokenSource& source,
                                          const std::stop_token& stop) const;
  /// True if the answer is news for the planner.
  bool store_locked(const SlotId& id, plan::WorkloadAnswer answer, Instant now) TPUSLICE_REQUIRES(mutex_);
  void count(const WorkloadOwner& owner, const plan::WorkloadAnswer& answer) const;

  const SendToWorkload send_;
  client::Reader& reader_;
  const Clock& clock_;
  Metrics& metrics_;
  const WorkloadClientOptions options_;
  std::map<std::string, std::function<void(const ObjectKey&)>, std::less<>> listeners_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::map<WorkloadOwner, Slots> owners_ TPUSLICE_GUARDED_BY(mutex_);
  std::set<std::pair<Instant, SlotId>> schedule_ TPUSLICE_GUARDED_BY(mutex_);
  std::map<std::string, int> in_flight_ TPUSLICE_GUARDED_BY(mutex_);               ///< By namespace.
  std::map<std::string, std::deque<SlotId>> waiting_ TPUSLICE_GUARDED_BY(mutex_);  ///< For their namespace's share.
};

}  // namespace tpuslice::runtime
