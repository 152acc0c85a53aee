#include "fleet/model.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "fleet/accelerator_model.h"
#include "tpu/catalog.h"
#include "tpu/topology.h"

namespace tpuslice::fleet {
namespace {

/// The order of topologies: by number of chips.
std::int64_t chips_of_topology(const std::string& topology) {
  const auto parsed = tpu::Topology::parse(topology);
  return parsed ? parsed->chips() : 0;
}

void sort_pools(std::vector<Pool>& pools) {
  std::ranges::sort(pools, {}, [](const Pool& pool) {
    return std::tuple(pool.tpu, chips_of_topology(pool.topology), pool.topology, pool.name);
  });
}

void sort_slices(std::vector<FleetSlice>& slices) {
  std::ranges::sort(slices, {}, [](const FleetSlice& slice) {
    const bool queued = slice.position > 0;
    return std::tuple(slice.state != SliceState::kWaiting, !queued, queued ? slice.tpu : std::string(),
                      queued ? chips_of_topology(slice.topology) : 0, slice.position, slice.workload, slice.key,
                      slice.accelerator);
  });
}

/// A slice that selects no accelerator is considered for each.
void keep_one_of_each(std::vector<FleetSlice>& slices) {
  std::set<std::pair<std::string, std::string>> known;
  std::ranges::stable_sort(slices, {}, [](const FleetSlice& slice) { return slice.pool.empty(); });
  std::erase_if(
      slices, [&](const FleetSlice& slice) { return !known.emplace(slice.workload.namespace_name, slice.key).second; });
}

}  // namespace

std::string_view to_string(PoolState state) {
  switch (state) {
    case PoolState::kInUse:
      return "InUse";
    case PoolState::kFree:
      return "Free";
    case PoolState::kReserved:
      return "Reserved";
    case PoolState::kBroken:
      return "Broken";
    case PoolState::kDraining:
      return "Draining";
    case PoolState::kPartial:
      return "Partial";
  }
  return {};
}

std::string_view to_string(SliceState state) {
  switch (state) {
    case SliceState::kWaiting:
      return "Waiting";
    case SliceState::kPlaced:
      return "Placed";
    case SliceState::kRunning:
      return "Running";
    case SliceState::kRestarting:
      return "Restarting";
    case SliceState::kEnding:
      return "Ending";
    case SliceState::kDone:
      return "Done";
  }
  return {};
}

std::string tpu_name(std::string_view accelerator) {
  const auto found = tpu::find_accelerator(accelerator);
  if (!found) return std::string(accelerator);
  switch ((*found)->generation) {
    case tpu::Generation::kV3:
      return "v3";
    case tpu::Generation::kV4:
      return "v4";
    case tpu::Generation::kV5e:
      return "v5e";
    case tpu::Generation::kV5p:
      return "v5p";
    case tpu::Generation::kV6e:
      return "v6e";
    case tpu::Generation::kTpu7:
      return "tpu7";
    case tpu::Generation::kTpu7x:
      return "tpu7x";
  }
  return std::string(accelerator);
}

Fleet build_fleet(const Snapshot& snapshot) {
  Fleet fleet;
  fleet.time = snapshot.time;
  fleet.cluster = snapshot.cluster;
  fleet.missing = snapshot.missing;
  const Names names(snapshot);
  for (const std::string& accelerator : accelerators_of(snapshot)) {
    placement::AcceleratorCache cache(accelerator, planning_options(snapshot));
    read_cache(snapshot, cache);
    const Outlook outlook = snapshot.is_complete() ? plan_outlook(snapshot, cache) : Outlook();
    const AcceleratorModel model{snapshot, names, cache, outlook};
    std::ranges::move(make_pools(model), std::back_inserter(fleet.pools));
    std::ranges::move(make_slices(model), std::back_inserter(fleet.slices));
  }
  keep_one_of_each(fleet.slices);
  sort_pools(fleet.pools);
  sort_slices(fleet.slices);
  fleet.attention = make_attention(fleet);
  return fleet;
}

}  // namespace tpuslice::fleet
