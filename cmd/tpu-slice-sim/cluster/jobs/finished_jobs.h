// FinishedJobs: deletes finished Jobs after spec.ttlSecondsAfterFinished.
#pragma once

#include <optional>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/cluster/due_keys.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Foreground deletion, as by the TTL controller of kube-controller-manager. Not
/// thread-safe.
class FinishedJobs {
 public:
  explicit FinishedJobs(Registry& registry);

  bool step(Instant now);
  [[nodiscard]] std::optional<Instant> next_due() const { return queue_.next(); }

 private:
  void plan(const ObjectKey& key, const Json& job, Instant now);
  bool remove(const ObjectKey& key, Instant now);

  Registry& registry_;
  ChangeFeed feed_;
  DueKeys queue_;
};

}  // namespace tpuslice::sim
