// LeaderWorkerSetSpec: fields of a LeaderWorkerSet that controller and admission read, with upstream's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/types/object.h"
#include "api/types/resource_type.h"

namespace tpuslice::leaderworkerset {

inline constexpr ResourceType kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet",
                                                "leaderworkersets"};

enum class RestartPolicy : std::uint8_t { kRecreateGroupOnPodRestart, kRecreateGroupAfterStart, kNone };
enum class StartupPolicy : std::uint8_t { kLeaderCreated, kLeaderReady };

/// A number of groups, or a percentage of the replicas: Kubernetes' IntOrString.
struct IntOrPercent {
  enum class Rounding : std::uint8_t { kDown, kUp };

  std::int64_t value = 0;
  bool is_percent = false;

  /// A number from 0, or "0%" to "100%", also with leading zeros; nullopt for anything else.
  static std::optional<IntOrPercent> parse(const Json& json);

  [[nodiscard]] std::int64_t scaled(std::int64_t total, Rounding rounding) const;
};

struct SubgroupPolicy {
  int size = 1;
  bool leader_excluded = false;  ///< The leader is in no subgroup; otherwise in the first.
};

/// The part of the spec that revisions record. Borrows from the JSON it was read from.
struct GroupTemplate {
  int size = 1;  ///< Pods, including the leader.
  std::optional<SubgroupPolicy> subgroups;
  bool valid = true;                      ///< size and subgroups are as upstream accepts them.
  const Json* leader = nullptr;           ///< Pod template; the workers' template if the set has no leaderTemplate.
  const Json* worker = nullptr;           ///< Null only if the spec is invalid.
  bool service_per_group = false;         ///< subdomainPolicy: UniquePerReplica
  const Json* volume_claims = nullptr;    ///< Array of claim templates, or null.
  const Json* claim_retention = nullptr;  ///< persistentVolumeClaimRetentionPolicy, or null.

  /// Reads a LeaderWorkerSet, or the data of one of its revisions.
  static GroupTemplate read(const Json& set);
  // It would borrow from a temporary.
  static GroupTemplate read(const Json&&) = delete;

  [[nodiscard]] int workers() const { return size - 1; }
  [[nodiscard]] bool has_leader_template() const { return leader != worker; }
  /// Whether the leader belongs to the slice of its group, or to the first subgroup.
  [[nodiscard]] bool includes_leader() const { return !subgroups || !subgroups->leader_excluded; }
};

/// Limits of a rolling update.
struct Rollout {
  /// Groups; percentages are rounded down. At least 1 without a surge: the scale subresource, which no webhook sees,
  /// may lower the replicas that a percentage is of.
  int max_unavailable = 1;
  int max_surge = 0;  ///< Groups, no more than the replicas; percentages are rounded up.
  int partition = 0;  ///< Groups below it keep their revision.
};

// Fields of spec.rolloutStrategy.rollingUpdateConfiguration; the default if absent, nullopt if invalid.
[[nodiscard]] std::optional<IntOrPercent> read_max_unavailable(const Json& set);
[[nodiscard]] std::optional<IntOrPercent> read_max_surge(const Json& set);

/// Borrows from the JSON it was read from. Invalid fields count as absent; validator.h reports them.
struct LeaderWorkerSetSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;  ///< Owner reference of its children.
  StringMap labels;
  StringMap annotations;
  int replicas = 1;  ///< Groups.
  GroupTemplate group;
  RestartPolicy restarts = RestartPolicy::kRecreateGroupOnPodRestart;
  /// Restarts of a group in a row, of the field or else of the annotation kMaxRestarts; nullopt for no limit.
  std::optional<int> max_group_restarts;
  StartupPolicy startup = StartupPolicy::kLeaderCreated;
  Rollout rollout;
  /// Topology keys of exclusive placement for groups and for subgroups; empty without.
  std::string topology_key;
  std::string subgroup_topology_key;

  static LeaderWorkerSetSpec read(const Json& set);
  static LeaderWorkerSetSpec read(const Object& set) { return read(set.json()); }
  // It would borrow from a temporary.
  static LeaderWorkerSetSpec read(const Json&&) = delete;
  static LeaderWorkerSetSpec read(const Object&&) = delete;
};

/// "serve-3": name of a leader, its worker set and its service.
[[nodiscard]] std::string group_name(const LeaderWorkerSetSpec& spec, int group);

/// Inverse of group_name(): the number after "<set>-", without sign or leading zeros; nullopt for other names.
[[nodiscard]] std::optional<int> parse_group_index(const LeaderWorkerSetSpec& spec, std::string_view name);

}  // namespace tpuslice::leaderworkerset
