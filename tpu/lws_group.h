// LwsGroup: the place of a pod in its group of a LeaderWorkerSet, as the pod itself tells it.
#pragma once

#include <optional>
#include <string>

#include "api/types/json.h"

namespace tpuslice::tpu {

struct LwsGroup {
  std::string leader;  ///< Name of the leader pod, "<set>-<group>".
  int index = 0;       ///< Of the group in its set.
  int worker = 0;      ///< Of the pod in its group; the leader is 0.
  int size = 1;        ///< Pods of the group.
  int subgroup_size = 0;
  bool leader_excluded = false;  ///< The leader is in no subgroup.
  bool leader_has_tpus = false;  ///< Of the leader itself: true.

  /// Pods of the group from `first` to `last` that have TPUs. They are in a row: only the leader may be without.
  struct Members {
    int first;
    int last;
    [[nodiscard]] int count() const { return last - first + 1; }
  };

  [[nodiscard]] bool is_leader() const { return worker == 0; }
  [[nodiscard]] bool in_subgroup() const { return subgroup_size > 0 && !(leader_excluded && worker == 0); }

  /// Source: LeaderWorkerSet's label subgroup-index.
  [[nodiscard]] int subgroup_of(int pod) const;

  /// The TPU pods of the slice of this pod.
  [[nodiscard]] Members members() const;

  /// Name of the slice that `pod` is in, where it is one of several hosts.
  [[nodiscard]] std::string slice_name(int pod) const;

 private:
  /// Whether subgroups begin behind the leader, who joins the first.
  [[nodiscard]] bool shifted() const;
};

/// Nothing where the pod is not numbered as LeaderWorkerSet's StatefulSets do.
///
/// Errors: InvalidArgument naming the annotation: one that is no number, a size that the pod is beyond.
[[nodiscard]] Result<std::optional<LwsGroup>> read_lws_group(const Json& pod);

/// The owner of the slices of a group, for SliceIdentity. Leader and workers have different ones; a leader's name is
/// unique in its namespace.
[[nodiscard]] std::string lws_slice_owner(const Json& pod, const LwsGroup& group);

}  // namespace tpuslice::tpu
