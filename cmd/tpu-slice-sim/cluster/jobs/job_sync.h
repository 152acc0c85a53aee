// JobSync: one sync of one Job: creates or deletes pods, counts finished ones and writes the status.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/jobs/job_indexes.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_pods.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_policies.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_status.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

struct JobOutcome {
  bool wrote = false;
  bool failed = false;                         ///< A write failed: retry with back-off.
  std::optional<Duration> requeue_after = {};  ///< When a sync is due without a change.
};

/// Removes kJobFinalizer from the pod. True if the pod no longer has it or does not exist.
bool release_job_pod(Registry& registry, const Json& pod);

/// One sync of a Job; an object is used once.
///
/// A finished pod is counted in three writes, so that a crash between any of them neither loses it nor
/// counts it twice: its uid is added to status.uncountedTerminatedPods, its finalizer is removed, and the uid is
/// replaced by a count.
class JobSync {
 public:
  /// `pods`: all pods that `job` controls. `streak`: their failures, kept by the controller.
  JobSync(Registry& registry, const JsonPtr& job, std::vector<JsonPtr> pods, FailureStreak& streak);

  JobOutcome run();

 private:
  // Observation.
  void count();
  void count_indexes();
  [[nodiscard]] bool valid(const Json& pod) const;
  [[nodiscard]] bool index_failed(const Json& pod) const;
  /// Failed pods of Jobs with backoffLimitPerIndex that stay until their replacement has taken over their failure
  /// count.
  void find_predecessors();
  [[nodiscard]] std::int64_t spec_int(std::string_view field, std::int64_t fallback = 0) const;
  [[nodiscard]] bool suspended() const { return bool_at(job_, {"spec", "suspend"}); }
  [[nodiscard]] bool per_index() const;

  // Result.
  [[nodiscard]] std::optional<JobResult> find_result();
  [[nodiscard]] std::optional<JobResult> result_of_limits();
  [[nodiscard]] std::optional<JobResult> result_of_indexes() const;
  [[nodiscard]] bool too_many_restarts() const;
  [[nodiscard]] bool complete() const;
  void set_suspended_condition();
  void requeue_after(Duration time);

  // Pods; in job_scaling.cpp.
  void manage();
  [[nodiscard]] std::int64_t desired_pods() const;
  void create(std::int64_t missing);
  [[nodiscard]] std::vector<int> indexes_to_create(std::int64_t missing);
  bool create_one(std::optional<int> index);
  bool remove(const JsonPtr& pod);
  void remove_and_release(const std::vector<JsonPtr>& pods);
  void remove_active();

  // Status; in job_tracking.cpp.
  bool track();
  [[nodiscard]] bool releasable(const Json& pod) const;
  [[nodiscard]] std::vector<JsonPtr> collect();
  void collect_failed(const Json& pod);
  void count_uncounted();
  void write_counts();
  bool flush();
  void finish();
  void add_event(const char* type, const std::string& reason, const std::string& message);

  Registry& registry_;
  const Timestamp now_;
  Json job_;
  Json written_;               ///< The stored status.
  std::vector<JsonPtr> pods_;  ///< By index, then by name.
  FailureStreak& streak_;
  JobOutcome outcome_;

  std::vector<JsonPtr> active_pods_;
  std::int64_t active_ = 0;
  std::int64_t ready_ = 0;
  std::int64_t terminating_ = 0;
  std::int64_t succeeded_ = 0;
  std::int64_t failed_ = 0;
  IndexSet succeeded_indexes_;
  IndexSet failed_indexes_;
  std::map<int, JsonPtr> predecessors_;  ///< By index.
  std::optional<JobResult> result_;
  bool managed_ = false;

  std::set<std::string> held_;                    ///< Uids of pods with the finalizer.
  std::vector<std::string> uncounted_succeeded_;  ///< Uids.
  std::vector<std::string> uncounted_failed_;
  bool more_to_count_ = false;
};

}  // namespace tpuslice::sim
