// DisaggregatedSetSpec: fields of a DisaggregatedSet that admission and the controller read, with upstream's defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/object.h"

namespace tpuslice::disaggregatedset {

inline constexpr std::int64_t kMaxSlices = 100;
inline constexpr std::size_t kMinRoles = 2;
inline constexpr std::size_t kMaxRoles = 10;

/// How many replicas of a role a rollout may have beyond, and lack of, its desired number.
struct RolloutLimits {
  std::int64_t surge = 1;
  std::int64_t unavailable = 0;
  friend bool operator==(const RolloutLimits&, const RolloutLimits&) = default;
};

struct RoleSpec {
  std::string name;
  bool external = false;      ///< scaling.mode External: replicas are those of its scaler.
  std::int64_t replicas = 1;  ///< spec.replicas
  /// The element of spec.roles: metadata and spec are those of its LeaderWorkerSets.
  const Json* json = nullptr;

  /// Limits in spec.rolloutStrategy.rollingUpdateConfiguration, for this number of replicas. Percentages of maxSurge
  /// are rounded up, of maxUnavailable down. Without a configuration, and if both are 0, a surge of 1. Source:
  /// upstream's executor.
  [[nodiscard]] RolloutLimits limits(std::int64_t replicas) const;
};

enum class PlacementType : std::uint8_t { kNone, kExclusiveSlice, kExclusiveTopology };

struct PlacementPolicy {
  PlacementType type = PlacementType::kNone;
  std::string topology;  ///< Label of nodes.

  [[nodiscard]] bool active() const { return type != PlacementType::kNone && !topology.empty(); }
};

/// Borrows from the document it was read from. Fields are not validated; rules/validator.h does that.
struct DisaggregatedSetSpec {
  ObjectKey key;
  std::string uid;
  std::int64_t generation = 0;
  ControllerRef owner;  ///< The owner reference of children.
  std::vector<RoleSpec> roles;
  std::int64_t slices = 1;  ///< 1 if it is not from 1 to kMaxSlices.
  PlacementPolicy placement;

  [[nodiscard]] const RoleSpec* find_role(std::string_view name) const;

  static DisaggregatedSetSpec read(const Object& set);
  /// Reads a set, without the owner reference.
  static DisaggregatedSetSpec read(const Json& set);
  // It would borrow from a temporary.
  static DisaggregatedSetSpec read(const Json&&) = delete;
  static DisaggregatedSetSpec read(const Object&&) = delete;
};

/// "llm-0-58f79fdb-prefill", the name of a LeaderWorkerSet.
[[nodiscard]] std::string set_name(std::string_view set, std::int64_t slice, std::string_view revision,
                                   std::string_view role);
/// "llm-0-prefill": the label app.
[[nodiscard]] std::string app_name(std::string_view set, std::int64_t slice, std::string_view role);
/// "llm-prefill"
[[nodiscard]] std::string scaler_name(std::string_view set, std::string_view role);
/// "llm-0-58f79fdb-prefill-prv", of the service of a LeaderWorkerSet.
[[nodiscard]] std::string service_name(std::string_view leader_worker_set);

}  // namespace tpuslice::disaggregatedset
