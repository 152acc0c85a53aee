// JobSync: one look at one Job: makes or deletes pods, counts those that ended, and says in its status where it stands.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/sim/cluster/job_indexes.h"
#include "api/sim/cluster/job_pods.h"
#include "api/sim/cluster/job_policies.h"
#include "api/sim/cluster/job_status.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

struct JobOutcome {
  bool wrote = false;
  bool refused = false;                ///< The API server refused a write: to be tried again, with back-off.
  std::optional<Duration> again = {};  ///< When time alone will change something.
};

/// Takes kJobFinalizer from the pod. True if it has none any more, also because it is gone.
bool release_job_pod(Registry& registry, const Json& pod);

/// For one use.
///
/// A pod that ended is counted in three writes, so that a controller that dies between any of them neither forgets nor
/// counts it twice: its uid goes to status.uncountedTerminatedPods, it loses its finalizer, and the uid becomes a
/// number.
class JobSync {
 public:
  /// `pods` are all that `job` controls. `streak` is what the controller remembers of their failures.
  JobSync(Registry& registry, const JsonPtr& job, std::vector<JsonPtr> pods, FailureStreak& streak);

  JobOutcome run();

 private:
  // What there is.
  void count();
  void count_indexes();
  [[nodiscard]] bool valid(const Json& pod) const;
  [[nodiscard]] bool index_failed(const Json& pod) const;
  /// Pods with backoffLimitPerIndex that stay until they are replaced: the new one takes over their number of failures.
  void find_predecessors();
  [[nodiscard]] std::int64_t spec_int(std::string_view field, std::int64_t fallback = 0) const;
  [[nodiscard]] bool suspended() const { return bool_at(job_, {"spec", "suspend"}); }
  [[nodiscard]] bool per_index() const;

  // What is to become of it.
  [[nodiscard]] std::optional<JobVerdict> judge();
  [[nodiscard]] std::optional<JobVerdict> judge_limits();
  [[nodiscard]] std::optional<JobVerdict> judge_indexes() const;
  [[nodiscard]] bool too_many_restarts() const;
  [[nodiscard]] bool complete() const;
  void note_suspension();
  void wait_for(Duration time);

  // Pods; in job_scaling.cpp.
  void manage();
  [[nodiscard]] std::int64_t wanted() const;
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
  void settle_uncounted();
  void write_counts();
  bool flush();
  void finish();
  void tell(const char* type, const std::string& reason, const std::string& message);

  Registry& registry_;
  const Timestamp now_;
  Json job_;
  Json written_;               ///< The status, as the API server has it.
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
  std::optional<JobVerdict> verdict_;
  bool managed_ = false;

  std::set<std::string> held_;                    ///< Uids of pods with the finalizer.
  std::vector<std::string> uncounted_succeeded_;  ///< Uids.
  std::vector<std::string> uncounted_failed_;
  bool more_to_count_ = false;
};

}  // namespace tpuslice::sim
