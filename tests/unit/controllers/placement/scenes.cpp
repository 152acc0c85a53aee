#include "tests/unit/controllers/placement/scenes.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "controllers/placement/scale_up/scouts.h"
#include "tests/support/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {

plan::Plan plan_placement(const PlacementScene& scene, const PlacementOptions& options,
                          const std::string& accelerator) {
  PlacementObserved seen = scene;
  std::ranges::copy_if(scene.pods, std::back_inserter(seen.scouts),
                       [&](const PodPtr& pod) { return is_scout(*pod, options.scale_up); });
  AcceleratorCache cache(accelerator, options);
  cache.read(scene, scene.now);
  return plan_placement(seen, cache, options);
}

SceneCache::SceneCache(const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods) {
  cache.read({.nodes = nodes, .pods = pods}, start_of_time());
}

PlacementScene observed(std::initializer_list<PoolBuilder> pools, std::initializer_list<SliceBuilder> slices,
                        Duration now) {
  PlacementScene seen;
  seen.nodes = nodes_of(pools);
  seen.pods = pods_of(slices);
  seen.now = after(now);
  return seen;
}

PodPtr a_scout(const std::string& slice, const PodChange& change) {
  PodView pod;
  pod.key = {scout_options().namespace_name, scale_up_name({"default", slice})};
  pod.uid = "uid-of-scout-of-" + slice;
  pod.resource_version = "1";
  pod.created = start_of_time();
  pod.labels = {{std::string(tpu::kSlice), std::string(tpu::kNoSlice)}};
  pod.annotations[std::string(tpu::kScaleUpFor)] = "default/" + slice;
  pod.scheduling.edit().node_selector[std::string(tpu::kAcceleratorLabel)] = kV6e;
  tpu::set_chips(pod, 4);
  if (change) change(pod);
  return std::make_shared<const PodView>(std::move(pod));
}

PodPtr a_scout_on(const std::string& node, const std::string& slice) {
  return a_scout(slice, [&](PodView& pod) { pod.node_name = node; });
}

ScaleUpOptions scout_options() { return {.mode = ScaleUp::kScout, .namespace_name = "tpu-system"}; }

PreemptionState preemption_records(const std::string& record) {
  PreemptionRecords records;
  records.key = {scout_options().namespace_name, std::string(kPreemptionsConfigMap)};
  records.uid = "uid-of-records";
  records.resource_version = "7";
  if (!record.empty()) records.data[kV6e] = record;
  return {true, std::make_shared<const PreemptionRecords>(std::move(records))};
}

}  // namespace tpuslice::placement
