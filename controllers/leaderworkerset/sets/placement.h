// Exclusive placement: workers follow their leader, as upstream, or the leader follows a slice that is placed whole.
#pragma once

#include <string_view>

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

/// Whether any container of the leader requests TPUs, including init containers, as upstream.
[[nodiscard]] bool leader_has_tpus(const GroupTemplate& group);

/// Whether the workers of a group, or of each subgroup, are a multi-host slice. controllers/placement then assigns a
/// whole domain, which must not depend on the leader's node.
[[nodiscard]] bool workers_are_slices(const GroupTemplate& group);

/// Value of the annotation tpu::kSliceLeader of leaders; empty for none. A leader without TPUs follows the slice,
/// unless the workers are created only once it is ready.
[[nodiscard]] std::string_view slice_leader(const LeaderWorkerSetSpec& spec);

/// Whether workers follow their leader: they are created once it has a node, and select the domain of that node.
/// `slice_leader`: annotation of the live leader.
[[nodiscard]] bool workers_follow_leader(const LeaderWorkerSetSpec& spec, const GroupTemplate& group,
                                         std::string_view slice_leader);

}  // namespace tpuslice::leaderworkerset
