// Executor: the only part of a controller that writes. Carries out a Plan and reports each action.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/base/exception_barrier.h"
#include "api/client/client.h"
#include "controllers/plan/plan.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/parallel.h"
#include "controllers/runtime/write_ledger.h"

namespace tpuslice::runtime {

/// Only a change of the object, or of what admits it, can resolve the error.
[[nodiscard]] bool is_terminal(const Error& error);

/// The reconciled object as it was observed.
struct Target {
  plan::ObjectReference object;
  ResourceType type;
  /// The status that was planned with; null if there is none. Absent: the kind has none.
  std::function<Json()> status;
};

enum class Outcome : std::uint8_t {
  kSkipped,  ///< Not sent: an earlier action failed, or the controller stops.
  kDone,
  kAdopted,   ///< A create whose object existed with the same controller owner; of a Secret with a random token, any.
  kNotFound,  ///< A delete whose object did not exist.
  kFailed,
};

struct ActionReport {
  Outcome outcome = Outcome::kSkipped;
  std::optional<Error> error;  ///< The error of kFailed.
  std::optional<Write> write;  ///< For the write ledger.
  std::size_t bytes = 0;       ///< Size of the body of a create, approximately.
};

/// What became of the actions that share `events`.
struct EventsReport {
  std::shared_ptr<const plan::ActionEvents> events;
  bool began = false;     ///< One of them succeeded.
  bool succeeded = true;  ///< All of them did.
  /// The first that is neither a conflict nor a cancellation, of those that are not best effort.
  std::optional<Error> error;
};

struct ExecutionReport {
  std::vector<std::vector<ActionReport>> stages;  ///< One entry for each action, as in the plan.
  std::vector<Write> writes;                      ///< Writes of all actions and of the status.
  bool status_written = false;
  /// Error of the actions, or of the status patch; of several the one that should be retried first.
  std::optional<Error> error;
  /// Failure of the first action that failed. Input of the next plan; absent for conflicts, which do not depend on the
  /// object.
  std::optional<plan::Failure> failure;

  /// One entry for each of the events of the plan's actions, in the order of the actions.
  [[nodiscard]] std::vector<EventsReport> events(const plan::Plan& plan) const;
  [[nodiscard]] bool ok() const { return !error; }
  /// A conflict or a cancellation has ended the plan. What belongs to the whole plan is reported by the next one, which
  /// has it again.
  [[nodiscard]] bool cut_short() const;
  [[nodiscard]] std::size_t written() const { return writes.size(); }
};

struct ExecutorOptions {
  std::size_t max_in_flight = 16;  ///< Actions of one stage at a time.
  /// Bodies of creates of one stage at a time, in bytes; at least one. Each is in memory several times.
  std::size_t max_bytes_in_flight = 2U << 20U;
};

/// Runs stages in order and the actions of a stage in parallel. A stage with creates starts slowly (1, 4, then up to
/// max_in_flight at a time), so that an error that affects all of them (quota, admission) is met once and not a hundred
/// times. After a failure no more actions of the stage are started (unless they are independent, or the name of an
/// object to create is taken), started ones are waited for, and later stages and the status are left to the next plan.
///
/// A create that fails with AlreadyExists succeeds if the existing object has the same controller owner, so that a
/// create whose reply was lost can be repeated. Missing labels are added to that object, since watches select by them.
/// A Secret with a random token is created only if there is none of its name; it needs no permission to read Secrets.
/// A delete of an object that does not exist or has another uid succeeds. A status patch that replaces a list is a
/// Conflict if the object has changed since it was observed, other than by the plan's own writes.
///
/// Thread-safe.
class Executor {
 public:
  Executor(client::Reader& reader, client::Writer& writer, Parallel& parallel, EventSink& events,
           const ExceptionBarrier& barrier, ExecutorOptions options = {});

  // NOLINTNEXTLINE(modernize-use-nodiscard): called for what it writes
  ExecutionReport apply(const plan::Plan& plan, const Target& target, const std::stop_token& stop) const;
  /// Writes only the plan's status, to report a failure while stages keep failing.
  // NOLINTNEXTLINE(modernize-use-nodiscard)
  ExecutionReport apply_status(const plan::Plan& plan, const Target& target, const std::stop_token& stop) const;

 private:
  void run_stage(const plan::Stage& stage, std::vector<ActionReport>& reports, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run(const plan::Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_kind(const plan::Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_create(const plan::Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_patch(const plan::Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_delete(const plan::Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport adopt(const plan::Action& action, const Object& body, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport take_over(const plan::Action& action, const Object& body, const Object& existing,
                                       const std::stop_token& stop) const;
  void write_status(const plan::StatusPatch& status, const Target& target, const std::stop_token& stop,
                    ExecutionReport& report) const;
  void emit(const plan::Plan& plan, const Target& target, const ExecutionReport& report) const;

  client::Reader& reader_;
  client::Writer& writer_;
  Parallel& parallel_;
  EventSink& events_;
  const ExceptionBarrier& barrier_;
  const ExecutorOptions options_;
};

}  // namespace tpuslice::runtime
