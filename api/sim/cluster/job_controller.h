// JobController: runs the pods of Jobs, as kube-controller-manager does.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/sim/cluster/change_feed.h"
#include "api/sim/cluster/due_keys.h"
#include "api/sim/cluster/job_policies.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

/// Every Job that nobody else manages. Looks at a Job at once when its spec has changed, and a second after its pods or
/// its status have, so that many changes make one write; again with growing pauses when a write was refused. Pods that
/// nobody controls are not adopted. Not thread-safe.
class JobController {
 public:
  explicit JobController(Registry& registry);

  bool step(Instant now);
  /// When the next Job is to be looked at.
  [[nodiscard]] std::optional<Instant> next_due() const { return queue_.next(); }

 private:
  struct Job {
    std::string uid;
    std::int64_t generation = 0;
    bool over = false;     ///< Complete or Failed.
    bool foreign = false;  ///< Somebody else manages it.
    FailureStreak streak;  ///< Of its pods.
    int refusals = 0;      ///< Looks in a row in which a write was refused.
  };
  using Jobs = std::map<ObjectKey, Job>;

  void observe(const Change& change, Instant now);
  void observe_job(const Change& change, Instant now);
  void observe_pod(const Change& change, Instant now);
  /// What is remembered of Jobs that are still there goes over to the new list of them.
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
  std::set<ObjectKey> suspects_;  ///< Pods that may have a finalizer and no Job to take it away.
};

}  // namespace tpuslice::sim
