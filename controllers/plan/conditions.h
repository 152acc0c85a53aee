// Conditions of ours, tpuslice.dev/<Name>: positive, always present on a reconciled object. The observedGeneration of
// all conditions, ours and upstream's: `kubectl wait` ignores a condition whose observedGeneration is older than the
// object's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/types/conditions.h"

namespace tpuslice::plan {

/// The spec is valid and has only supported fields.
inline constexpr std::string_view kAccepted = "tpuslice.dev/Accepted";
/// The children exist, are owned by the object, and have not drifted. Pods are not among them, nor are the services
/// of a RayCluster.
inline constexpr std::string_view kChildrenReady = "tpuslice.dev/ChildrenReady";

/// Sets the condition `type`: False with reason and message of `problem`; without a problem True, with the name behind
/// the slash as reason, and `message`. Returns whether status or message changed.
bool set_own_condition(Json& conditions, std::string_view type, const Problem& problem, std::string_view message,
                       std::int64_t generation, Timestamp now);

/// Sets the condition of a workload that has finished, or is no longer active: one that is True stays as it is, since
/// True is the good state; another becomes False with `problem`.
void set_inactive_condition(Json& conditions, std::string_view type, const Problem& problem, std::int64_t generation,
                            Timestamp now);

/// Sets kAccepted. Returns whether status or message changed.
bool set_accepted(Json& conditions, const Problem& refusal, std::int64_t generation, Timestamp now);

/// Sets observedGeneration of upstream's conditions and ours that have one, except those of type `except`. For a
/// status computed from that generation of the spec.
void set_observed_generation(Json& conditions, std::int64_t generation, std::string_view except = {});

/// The same for conditions that are not True. For a refused spec: a True condition describes the last accepted spec.
void set_observed_generation_unless_true(Json& conditions, std::int64_t generation);

}  // namespace tpuslice::plan
