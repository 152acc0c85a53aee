// The revision of a DisaggregatedSet: what changes when its roles or their leaderWorkerTemplates do.
#pragma once

#include <string>

#include "controllers/disaggregatedset/rules/spec.h"

namespace tpuslice::disaggregatedset {

/// "58f79fdb": 8 hexadecimal digits. Replicas, slices, the placement policy and the other fields of a role have no part
/// in it. Equal to upstream's, so that a set of its controller is not rolled out by ours.
/// Source: ComputeRevision in upstream's pkg/utils/disaggregatedset.
[[nodiscard]] std::string compute_revision(const DisaggregatedSetSpec& spec);
inline constexpr std::size_t kRevisionLength = 8;

}  // namespace tpuslice::disaggregatedset
