// JobController: runs the pods of Jobs, as kube-controller-manager does.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/cluster/due_keys.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_policies.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// The controller of all Jobs without spec.managedBy. Syncs a Job at once when its spec changed, and a second after its
/// pods or its status changed, so that many changes cause one write; retries with back-off when a write failed. Pods
/// without a controller owner are not adopted. Not thread-safe.
class JobController {
 public:
  explicit JobController(Registry& registry);

  bool step(Instant now);
  /// When the next Job is due.
  [[nodiscard]] std::optional<Instant> next_due() const { return queue_.next(); }

 private:
  struct Job {
    std::string uid;
    std::int64_t generation = 0;
    bool finished = false;  ///< Complete or Failed.
    bool foreign = false;   ///< Has another spec.managedBy.
    FailureStreak streak;   ///< Failures of its pods.
    int failed_syncs = 0;   ///< Consecutive syncs in which a write failed.
  };
  using Jobs = std::map<ObjectKey, Job>;

  void observe(const Change& change, Instant now);
  void observe_job(const Change& change, Instant now);
  void observe_pod(const Change& change, Instant now);
  /// Keeps the state of Jobs that still exist after a relist.
  void resume(Jobs before);
  void forget(Jobs::iterator job);
  void release_pods_of(const std::string& uid);
  bool release_orphans();
  [[nodiscard]] bool orphaned(const Json& pod) const;
  bool sync(const ObjectKey& key, Instant now);

  Registry& registry_;
  ChangeFeed feed_;
  Jobs jobs_;
  std::map<std::string, std::set<ObjectKey>> pods_;  ///< By the uid of the Job that controls them.
  DueKeys queue_;
  std::set<ObjectKey> suspects_;  ///< Pods that may have the finalizer but no Job.
};

}  // namespace tpuslice::sim
