// The affinity of spec.placementPolicy.
#pragma once

#include <cstdint>

#include "controllers/disaggregatedset/rules/spec.h"

namespace tpuslice::disaggregatedset {

/// Adds the terms to a pod template of `slice`: all pods of a slice in one domain, those of other slices in others;
/// with ExclusiveTopology no other DisaggregatedSet in it. Nothing without a policy. The terms of the user stay.
/// Source: upstream's pkg/utils/disaggregatedset/affinity.go.
void add_placement(const DisaggregatedSetSpec& spec, std::int64_t slice, Json& pod_template);

}  // namespace tpuslice::disaggregatedset
