// What the plan of an accelerator and those of its slices do together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(SliceOnChosenNodes, BindsEachHostToTheNodeRecordedOnHostZero) {
  const SliceBuilder train = a_slice("train").hosts(3);
  slice::SliceObserved seen{train.key(), train.pods(), {}, after(9s)};
  apply_plan(plan_placement(observed({a_pool("pool-a").size(3)}, {train}), {}), seen.pods);
  const plan::Plan plan = plan_slice(seen, {});
  ASSERT_THAT(writes_of(plan), ElementsAre("patch Pod train-1", "patch Pod train-2"));
  const Json patch = *action_of(plan, "patch Pod train-2").body.make();
  EXPECT_EQ(*find_path(patch, {"spec", "affinity", "nodeAffinity"}), Json::parse(R"(
    {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["pool-a-2"]}]}]}})"));
  EXPECT_EQ(string_at(patch, {"metadata", "annotations", tpu::kPlacedOn}), "") << "one record is enough";
}

TEST(TerminatingSlice, KeepsItsDomainUntilTheLastPodHasStopped) {
  const SliceBuilder ending = a_slice("train").hosts(3).runs_in("pool-a");
  const SliceBuilder other = a_slice("other").hosts(3);
  const PoolBuilder pool = a_pool("pool-a").size(3);
  const PlacementScene scene =
      observed({pool}, {SliceBuilder(ending).terminating(0).terminating(1).terminating(2), other});
  EXPECT_THAT(writes_of(plan_placement(scene, {})), ElementsAre("patch Pod other-0")) << "its waiting reason";
  const PlacementScene last = observed({pool}, {SliceBuilder(ending).without(0).without(1).terminating(2), other});
  EXPECT_EQ(plan_placement(last, {}).reason,
            "slice other waits: 1 node pool matches, none is free: pool-a runs default/job (train)");
}

TEST(RecreatedSlice, WaitsForAHostThatWasRemovedFromTheAttemptBefore) {
  const SliceBuilder train = a_slice("train").hosts(4).without(3);
  PlacementScene seen = observed({a_pool("pool-a").size(4)}, {train}, 1s);
  seen.remembered.removed_hosts = {{train.key(), {{3, "uid-of-an-earlier-attempt"}}}};
  EXPECT_TRUE(plan_placement(seen, {}).stages.empty());
}

}  // namespace
}  // namespace tpuslice::placement
