#include "controllers/leaderworkerset/placement.h"

#include <gtest/gtest.h>

#include "tests/unit/controllers/leaderworkerset/sets.h"

namespace tpuslice::leaderworkerset {
namespace {

const std::string kGroupKey = "leaderworkerset.sigs.k8s.io/exclusive-topology";
const std::string kSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

struct PlacementCase {
  const char* name;
  SetBuilder set;
  bool slices;
  const char* slice_leader;
  bool leader_decides;
};

SetBuilder with(SetBuilder set, const std::string& annotation) { return set.annotation(annotation, "pool"); }

SetBuilder beside() { return a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "4x4"); }

class Placement : public testing::TestWithParam<PlacementCase> {};

TEST_P(Placement, LetsOneGoFirst) {
  const Object object = GetParam().set.object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(workers_are_slices(spec.group), GetParam().slices);
  EXPECT_EQ(slice_leader(spec), GetParam().slice_leader);
  EXPECT_EQ(leader_decides(spec, spec.group, slice_leader(spec)), GetParam().leader_decides);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Placement,
    testing::Values(
        PlacementCase{"NotExclusive", beside(), true, "", false},
        PlacementCase{"WithoutTpu", with(a_set("serve").size(4), kGroupKey), false, "", true},
        PlacementCase{"LeaderBesideSlice", with(beside(), kGroupKey), true, "with-slice", false},
        PlacementCase{"LeaderBesideSliceReadyFirst",
                      with(beside().set("/spec/startupPolicy", "LeaderReady"), kGroupKey), true, "anywhere", false},
        PlacementCase{"LeaderIsHost", with(a_set("serve").size(4).tpu("tpu-v6e-slice", "4x4"), kGroupKey), true, "",
                      false},
        PlacementCase{"OneHostSlices", with(a_set("serve").size(4).tpu("tpu-v6e-slice", "2x2"), kGroupKey), false, "",
                      true},
        PlacementCase{"OneHostBeside", with(a_set("serve").size(2).leader().tpu("tpu-v6e-slice", "2x4", 8), kGroupKey),
                      false, "", true},
        PlacementCase{"Subgroups",
                      with(a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "2x4").subgroups(2), kSubgroupKey),
                      true, "with-slice", false},
        PlacementCase{
            "LeaderExcluded",
            with(a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "2x4").subgroups(2, true), kSubgroupKey), true,
            "anywhere", false},
        PlacementCase{"SubgroupKeyWithoutSubgroups", with(beside(), kSubgroupKey), true, "", false},
        PlacementCase{"LeaderAlone", with(a_set("serve").size(1).tpu("tpu-v6e-slice", "2x2"), kGroupKey), false, "",
                      true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Placement, StaysUpstreamsForALeaderOfAnEarlierTemplate) {
  const Object object = with(beside(), kGroupKey).object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_TRUE(leader_decides(spec, spec.group, "")) << "it has chosen a domain, and its workers belong there";
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
