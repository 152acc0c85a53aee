// The pools and slices of one accelerator, from its cache and what placement decides next.
#pragma once

#include <string>
#include <vector>

#include "controllers/placement/accelerator_cache.h"
#include "fleet/model.h"
#include "fleet/names.h"
#include "fleet/outlook.h"

namespace tpuslice::fleet {

/// What the pools and slices of an accelerator are made of. All is borrowed.
struct AcceleratorModel {
  const Snapshot& snapshot;
  const Names& names;
  placement::AcceleratorCache& cache;  ///< After plan_outlook().
  const Outlook& outlook;
};

/// The slice of the pods of a key; null if it has none.
[[nodiscard]] const placement::Slice* find_slice(const AcceleratorModel& model, const ObjectKey& key);

/// The pools of the accelerator, by name. A node without the topology key is a pool of its own, by the name of the
/// node.
[[nodiscard]] std::vector<Pool> make_pools(const AcceleratorModel& model);

/// The slices of the accelerator, by key.
[[nodiscard]] std::vector<FleetSlice> make_slices(const AcceleratorModel& model);

/// What needs someone, pools first.
[[nodiscard]] std::vector<Attention> make_attention(const Fleet& fleet);

}  // namespace tpuslice::fleet
