// The groups of a LeaderWorkerSet and the TPU slices they consist of, as its rules read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice::webhook {

inline constexpr std::string_view kLwsSizePath = "spec.leaderWorkerTemplate.size";
inline constexpr std::string_view kLwsSubgroupPath = "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize";
inline constexpr std::string_view kLwsLeaderPath = "spec.leaderWorkerTemplate.leaderTemplate";
inline constexpr std::string_view kLwsWorkerPath = "spec.leaderWorkerTemplate.workerTemplate";

/// Source: upstream's CRD.
inline constexpr std::int64_t kMostLwsReplicas = 1000000;

struct LwsSubgroups {
  std::int64_t size = 1;
  bool leader_excluded = false;  ///< Subgroups consist of workers only.
};

/// Borrows the templates from the set.
struct LwsGroups {
  std::int64_t replicas = 1;
  std::int64_t size = 1;  ///< Pods of a group, the leader included.
  std::optional<LwsSubgroups> subgroups;
  bool sound = true;  ///< False if size or subgroups are none that upstream accepts; then nothing follows from them.
  const Json* worker = nullptr;  ///< Null if absent.
  const Json* leader = nullptr;  ///< The workers' template where the leader has none of its own.
  bool leader_has_tpus = false;
  bool workers_have_tpus = false;

  [[nodiscard]] bool leader_has_template() const { return leader != worker; }
  [[nodiscard]] std::string_view leader_path() const { return leader_has_template() ? kLwsLeaderPath : kLwsWorkerPath; }
  /// False for the leader of subgroups that exclude it.
  [[nodiscard]] bool leader_is_member() const { return !subgroups || !subgroups->leader_excluded; }
};

/// Absent and illegal fields count as the CRD's defaults.
[[nodiscard]] LwsGroups read_lws_groups(const Json& set);

/// How many groups an update may touch at once, and which it leaves alone.
struct LwsRollout {
  std::int64_t max_unavailable = 1;  ///< A share of the replicas is rounded down.
  std::int64_t max_surge = 0;        ///< A share of the replicas is rounded up; at most as many as there are replicas.
  std::int64_t partition = 0;        ///< Groups below it keep their revision.
};

/// Of spec.rolloutStrategy. Absent and illegal fields count as the CRD's defaults.
[[nodiscard]] LwsRollout read_lws_rollout(const Json& set, const LwsGroups& groups);

/// How many pods with TPUs the slices of a group have. A leader without subgroup is not counted.
struct LwsSlices {
  std::int64_t first = 0;   ///< The slice of the leader, or of the group where there are no subgroups.
  std::int64_t others = 0;  ///< Each other subgroup; 0 without one.
  std::int64_t count = 1;   ///< Subgroups, or 1.

  /// Subgroups without TPUs are no slices.
  [[nodiscard]] bool uneven() const { return first > 0 && others > 0 && first != others; }
  [[nodiscard]] std::int64_t pods() const { return first > 0 ? first : others; }
};

/// The groups must be sound. The leader is in subgroup 0; tpu::lws_leader_is_extra() says which workers are.
[[nodiscard]] LwsSlices lws_slices(const LwsGroups& groups);

}  // namespace tpuslice::webhook
