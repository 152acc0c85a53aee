// LwsGroup: position of a pod in its LeaderWorkerSet group, read from the pod's name and annotations.
#pragma once

#include <optional>
#include <string>

#include "api/types/json.h"
#include "tpu/naming.h"

namespace tpuslice::leaderworkerset {

struct LwsGroup {
  std::string leader;  ///< Name of the leader pod, "<set>-<group>".
  int index = 0;       ///< Index of the group in its set.
  int worker = 0;      ///< Index of the pod in its group; the leader is 0.
  int size = 1;        ///< Pods of the group.
  int subgroup_size = 0;
  bool leader_excluded = false;  ///< The leader is in no subgroup.
  bool leader_has_tpus = false;  ///< True for the leader itself.

  /// TPU pods, `first` to `last`. Only the leader may have no TPUs, so they are consecutive.
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

  /// Name of the multi-host slice of `pod`.
  [[nodiscard]] std::string slice_name(int pod) const;

 private:
  /// Whether subgroups start after the leader, which is an extra pod of the first.
  [[nodiscard]] bool shifted() const;
};

/// nullopt if name and annotations are not those of a LeaderWorkerSet pod.
///
/// Errors: InvalidArgument naming the field: an annotation that is not a number, a size that does not include the pod,
/// a name of the pod that is not a hostname.
[[nodiscard]] Result<std::optional<LwsGroup>> read_lws_group(const Json& pod);

/// SliceIdentity::owner of the slices of a group: leader and workers have different owners, but the leader's name is
/// unique in its namespace.
[[nodiscard]] std::string lws_slice_owner(const Json& pod, const LwsGroup& group);

/// Hostnames of the pods of a LeaderWorkerSet's group, from pod `first` on: the leader's name, then
/// "<leader>-<worker>".
/// Source: LeaderWorkerSet, names of its StatefulSets.
[[nodiscard]] tpu::HostNames lws_hostnames(std::string_view leader, int first);

/// Whether the leader of a group of `size` pods joins the first subgroup as one more than `subgroup_size`, so that
/// subgroups are counted from the first worker: a group of 5 with subgroups of 2 has subgroups of 3 and 2.
/// Source: LeaderWorkerSet's label subgroup-index: worker w is in subgroup (w - 1) / n then, else in w / n.
[[nodiscard]] constexpr bool lws_leader_is_extra(std::int64_t size, std::int64_t subgroup_size) {
  return (size - 1) % subgroup_size == 0 && size % subgroup_size != 0;
}

}  // namespace tpuslice::leaderworkerset
