// Why no domain has nodes that a slice selects: what it asks for, and what the cluster has.
#pragma once

#include <string>

#include "controllers/placement/domains/domains.h"
#include "controllers/placement/domains/node_match.h"

namespace tpuslice::placement {

/// "no node pool of tpu-v5-lite-podslice 4x4; the cluster has 4x8 (1 pool)". `domains`: those of the accelerator and
/// topology key of `requirements`, none of which matches.
[[nodiscard]] std::string explain_mismatch(const NodeRequirements& requirements, const Domains::ByValue& domains);

}  // namespace tpuslice::placement
