// TPU slices of the groups of a LeaderWorkerSet, as admission checks them.
#pragma once

#include <cstdint>
#include <string_view>

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::rules {

using leaderworkerset::GroupTemplate;
using leaderworkerset::LeaderWorkerSetSpec;

inline constexpr std::string_view kLwsSizePath = "spec.leaderWorkerTemplate.size";
inline constexpr std::string_view kLwsSubgroupPath = "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize";
inline constexpr std::string_view kLwsLeaderPath = "spec.leaderWorkerTemplate.leaderTemplate";
inline constexpr std::string_view kLwsWorkerPath = "spec.leaderWorkerTemplate.workerTemplate";

/// Path of the leader's pod template.
[[nodiscard]] std::string_view lws_leader_path(const GroupTemplate& group);

/// A group template, and which of its pods request TPUs.
struct TpuGroup {
  const GroupTemplate& shape;
  bool leader_has_tpus = false;
  bool workers_have_tpus = false;

  explicit TpuGroup(const GroupTemplate& of);
};

/// Numbers of TPU pods in the slices of a group. A leader outside all subgroups is not counted.
struct LwsSlices {
  std::int64_t first = 0;   ///< The slice of the leader, or of the group if there are no subgroups.
  std::int64_t others = 0;  ///< Each other subgroup; 0 without one.
  std::int64_t count = 1;   ///< Subgroups, or 1.

  /// Subgroups without TPUs are not slices.
  [[nodiscard]] bool uneven() const { return first > 0 && others > 0 && first != others; }
  [[nodiscard]] std::int64_t pods() const { return first > 0 ? first : others; }
};

/// The group template must be valid. The leader is in subgroup 0; leaderworkerset::lws_leader_is_extra() says which
/// workers are.
[[nodiscard]] LwsSlices lws_slices(const TpuGroup& group);

}  // namespace tpuslice::rules
