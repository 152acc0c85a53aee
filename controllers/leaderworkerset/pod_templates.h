// What leader sets and worker sets have in common: the marks of their pods, and the volume claims.
#pragma once

#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

/// The pod template `pod` in normal form, with these labels and annotations before its own.
[[nodiscard]] Json marked_template(const Json* pod, const StringMap& labels, const StringMap& annotations);

/// Annotations of leaders and of workers: the shape of their group, and its exclusive placement.
[[nodiscard]] StringMap group_annotations(const LeaderWorkerSetSpec& spec, const GroupTemplate& group);

/// The metadata of the set and, over it, `marks`: but for what kubectl remembers of the set itself.
[[nodiscard]] StringMap inherit(const StringMap& metadata, const StringMap& marks);

/// Adds volumeClaimTemplates and persistentVolumeClaimRetentionPolicy to the spec of a StatefulSet in
/// `namespace_name`. Upstream copies of a claim only access modes, class, mode and resources; here, all of it.
void add_volume_claims(const GroupTemplate& group, const std::string& namespace_name, Json& set_spec);

}  // namespace tpuslice::leaderworkerset
