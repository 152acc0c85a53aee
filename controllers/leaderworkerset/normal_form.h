// The normal form of a leaderWorkerTemplate: two that mean the same are equal in it, whether nothing was said or the
// default, null or nothing, "1024Mi" or "1Gi".
//
// It is how the Go types of Kubernetes print what they have read, so the revisions of upstream's controller are in
// normal form already, and ours have the same bytes.
#pragma once

#include "api/types/json.h"

namespace tpuslice::leaderworkerset {

/// Of the pod template of a leader or of workers; anything else than an object gives an empty template.
[[nodiscard]] Json normal_pod_template(const Json& pod);

/// Of a PersistentVolumeClaim in spec.leaderWorkerTemplate.volumeClaimTemplates.
[[nodiscard]] Json normal_volume_claim(const Json& claim);

/// Of spec.leaderWorkerTemplate of a LeaderWorkerSet, or of the data of one of its revisions.
[[nodiscard]] Json normal_group_template(const Json& set);

}  // namespace tpuslice::leaderworkerset
