// Executor: the only part of a controller that writes. Carries out a Plan and reports each action.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/client/client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/parallel.h"
#include "controllers/runtime/plan.h"
#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/write_ledger.h"

namespace tpuslice::runtime {

/// The reconciled object as it was observed.
struct Target {
  ObjectReference object;
  ResourceType type;
  Json status;  ///< Null where it has none, or where no status is written.
};

enum class Outcome : std::uint8_t {
  kSkipped,  ///< Never sent: something before it failed, or we are stopping.
  kDone,
  kAdopted,  ///< A create that found its object there, controlled by the same owner.
  kGone,     ///< A delete that found nothing to delete.
  kFailed,
};

struct ActionReport {
  Outcome outcome = Outcome::kSkipped;
  std::optional<Error> error;  ///< Of kFailed.
  std::optional<Write> write;  ///< What the stores are going to show.
};

struct ExecutionReport {
  std::vector<std::vector<ActionReport>> stages;  ///< Same shape as the plan's.
  std::vector<Write> writes;                      ///< Of all actions and the status.
  bool status_written = false;
  std::optional<Error> error;  ///< Of the first action that failed, or of the status patch.
  std::optional<Failure>
      failure;  ///< The same for the next plan; absent for conflicts, which say nothing of the object.

  /// Whether `plan`, whose report this is, has actions on this object and all of them succeeded.
  [[nodiscard]] bool succeeded(const Plan& plan, const ObjectKey& key) const;
  [[nodiscard]] bool ok() const { return !error; }
  [[nodiscard]] std::size_t written() const { return writes.size(); }
};

struct ExecutorOptions {
  std::size_t max_in_flight = 16;  ///< Actions of one stage at a time.
};

/// Stages in order; within one, actions in parallel. A stage with creates starts slowly (1, 4, then up to max_in_flight
/// at a time), so that what is bound to fail (quota, admission) fails once and not a hundred times. After a failure
/// nothing more of the stage is started (unless its actions are independent), what is under way is waited for, and
/// later stages and the status are left to the next plan.
///
/// A create answered AlreadyExists is done if the object there has the same controller; so a create whose reply was
/// lost is repeated safely. Labels that it lacks are put on it: our watches select by them. A delete of what is gone,
/// or has another uid, is done.
///
/// Thread-safe.
class Executor {
 public:
  Executor(client::Reader& reader, client::Writer& writer, Parallel& parallel, EventSink& events,
           ExecutorOptions options = {});

  ExecutionReport apply(const Plan& plan, const Target& target, const std::stop_token& stop) const;
  /// Only the plan's status: how a failure becomes visible while the stages keep failing.
  ExecutionReport apply_status(const Plan& plan, const Target& target, const std::stop_token& stop) const;

 private:
  void run_stage(const Stage& stage, std::vector<ActionReport>& reports, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run(const Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_create(const Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_patch(const Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport run_delete(const Action& action, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport adopt(const Action& action, const Object& body, const std::stop_token& stop) const;
  [[nodiscard]] ActionReport take_over(const Action& action, const Object& body, const Object& existing,
                                       const std::stop_token& stop) const;
  void write_status(const StatusPatch& status, const Target& target, const std::stop_token& stop,
                    ExecutionReport& report) const;
  void emit(const Plan& plan, const Target& target, const ExecutionReport& report) const;

  client::Reader& reader_;
  client::Writer& writer_;
  Parallel& parallel_;
  EventSink& events_;
  const ExecutorOptions options_;
};

}  // namespace tpuslice::runtime
