// The pod template of a leader set that no rollout changes: whether another client has changed it.
#pragma once

#include <string>

#include "api/types/views.h"

namespace tpuslice::leaderworkerset {

/// What to do about the template of the live leader set. Changing it restarts pods, so a template that has never been
/// as this program writes it stays: that of another manager or an earlier version, or one that an admission webhook
/// completes. The annotation kLeaderTemplate says which template the leader set has had as it was written.
struct LeaderTemplateDecision {
  Json patch = {};            ///< Merge patch of the template, which another client has changed; null for nothing.
  std::string recorded = {};  ///< The annotation from now on; empty for none.
  /// What the patch restores: "metadata.labels, spec.containers"; empty without one.
  std::string restored = {};
};

/// `desired`: the leader set as it is to be, with the revision that `live` has. Only what is in `desired` is compared,
/// as in upstream's server-side apply. A template that has been restored is restored again only once it has been seen
/// as it was written: a webhook may change every write.
[[nodiscard]] LeaderTemplateDecision decide_leader_template(const Json& desired, const StatefulSetView& live);

}  // namespace tpuslice::leaderworkerset
