// The head of a RayCluster: one pod.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

struct HeadDecision {
  struct Deletion {
    PodPtr pod;
    std::string reason;  ///< Follows the name of the pod: "will not run again (pod failed)".
  };
  std::vector<Deletion> deletes;
  std::optional<Object> create;
  std::string error;  ///< Why the pod cannot be built.
};

/// The head pod that is kept: one that may still run before a terminal one, then the oldest. Null without pods.
[[nodiscard]] PodPtr choose_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads);

/// No head pod may still run: there is none, or each is terminal or terminating.
[[nodiscard]] bool lacks_live_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads);

/// The cluster has the annotation kDisableHeadRestart, and all its pods were ready once.
[[nodiscard]] bool keeps_lost_head(const RayClusterSpec& spec, const Object& cluster);

/// Deletes terminal heads, and all but one of several. A head is created, if `may_create`, once none exists. Workers
/// are not touched: they reconnect, or fail and are recreated themselves.
[[nodiscard]] HeadDecision decide_head(const RayClusterSpec& spec, const std::vector<PodPtr>& heads, bool may_create,
                                       const Options& options);

}  // namespace tpuslice::raycluster
