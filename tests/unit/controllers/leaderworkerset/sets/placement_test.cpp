#include "controllers/leaderworkerset/sets/placement.h"

#include <gtest/gtest.h>

#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

const std::string kGroupKey = "leaderworkerset.sigs.k8s.io/exclusive-topology";
const std::string kSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

struct PlacementCase {
  const char* name;
  SetBuilder set;
  bool slices;
  const char* slice_leader;
  bool workers_follow;
};

SetBuilder with(SetBuilder set, const std::string& annotation) { return set.annotation(annotation, "pool"); }

SetBuilder leader_without_tpus() { return a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "4x4"); }

class Placement : public testing::TestWithParam<PlacementCase> {};

TEST_P(Placement, DecidesWhetherWorkersFollowTheLeaderOrTheLeaderTheSlice) {
  const Object object = GetParam().set.object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(workers_are_slices(spec.group), GetParam().slices);
  EXPECT_EQ(slice_leader(spec), GetParam().slice_leader);
  EXPECT_EQ(workers_follow_leader(spec, spec.group, slice_leader(spec)), GetParam().workers_follow);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Placement,
    testing::Values(
        PlacementCase{"NotExclusive", leader_without_tpus(), true, "", false},
        PlacementCase{"WithoutTpu", with(a_set("serve").size(4), kGroupKey), false, "", true},
        PlacementCase{"LeaderBesideSlice", with(leader_without_tpus(), kGroupKey), true, "with-slice", false},
        PlacementCase{"LeaderBesideSliceReadyFirst",
                      with(leader_without_tpus().set("/spec/startupPolicy", "LeaderReady"), kGroupKey), true,
                      "anywhere", false},
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
        PlacementCase{"SubgroupKeyWithoutSubgroups", with(leader_without_tpus(), kSubgroupKey), true, "", false},
        PlacementCase{"LeaderAlone", with(a_set("serve").size(1).tpu("tpu-v6e-slice", "2x2"), kGroupKey), false, "",
                      true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Placement, LetsWorkersFollowALeaderWithoutAnnotation) {
  const Object object = with(leader_without_tpus(), kGroupKey).object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_TRUE(workers_follow_leader(spec, spec.group, ""))
      << "created before the annotation was needed; it may have a node already";
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
