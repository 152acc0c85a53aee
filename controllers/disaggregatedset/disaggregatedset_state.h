// DisaggregatedSetState: what a plan decides from, derived from one observation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/disaggregatedset/observed.h"
#include "controllers/disaggregatedset/role_sets.h"

namespace tpuslice::disaggregatedset {

/// The scaler of a role, with what a plan reads of it.
struct RoleScaler {
  ObjectPtr view;
  std::string role;
  std::int64_t replicas = 0;  ///< spec.replicas
};

/// Borrows from the observation.
struct DisaggregatedSetState {
  explicit DisaggregatedSetState(const DisaggregatedSetObserved& observed);
  // It would borrow from a temporary.
  explicit DisaggregatedSetState(const DisaggregatedSetObserved&&) = delete;
  // Members refer to `sets`.
  DisaggregatedSetState(const DisaggregatedSetState&) = delete;
  DisaggregatedSetState& operator=(const DisaggregatedSetState&) = delete;

  const DisaggregatedSetObserved& seen;
  const DisaggregatedSetSpec& spec;
  const std::string revision;                ///< Revision of the spec.
  std::vector<RoleSet> sets;                 ///< Those it owns, by name.
  std::map<std::int64_t, SliceSets> slices;  ///< `sets` by slice, also of slices that the spec does not ask for.
  std::vector<RoleScaler> scalers;           ///< Those it owns, by name.

  [[nodiscard]] bool owns(const std::optional<ControllerRef>& controller) const;
  /// The live object of that name, of any owner; null if there is none.
  [[nodiscard]] const ObjectView* find_set(std::string_view name) const;
  [[nodiscard]] const ObjectView* find_scaler(std::string_view name) const;
  [[nodiscard]] const ServiceView* find_service(std::string_view name) const;
};

/// The names that the spec needs, whatever exists: of LeaderWorkerSets, scalers and services.
struct ChildNames {
  std::vector<ObjectKey> leader_worker_sets;
  std::vector<ObjectKey> scalers;
  std::vector<ObjectKey> services;
};
[[nodiscard]] ChildNames child_names(const DisaggregatedSetSpec& spec);

}  // namespace tpuslice::disaggregatedset
