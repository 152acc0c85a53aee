// RoleSet: a LeaderWorkerSet of a DisaggregatedSet, with what a plan reads of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/disaggregatedset/observed.h"

namespace tpuslice::disaggregatedset {

struct RoleSet {
  ObjectKey key;
  std::string uid;
  std::string role;
  std::string revision;
  std::int64_t slice = 0;
  bool legacy = false;  ///< Made before there were slices: its name has none, and its label is absent.
  bool terminating = false;
  Timestamp created = {};
  std::int64_t replicas = 1;                          ///< spec.replicas
  std::optional<std::int64_t> initial_replicas = {};  ///< Annotation kInitialReplicas.
  // Members of its status.
  std::int64_t current = 0;
  std::int64_t ready = 0;
  std::int64_t updated = 0;
  Problem waits = {};    ///< Condition tpuslice.dev/SlicesPlaced: why it is False.
  Problem stuck = {};    ///< Condition tpuslice.dev/ContainersStarted: why it is False.
  bool placed = false;   ///< SlicesPlaced is True.
  bool started = false;  ///< ContainersStarted is True.

  /// Nothing if its labels name no role, revision or slice.
  static std::optional<RoleSet> read(const ObjectView& set);
};

/// By role.
using RoleSets = std::map<std::string, const RoleSet*>;

/// The LeaderWorkerSets of one slice.
struct SliceSets {
  std::map<std::string, RoleSets> revisions;  ///< By revision.

  void add(const RoleSet& set);
  /// Null if it does not exist.
  [[nodiscard]] const RoleSet* find(const std::string& revision, const std::string& role) const;
};

/// Every role of `roles` has a set in `sets` with a ready replica.
[[nodiscard]] bool ready_on_all_roles(const RoleSets& sets, const std::vector<RoleSpec>& roles);

}  // namespace tpuslice::disaggregatedset
