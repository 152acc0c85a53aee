// Who goes first with exclusive placement: the leader, as upstream, or a slice of TPU hosts, which is placed whole.
#pragma once

#include <string_view>

#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

/// Whether the workers of a group, or of each subgroup, are a slice of several hosts. Then it has a whole domain for
/// itself anyway (controllers/slice), which the leader's choice could only get into the way of.
[[nodiscard]] bool workers_are_slices(const GroupTemplate& group);

/// The annotation tpu::kSliceLeader of a group's leader; empty without.
///
/// A leader without TPU follows the slice, unless the workers are created only when it is ready.
[[nodiscard]] std::string_view slice_leader(const LeaderWorkerSetSpec& spec);

/// Whether the leader decides on the domain of its workers: they are created when it has a node, and select the
/// domain of that node. `slice_leader`: the annotation of the leader as it is.
[[nodiscard]] bool leader_decides(const LeaderWorkerSetSpec& spec, const GroupTemplate& group,
                                  std::string_view slice_leader);

}  // namespace tpuslice::leaderworkerset
