// WorkloadClient: sends the requests of plans to servers in the pods of workloads, or asks the API server for events
// about their children, and keeps the answers.
//
// These servers run code of users: they may be slow, gone, or answer anything. So they have threads of their own, a
// share of them for each namespace, and what is kept of an answer is what the plan's reader returns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/base/exception_barrier.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/client/client.h"
#include "api/http/transport.h"
#include "controllers/plan/workload_request.h"
#include "controllers/runtime/work_queue.h"

namespace tpuslice::runtime {

/// Sends one request to `address` ("10.0.1.7:8265") and waits for the response. Thread-safe.
/// Errors: as http::Transport::call.
using SendToWorkload = std::function<Result<http::Response>(const std::string& address, const http::Request& request,
                                                            Duration deadline, const std::stop_token& stop)>;

/// Sends over plain HTTP. Redirects are not followed. `override_address`: connects to this address instead of that of
/// the request, for operators that cannot reach pods; empty: no override.
///
/// Errors: InvalidArgument for loopback and link-local addresses, which are not those of a pod.
[[nodiscard]] SendToWorkload send_over_network(std::string override_address = {});

struct WorkloadClientOptions {
  int workers = 16;                                  ///< Requests in flight.
  int per_namespace = 4;                             ///< Requests in flight per namespace.
  Duration timeout = std::chrono::seconds(5);        ///< Timeout of one request.
  Duration max_interval = std::chrono::seconds(30);  ///< Limit for repeated requests that fail, whose interval doubles.
  std::size_t max_requests = 32;                     ///< Maximum of one object; more are not sent.
  /// Asked right before a request other than a GET is sent for this controller, as of http::Request. False: it is
  /// dropped. A leader that was paused for longer than its lease must not send what it had queued. Null: always true.
  std::function<bool(const std::string& controller)> may_send = {};
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
  /// `reader` is for the Secrets with tokens, and for events. All references outlive it. `send` may be null until
  /// send_with() is called, if plans ask for events only.
  WorkloadClient(SendToWorkload send, client::Reader& reader, const Clock& clock, Metrics& metrics,
                 WorkloadClientOptions options = {}, Logger log = {});

  /// Sends with `send` from now on, if there was none. Before the first step().
  void send_with(SendToWorkload send) {
    if (send_ == nullptr) send_ = std::move(send);
  }

  /// Called after an answer that differs from the one before, without a lock held. Before the first step().
  void on_answer(const std::string& controller, std::function<void(const ObjectKey&)> listener);

  /// Replaces the requests of the object: those that it had keep their schedule and answer, new ones are due now.
  void set(const WorkloadOwner& owner, const std::vector<plan::WorkloadRequest>& requests) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] plan::WorkloadAnswers answers(const WorkloadOwner& owner) const TPUSLICE_EXCLUDES(mutex_);
  /// Removes the requests and answers of all objects of the controller.
  void forget(const std::string& controller) TPUSLICE_EXCLUDES(mutex_);

  /// Sends at most one request, and waits for its answer. False if none was due.
  bool step(Instant now, const std::stop_token& stop);
  [[nodiscard]] Instant next_due() const { return queue_.next_due(); }
  /// One worker, until `stop`.
  void run(const std::stop_token& stop);
  [[nodiscard]] int workers() const { return options_.workers; }

 private:
  struct Slot {
    WorkloadOwner owner;
    std::shared_ptr<const plan::WorkloadRequest> request;
    std::optional<Instant> due;  ///< When to send the request; absent: it was sent, or is under way.
    int failures = 0;            ///< In a row.
    /// Key in waiting_, while the slot waits for others of its namespace.
    std::optional<std::uint64_t> ticket;
    std::shared_ptr<const plan::WorkloadAnswer> answer;
  };
  struct Job {
    WorkloadOwner owner;
    std::shared_ptr<const plan::WorkloadRequest> request;
  };

  /// The request of the slot, if it is due and its namespace may send another.
  [[nodiscard]] std::optional<Job> take(const ObjectKey& slot) TPUSLICE_EXCLUDES(mutex_);
  void send(const ObjectKey& slot, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  void erase_locked(const ObjectKey& slot) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] bool may_send_locked(const std::string& namespace_name) const TPUSLICE_REQUIRES(mutex_);
  void stop_waiting_locked(const ObjectKey& slot, Slot& state) TPUSLICE_REQUIRES(mutex_);
  /// Queues the slot that has waited longest, if the namespace may send another.
  void wake_next_locked(const std::string& namespace_name) TPUSLICE_REQUIRES(mutex_);
  void release_namespace_locked(const std::string& name) TPUSLICE_REQUIRES(mutex_);
  /// Nothing if the request may no longer be sent.
  [[nodiscard]] std::optional<plan::WorkloadAnswer> ask(const Job& job, const std::stop_token& stop) const;
  /// Sends the request as `message` and reads the answer into `out`. Errors: Cancelled if it may no longer be sent.
  [[nodiscard]] Status exchange(const Job& job, http::Request& message, plan::WorkloadAnswer& out,
                                const std::stop_token& stop) const;
  [[nodiscard]] Result<std::string> token(const std::string& namespace_name, const plan::TokenSource& source,
                                          const std::stop_token& stop) const;
  /// True if the answer is news for the planner.
  bool store_locked(const ObjectKey& slot, plan::WorkloadAnswer answer) TPUSLICE_REQUIRES(mutex_);
  /// The counter of requests with this result.
  Counter& requests(const std::string& controller, std::string_view result) const;

  SendToWorkload send_;
  client::Reader& reader_;
  const Clock& clock_;
  Metrics& metrics_;
  const WorkloadClientOptions options_;
  const ExceptionBarrier barrier_;
  std::map<std::string, std::function<void(const ObjectKey&)>, std::less<>> listeners_;
  WorkQueue queue_;  ///< Slots that may be due.

  mutable Mutex mutex_;
  std::map<WorkloadOwner, std::vector<std::string>> owners_ TPUSLICE_GUARDED_BY(mutex_);  ///< Names of their requests.
  /// A slot is a name of a request of an owner. Its key is in the owner's namespace.
  std::unordered_map<ObjectKey, Slot> slots_ TPUSLICE_GUARDED_BY(mutex_);
  std::map<std::string, int> in_flight_ TPUSLICE_GUARDED_BY(mutex_);  ///< By namespace.
  /// Slots that wait for others of their namespace, by namespace, in order.
  std::map<std::string, std::map<std::uint64_t, ObjectKey>> waiting_ TPUSLICE_GUARDED_BY(mutex_);
  std::uint64_t next_ticket_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice::runtime
