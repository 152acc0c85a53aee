// LeaderWorkerSetSpec: what a LeaderWorkerSet asks for, with upstream's defaults in place of what is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/types/object.h"

namespace tpuslice::leaderworkerset {

enum class RestartPolicy : std::uint8_t { kRecreateGroupOnPodRestart, kRecreateGroupAfterStart, kNone };
enum class StartupPolicy : std::uint8_t { kLeaderCreated, kLeaderReady };

struct SubgroupPolicy {
  int size = 1;
  bool leader_excluded = false;  ///< The leader is in no subgroup; else it is in the first.
};

/// What a group is made from: the part of a spec that its revisions keep. Borrows from what it was read from.
struct GroupTemplate {
  int size = 1;                  ///< Pods, the leader included.
  const Json* leader = nullptr;  ///< Pod template; the workers' where it has none of its own.
  const Json* worker = nullptr;  ///< Null only where the spec has none, and is invalid.
  std::optional<SubgroupPolicy> subgroups;
  bool service_per_group = false;         ///< subdomainPolicy: UniquePerReplica
  const Json* volume_claims = nullptr;    ///< Array of claim templates, or null.
  const Json* claim_retention = nullptr;  ///< persistentVolumeClaimRetentionPolicy, or null.

  /// Of a LeaderWorkerSet, or of the data of one of its revisions.
  static GroupTemplate read(const Json& set);

  [[nodiscard]] int workers() const { return size - 1; }
  /// Any container of it, init containers too, as upstream counts.
  [[nodiscard]] bool leader_has_tpus() const;
};

/// How many groups an update may touch at once.
struct Rollout {
  int max_unavailable = 1;  ///< Groups; a share of the replicas is rounded down.
  int max_surge = 0;        ///< Groups, at most the replicas; a share of them is rounded up.
  int partition = 0;        ///< Groups below it keep their revision.
};

/// Borrows from the object it was read from. A field that is illegal counts as absent; the validator of
/// webhook/rules/leaderworkerset says what is wrong with it.
struct LeaderWorkerSetSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;  ///< The set, as its children refer to it.
  StringMap labels;
  StringMap annotations;
  int replicas = 1;  ///< Groups.
  GroupTemplate group;
  RestartPolicy restarts =
      RestartPolicy::kRecreateGroupOnPodRestart;  ///< As the annotation kRecreateAfterStart has it.
  StartupPolicy startup = StartupPolicy::kLeaderCreated;
  Rollout rollout;
  /// Node labels whose values one group, one subgroup has for itself; empty without exclusive placement.
  std::string topology_key;
  std::string subgroup_topology_key;

  static LeaderWorkerSetSpec read(const Object& set);
};

/// "serve-3": of a leader, its worker set and its own service.
[[nodiscard]] std::string group_name(const LeaderWorkerSetSpec& spec, int group);

/// The number behind "<set>-" in a name, as group_name() makes them: no sign, no leading zero; nothing for any other.
[[nodiscard]] std::optional<int> group_of(const LeaderWorkerSetSpec& spec, std::string_view name);

}  // namespace tpuslice::leaderworkerset
