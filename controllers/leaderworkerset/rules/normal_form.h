// Normal form of a leaderWorkerTemplate: absent and default, absent and null, "1024Mi" and "1Gi" are equal in it.
//
// It is what Kubernetes' Go types print, so revisions of upstream's controller are in normal form, and ours have the
// same bytes.
#pragma once

#include "api/types/json.h"

namespace tpuslice::leaderworkerset {

/// Pod template of leaders or workers; an empty template if `pod` is not an object.
[[nodiscard]] Json normal_pod_template(const Json& pod);

/// PersistentVolumeClaim in spec.leaderWorkerTemplate.volumeClaimTemplates.
[[nodiscard]] Json normal_volume_claim(const Json& claim);

/// spec.leaderWorkerTemplate.volumeClaimTemplates of a LeaderWorkerSet, or of the data of one of its revisions; an
/// empty array without any.
[[nodiscard]] Json normal_volume_claims(const Json& set);

/// spec.leaderWorkerTemplate of a LeaderWorkerSet, or of the data of one of its revisions.
[[nodiscard]] Json normal_group_template(const Json& set);

}  // namespace tpuslice::leaderworkerset
