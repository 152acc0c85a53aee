// Parts that leader sets and worker sets share: pod labels and annotations, volume claims.
#pragma once

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

/// The pod template `pod` in normal form with these labels and annotations, which override its own.
[[nodiscard]] Json group_pod_template(const Json* pod, const StringMap& labels, const StringMap& annotations);

/// Annotations of leaders and workers: group shape, exclusive placement and, for slices, the uid of the set.
[[nodiscard]] StringMap group_annotations(const LeaderWorkerSetSpec& spec, const GroupTemplate& group);

/// Labels or annotations of the set, overridden by `own`; without kubectl's last-applied annotation.
[[nodiscard]] StringMap inherit(const StringMap& of_set, const StringMap& own);

/// Adds volumeClaimTemplates and persistentVolumeClaimRetentionPolicy to the spec of a StatefulSet in
/// `namespace_name`. Copies whole claims; upstream only copies access modes, class, mode and resources.
void add_volume_claims(const GroupTemplate& group, const std::string& namespace_name, Json& set_spec);

}  // namespace tpuslice::leaderworkerset
