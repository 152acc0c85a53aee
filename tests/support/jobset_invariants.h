// JobSetInvariants: reads the whole history of JobSets, Jobs and pods and holds it against what must never happen.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/sim/cluster/change_feed.h"
#include "api/sim/cluster/conditions.h"
#include "api/types/json.h"

namespace tpuslice::testing {

inline constexpr const char* kJobSetKind = "jobsets.jobset.x-k8s.io";
inline constexpr const char* kJobKind = "jobs.batch";

/// - Never two live pods without a gate with one completion index in one slice. Those with a gate do not count: the Job
///   controller replaces a pod as soon as it is told to end, but what it creates then has no node and runs nothing, and
///   the slice controller lets it go only when its predecessors are gone.
/// - Never two Jobs in one place of a JobSet; with BlockingRecreate, never Jobs of two attempts.
/// - Restarts go up by one at a time, each time after a Job of that very attempt has failed (or is bound to, where the
///   JobSet says so), and counted ones never exceed maxRestarts.
/// - A JobSet that has ended stays so.
class JobSetInvariants {
 public:
  explicit JobSetInvariants(sim::Storage& storage)
      : feed_(storage, std::vector<std::string>{"pods", kJobKind, kJobSetKind}) {}

  /// What was broken since the last call; empty if nothing.
  std::vector<std::string> check() {
    const sim::ChangeFeed::Batch batch = feed_.take();
    if (batch.relisted) {
      live_.clear();
      jobs_.clear();
    }
    for (const sim::Change& change : batch.changes) {
      const std::size_t known = broken_.size();
      if (change.resource == "pods") {
        see_pod(change);
      } else if (change.resource == kJobKind) {
        see_job(change);
      } else {
        see_jobset(change);
      }
      for (std::size_t i = known; i < broken_.size(); ++i) {
        broken_[i] = fmt::format("revision {}: {}", change.revision, broken_[i]);
      }
    }
    return std::exchange(broken_, {});
  }

  /// Restarts that were seen, of all JobSets.
  [[nodiscard]] int restarts() const { return restarts_seen_; }

  /// The slice of a pod; empty for those that are in none.
  static std::string slice_of(const Json& pod) {
    const std::string slice = string_at(pod, {"metadata", "labels", "tpuslice.dev/slice"});
    return slice.empty() ? slice : string_at(pod, {"metadata", "namespace"}) + "/" + slice;
  }
  static std::string index_of(const Json& pod) {
    return string_at(pod, {"metadata", "labels", "batch.kubernetes.io/job-completion-index"});
  }
  static bool is_gated(const Json& pod) { return !array_at(pod, {"spec", "schedulingGates"}).empty(); }
  static bool has_ended(const Json& pod) {
    const std::string phase = string_at(pod, {"status", "phase"});
    return phase == "Failed" || phase == "Succeeded";
  }

 private:
  /// A Job, as far as it matters here.
  struct Member {
    std::string place;  ///< Which of which JobSet.
    int attempt = 0;
  };
  struct Set {
    int restarts = 0;
    std::string ended;
    bool blocking = false;
    bool at_failure_target = false;
    std::set<int> failed;  ///< Attempts of which Jobs have failed.
  };

  static std::string mark_of(const Json& job, const char* name) {
    return string_at(job, {"metadata", "labels", std::string("jobset.sigs.k8s.io/") + name});
  }

  void see_pod(const sim::Change& change) {
    const Json& pod = *change.object;
    const std::string slice = slice_of(pod);
    if (slice.empty()) return;
    std::set<std::string>& live = live_[slice + " " + index_of(pod)];
    const std::string uid = string_at(pod, {"metadata", "uid"});
    if (change.type == sim::ChangeType::kDeleted || has_ended(pod) || is_gated(pod)) {
      live.erase(uid);
    } else if (live.insert(uid).second && live.size() > 1) {
      broken_.push_back(fmt::format("{} live pods are host {} of slice {}", live.size(), index_of(pod), slice));
    }
  }

  void see_job(const sim::Change& change) {
    const Json& job = *change.object;
    const std::string set = mark_of(job, "jobset-uid");
    if (set.empty()) return;
    const std::string name = string_at(job, {"metadata", "name"});
    if (change.type == sim::ChangeType::kDeleted) {
      jobs_[set].erase(name);
      return;
    }
    const Member member{mark_of(job, "replicatedjob-name") + "/" + mark_of(job, "job-index"),
                        std::stoi(mark_of(job, "restart-attempt"))};
    const bool bound_to = sets_[set].at_failure_target && sim::condition_status(job, "FailureTarget") == "True";
    if (bound_to || sim::condition_status(job, "Failed") == "True") sets_[set].failed.insert(member.attempt);
    if (change.type == sim::ChangeType::kAdded) {
      for (const auto& [other, beside] : jobs_[set]) {
        if (other == name) continue;
        if (beside.place == member.place) broken_.push_back(fmt::format("jobs {} and {} have one place", name, other));
        if (sets_[set].blocking && beside.attempt != member.attempt) {
          broken_.push_back(fmt::format("job {} of attempt {} is created beside {} of attempt {}", name, member.attempt,
                                        other, beside.attempt));
        }
      }
    }
    jobs_[set][name] = member;
  }

  void see_jobset(const sim::Change& change) {
    const Json& jobset = *change.object;
    const std::string name = string_at(jobset, {"metadata", "name"});
    Set& set = sets_[string_at(jobset, {"metadata", "uid"})];
    set.blocking = string_at(jobset, {"spec", "failurePolicy", "restartStrategy"}) == "BlockingRecreate";
    set.at_failure_target =
        string_at(jobset, {"metadata", "annotations", "tpuslice.dev/restart-at"}) == "FailureTarget";
    const int restarts = static_cast<int>(int_at(jobset, {"status", "restarts"}));
    if (restarts != set.restarts) {
      ++restarts_seen_;
      if (restarts != set.restarts + 1) {
        broken_.push_back(fmt::format("jobset {} goes from {} restarts to {}", name, set.restarts, restarts));
      }
      if (!set.failed.contains(set.restarts)) {
        broken_.push_back(fmt::format("jobset {} restarts, but no job of attempt {} failed", name, set.restarts));
      }
    }
    if (int_at(jobset, {"status", "restartsCountTowardsMax"}) >
        int_at(jobset, {"spec", "failurePolicy", "maxRestarts"})) {
      broken_.push_back(fmt::format("jobset {} restarted more often than its policy allows", name));
    }
    const std::string ended = string_at(jobset, {"status", "terminalState"});
    if (!set.ended.empty() && ended != set.ended) {
      broken_.push_back(fmt::format("jobset {} was {} and is {}", name, set.ended, ended));
    }
    set.restarts = restarts;
    set.ended = ended;
  }

  sim::ChangeFeed feed_;
  std::map<std::string, std::set<std::string>> live_;          ///< Uids, by slice and index.
  std::map<std::string, std::map<std::string, Member>> jobs_;  ///< By uid of the JobSet, then name.
  std::map<std::string, Set> sets_;                            ///< By uid.
  int restarts_seen_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace tpuslice::testing
