// JobSetInvariants: checks every change of JobSets, Jobs and pods for violations.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/types/json.h"
#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"

namespace tpuslice::testing {

inline constexpr const char* kJobSetKind = "jobsets.jobset.x-k8s.io";
inline constexpr const char* kJobKind = "jobs.batch";

/// - A slice has at most one live pod without gate for each completion index. Gated pods do not count: the Job
///   controller replaces terminating pods at once, but the slice controllers release a replacement only when its
///   predecessor is deleted.
/// - A JobSet has at most one Job for each job index; with BlockingRecreate, Jobs of one restart attempt only.
/// - Restarts increase by one, after a Job of that attempt failed (or has FailureTarget, if the JobSet restarts then),
///   and counted restarts do not exceed maxRestarts.
/// - A terminal JobSet stays terminal.
class JobSetInvariants {
 public:
  explicit JobSetInvariants(sim::Storage& storage)
      : feed_(storage, std::vector<std::string>{"pods", kJobKind, kJobSetKind}) {}

  /// Violations since the last call.
  std::vector<std::string> check() {
    const sim::ChangeFeed::Batch batch = feed_.take();
    if (batch.relisted) {
      live_.clear();
      jobs_.clear();
    }
    for (const sim::Change& change : batch.changes) {
      const std::size_t before = violations_.size();
      if (change.resource == "pods") {
        observe_pod(change);
      } else if (change.resource == kJobKind) {
        observe_job(change);
      } else {
        observe_jobset(change);
      }
      for (std::size_t i = before; i < violations_.size(); ++i) {
        violations_[i] = fmt::format("revision {}: {}", change.revision, violations_[i]);
      }
    }
    return std::exchange(violations_, {});
  }

  /// Number of observed restarts of all JobSets.
  [[nodiscard]] int restarts() const { return restarts_; }

  /// The slice of a pod; empty for a pod without slice.
  static std::string slice_of(const Json& pod) {
    const std::string slice = string_at(pod, {"metadata", "labels", "tpuslice.dev/slice"});
    return slice.empty() ? slice : string_at(pod, {"metadata", "namespace"}) + "/" + slice;
  }
  static std::string index_of(const Json& pod) {
    return string_at(pod, {"metadata", "labels", "batch.kubernetes.io/job-completion-index"});
  }
  static bool is_gated(const Json& pod) { return !array_at(pod, {"spec", "schedulingGates"}).empty(); }
  static bool is_terminal(const Json& pod) {
    const std::string phase = string_at(pod, {"status", "phase"});
    return phase == "Failed" || phase == "Succeeded";
  }

 private:
  /// What is kept of a Job.
  struct JobState {
    std::string index;  ///< Replicated job and job index.
    int attempt = 0;
  };
  struct JobSetState {
    int restarts = 0;
    std::string terminal_state;
    bool blocking = false;
    bool at_failure_target = false;
    std::set<int> failed;  ///< Restart attempts with failed Jobs.
  };

  static std::string label_of(const Json& job, const char* name) {
    return string_at(job, {"metadata", "labels", std::string("jobset.sigs.k8s.io/") + name});
  }

  void observe_pod(const sim::Change& change) {
    const Json& pod = *change.object;
    const std::string slice = slice_of(pod);
    if (slice.empty()) return;
    std::set<std::string>& live = live_[slice + " " + index_of(pod)];
    const std::string uid = string_at(pod, {"metadata", "uid"});
    if (change.type == sim::ChangeType::kDeleted || is_terminal(pod) || is_gated(pod)) {
      live.erase(uid);
    } else if (live.insert(uid).second && live.size() > 1) {
      violations_.push_back(fmt::format("{} live pods are host {} of slice {}", live.size(), index_of(pod), slice));
    }
  }

  void observe_job(const sim::Change& change) {
    const Json& job = *change.object;
    const std::string set = label_of(job, "jobset-uid");
    if (set.empty()) return;
    const std::string name = string_at(job, {"metadata", "name"});
    if (change.type == sim::ChangeType::kDeleted) {
      jobs_[set].erase(name);
      return;
    }
    const JobState state{label_of(job, "replicatedjob-name") + "/" + label_of(job, "job-index"),
                         std::stoi(label_of(job, "restart-attempt"))};
    const bool will_fail = sets_[set].at_failure_target && sim::condition_status(job, "FailureTarget") == "True";
    if (will_fail || sim::condition_status(job, "Failed") == "True") sets_[set].failed.insert(state.attempt);
    if (change.type == sim::ChangeType::kAdded) {
      for (const auto& [other, existing] : jobs_[set]) {
        if (other == name) continue;
        if (existing.index == state.index)
          violations_.push_back(fmt::format("jobs {} and {} have the same job index", name, other));
        if (sets_[set].blocking && existing.attempt != state.attempt) {
          violations_.push_back(fmt::format("job {} of attempt {} is created while {} of attempt {} exists", name,
                                            state.attempt, other, existing.attempt));
        }
      }
    }
    jobs_[set][name] = state;
  }

  void observe_jobset(const sim::Change& change) {
    const Json& jobset = *change.object;
    const std::string name = string_at(jobset, {"metadata", "name"});
    JobSetState& set = sets_[string_at(jobset, {"metadata", "uid"})];
    set.blocking = string_at(jobset, {"spec", "failurePolicy", "restartStrategy"}) == "BlockingRecreate";
    set.at_failure_target =
        string_at(jobset, {"metadata", "annotations", "tpuslice.dev/restart-at"}) == "FailureTarget";
    const int restarts = static_cast<int>(int_at(jobset, {"status", "restarts"}));
    if (restarts != set.restarts) {
      ++restarts_;
      if (restarts != set.restarts + 1) {
        violations_.push_back(fmt::format("jobset {} changes from {} restarts to {}", name, set.restarts, restarts));
      }
      if (!set.failed.contains(set.restarts)) {
        violations_.push_back(fmt::format("jobset {} restarts without a failed job of attempt {}", name, set.restarts));
      }
    }
    if (int_at(jobset, {"status", "restartsCountTowardsMax"}) >
        int_at(jobset, {"spec", "failurePolicy", "maxRestarts"})) {
      violations_.push_back(fmt::format("jobset {} exceeds its maxRestarts", name));
    }
    const std::string terminal_state = string_at(jobset, {"status", "terminalState"});
    if (!set.terminal_state.empty() && terminal_state != set.terminal_state) {
      violations_.push_back(
          fmt::format("jobset {} changes its terminal state from {} to {}", name, set.terminal_state, terminal_state));
    }
    set.restarts = restarts;
    set.terminal_state = terminal_state;
  }

  sim::ChangeFeed feed_;
  std::map<std::string, std::set<std::string>> live_;            ///< Uids, by slice and index.
  std::map<std::string, std::map<std::string, JobState>> jobs_;  ///< By uid of the JobSet, then name.
  std::map<std::string, JobSetState> sets_;                      ///< By uid.
  int restarts_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace tpuslice::testing
