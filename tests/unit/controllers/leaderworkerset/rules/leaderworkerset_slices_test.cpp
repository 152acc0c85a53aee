#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/validator.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using testing::group_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Leader;
using testing::set_errors;
using testing::uniform_set;
using testing::with;
using testing::without;

const std::string kLwsLeader = "/spec/leaderWorkerTemplate/leaderTemplate";
const std::string kLwsWorker = "/spec/leaderWorkerTemplate/workerTemplate";
const std::string kChipLimit = "/spec/containers/0/resources/limits/google.com~1tpu";
const std::string kAcceleratorSelector = "/spec/nodeSelector/cloud.google.com~1gke-tpu-accelerator";
const std::string kTopologySelector = "/spec/nodeSelector/cloud.google.com~1gke-tpu-topology";
const std::string kSliceAnnotation = "/metadata/annotations/cloud.google.com~1gke-tpu-slice-topology";

struct LwsShape {
  const char* name;
  Leader leader;
  const char* topology;
  int size;
  int subgroup_size;
  bool leader_excluded;
  const char* message;  ///< Part of the only error; empty for a valid shape.
};
class LwsSlice : public ::testing::TestWithParam<LwsShape> {};

TEST_P(LwsSlice, MustHaveAPodForEachHostOfItsTopology) {
  const LwsShape& c = GetParam();
  const auto errors = set_errors(group_of(c.leader, c.topology, c.size, c.subgroup_size, c.leader_excluded));
  if (*c.message == '\0') {
    EXPECT_THAT(errors, IsEmpty());
  } else {
    EXPECT_THAT(errors, ElementsAre(HasSubstr(c.message)));
  }
}

constexpr auto kWithout = Leader::kWithoutTpus;
constexpr auto kWith = Leader::kWithTpus;

INSTANTIATE_TEST_SUITE_P(
    Groups, LwsSlice,
    ::testing::Values(
        LwsShape{"LeaderAndFourHosts", kWithout, "4x4", 5, 0, false, ""},
        LwsShape{"LeaderIsAHost", kWith, "4x4", 4, 0, false, ""},
        LwsShape{"LeaderIsTheOnlyHost", Leader::kAlone, "2x2", 3, 0, false, ""},
        LwsShape{"SingleHostSlices", kWithout, "2x2", 4, 0, false, ""},
        LwsShape{"NoWorkers", kWithout, "4x4", 1, 0, false, "size: Invalid value: 1: topology 4x4"},
        LwsShape{"OneHostTooFew", kWithout, "4x4", 4, 0, false,
                 "spec.leaderWorkerTemplate.size: Invalid value: 4: topology 4x4 of tpu-v6e-slice has 16 chips; with 4 "
                 "chips per host that is 4 hosts, set size: 5 (4 hosts and a leader without TPUs)"},
        LwsShape{"OneHostTooMany", kWith, "4x4", 5, 0, false, "that is 4 hosts, set size: 4"},
        LwsShape{"TwoSlices", kWith, "2x4", 4, 0, false,
                 "that is 2 hosts, set size: 2 and replicas: 2, each group is a slice, or subGroupSize: 2"},
        LwsShape{"TwoSlicesAndALeader", kWithout, "2x4", 5, 0, false,
                 "set size: 3 (2 hosts and a leader without TPUs) and replicas: 2, each group is a slice, or "
                 "subGroupSize: 2"},
        LwsShape{"LeaderAlone", Leader::kAlone, "4x4", 4, 0, false,
                 "only the leader requests google.com/tpu: add it to the workers and set size: 4"}),
    [](const auto& test) { return std::string(test.param.name); });

// (0 1) is a subgroup of pods 0 and 1; (0) is a pod without TPUs.
INSTANTIATE_TEST_SUITE_P(
    Subgroups, LwsSlice,
    ::testing::Values(
        LwsShape{"LeaderExtraWithoutTpus", kWithout, "2x4", 5, 2, false, ""},          // ((0) 1 2) (3 4)
        LwsShape{"LeaderExcludedWithoutTpus", kWithout, "2x4", 5, 2, true, ""},        // (0) (1 2) (3 4)
        LwsShape{"LeaderInside", kWith, "2x4", 4, 2, false, ""},                       // (0 1) (2 3)
        LwsShape{"LeaderExtraInTheOnlySubgroup", kWith, "4x4", 4, 3, false, ""},       // (0 1 2 3)
        LwsShape{"LeaderInsideWithoutTpus", kWithout, "2x4", 3, 3, false, ""},         // ((0) 1 2)
        LwsShape{"LeaderASubgroupWithoutTpus", kWithout, "2x2", 4, 1, false, ""},      // ((0)) (1) (2) (3)
        LwsShape{"UnevenSingleHostSlices", kWithout, "2x2", 4, 2, false, ""},          // ((0) 1) (2 3)
        LwsShape{"LeaderAloneInItsSubgroup", Leader::kAlone, "2x2", 4, 2, false, ""},  // (0 (1)) ((2) (3))
        LwsShape{"LeaderASliceOfItsOwn", kWith, "2x2", 3, 1, true, ""},                // 0 (1) (2)
        LwsShape{"UnevenWithAnExtraLeader", kWith, "2x4", 5, 2, false,                 // (0 1 2) (3 4)
                 "subGroupPolicy.subGroupSize: Invalid value: 2: of 5 pods in a group, the first subgroup has 3 with "
                 "TPUs and the others 2; each is a slice of the same topology, set size: 4 or 6, or give the leader a "
                 "template without TPUs"},
        LwsShape{"UnevenWithoutAHost", kWithout, "2x4", 4, 2, false,  // ((0) 1) (2 3)
                 "the first subgroup has 1 with TPUs and the others 2; each is a slice of the same topology, set size: "
                 "3 or 5 (including a leader without TPUs)"},
        LwsShape{"TooFewHosts", kWithout, "4x4", 9, 2, false,
                 "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid value: 2: topology 4x4 of "
                 "tpu-v6e-slice has 16 chips; with 4 chips per host that is 4 hosts, set subGroupSize: 4"},
        LwsShape{"TooFewHostsInSize", kWithout, "4x4", 7, 3, false,
                 "set subGroupSize: 4 and size: 9 (2 subgroups of 4 hosts, and a leader)"},
        LwsShape{"EmptySubgroup", kWithout, "4x4", 1, 1, false,
                 "set subGroupSize: 4 and size: 5 (a subgroup of 4 hosts, and a leader)"},
        LwsShape{"TooFewHostsWithTheLeader", kWith, "4x4", 6, 3, false,
                 "set subGroupSize: 4 and size: 8 (2 subgroups of 4 hosts)"},
        LwsShape{"TooManyHostsWithTheLeader", kWith, "2x4", 4, 4, false, "that is 2 hosts, set subGroupSize: 2"},
        LwsShape{"TooManyHostsInOneSubgroup", kWith, "2x4", 3, 3, false,
                 "set subGroupSize: 2 and size: 2 (a subgroup of 2 hosts)"},
        LwsShape{"OnlyTheLeaderInASubgroup", Leader::kAlone, "2x4", 4, 2, false,
                 "only the leader requests google.com/tpu: add it to the workers, or use a topology of one host"},
        LwsShape{"LeaderExcludedFromAMultiHostSlice", kWith, "2x4", 5, 2, true,
                 "subGroupPolicy.subGroupPolicyType: Invalid value: \"LeaderExcluded\": topology 2x4 of tpu-v6e-slice "
                 "has 8 chips; with 4 chips per host that is 2 hosts, and the leader is in no subgroup: remove"}),
    [](const auto& test) { return std::string(test.param.name); });

/// Sizes that errors propose are valid.
TEST(LwsSlices, AreAcceptedWithTheProposedSizes) {
  for (const auto& [size, subgroup, leader] : {std::tuple{4, 2, kWith},
                                               {6, 2, kWith},
                                               {3, 2, kWithout},
                                               {5, 2, kWithout},
                                               {9, 4, kWithout},
                                               {8, 4, kWith},
                                               {2, 2, kWith}}) {
    EXPECT_THAT(set_errors(group_of(leader, subgroup == 4 ? "4x4" : "2x4", size, subgroup)), IsEmpty()) << size;
  }
}

TEST(LwsSlices, ReportSizeAndUnevenSubgroups) {
  EXPECT_THAT(set_errors(group_of(kWith, "4x4", 5, 2)),
              ElementsAre(HasSubstr("set subGroupSize: 4 and size: 8"), HasSubstr("of 5 pods in a group")));
}

TEST(LwsSlices, UseTheWorkerTemplateWithoutALeaderTemplate) {
  EXPECT_THAT(set_errors(uniform_set()), IsEmpty());
  EXPECT_THAT(set_errors(with(uniform_set(), "/spec/leaderWorkerTemplate/size", 5)),
              ElementsAre(HasSubstr("spec.leaderWorkerTemplate.size: Invalid value: 5: topology 4x4 of "
                                    "tpu-v5-lite-podslice has 16 chips; with 4 chips per host that is 4 hosts, set "
                                    "size: 4")));
  Json excluded = with(uniform_set(), "/spec/leaderWorkerTemplate/size", 5);
  excluded["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {{"subGroupSize", 4},
                                                                {"subGroupPolicyType", "LeaderExcluded"}};
  EXPECT_THAT(set_errors(excluded), ElementsAre(HasSubstr("add a leaderTemplate without google.com/tpu")));
}

TEST(LwsSlices, ReportTheInvalidPodTemplate) {
  const Json set = group_of(kWith, "4x4", 4);
  EXPECT_THAT(set_errors(with(set, kLwsLeader + kTopologySelector, "4x5")),
              ElementsAre(HasSubstr("leaderTemplate.spec.nodeSelector[cloud.google.com/gke-tpu-topology]: Invalid "
                                    "value: \"4x5\": the workers have 4x4"),
                          HasSubstr("leaderTemplate.spec.nodeSelector[cloud.google.com/gke-tpu-topology]")));
  EXPECT_THAT(set_errors(with(set, kLwsWorker + kChipLimit, "many")),
              ElementsAre(HasSubstr("workerTemplate: Forbidden: spec.containers[0].resources.limits[google.com/tpu]")));
}

TEST(LwsSlices, MustHaveEqualHosts) {
  const Json set = group_of(kWith, "2x4", 2);
  EXPECT_THAT(set_errors(set), IsEmpty());
  EXPECT_THAT(set_errors(with(set, kLwsLeader + kAcceleratorSelector, "tpu-v5-lite-podslice")),
              ElementsAre("spec.leaderWorkerTemplate.leaderTemplate.spec.nodeSelector[cloud.google.com/"
                          "gke-tpu-accelerator]: Invalid value: \"tpu-v5-lite-podslice\": the workers have "
                          "tpu-v6e-slice; leader and workers are hosts of one slice and must name the same"));
  EXPECT_THAT(set_errors(with(set, kLwsLeader + kTopologySelector, "4x4")),
              ElementsAre(HasSubstr("gke-tpu-topology]: Invalid value: \"4x4\": the workers have 2x4")));
  EXPECT_THAT(set_errors(with(set, kLwsLeader + kSliceAnnotation, "2x2")),
              ElementsAre(HasSubstr("annotations[cloud.google.com/gke-tpu-slice-topology]: Invalid value: \"2x2\": the "
                                    "workers have none")));
  EXPECT_THAT(set_errors(with(set, kLwsLeader + kChipLimit, "8")),
              ElementsAre("spec.leaderWorkerTemplate.leaderTemplate.spec.containers: Invalid value: \"8\": chips, but "
                          "the workers request 4; leader and workers are hosts of one slice and must request the same "
                          "number"));
}

TEST(LwsSlices, OfOneHostEachMayDiffer) {
  Json set = with(group_of(kWith, "2x2", 3), kLwsLeader + kTopologySelector, "2x4");
  set = with(set, kLwsLeader + kChipLimit, "8");
  EXPECT_THAT(set_errors(set), IsEmpty());
}

TEST(LwsSlices, NeedBothSelectorsOrNone) {
  const Json set = group_of(kWithout, "4x4", 5);
  EXPECT_THAT(set_errors(without(set, kLwsWorker + "/spec", "nodeSelector")), IsEmpty());
  const std::string selector = kLwsWorker + "/spec/nodeSelector";
  EXPECT_THAT(set_errors(without(set, selector, "cloud.google.com/gke-tpu-topology")),
              ElementsAre(HasSubstr("workerTemplate.spec.nodeSelector[cloud.google.com/gke-tpu-topology]: Required")));
  EXPECT_THAT(set_errors(without(set, selector, "cloud.google.com/gke-tpu-accelerator")),
              ElementsAre(HasSubstr("nodeSelector[cloud.google.com/gke-tpu-accelerator]: Required")));
  Json annotated = without(set, kLwsWorker + "/spec", "nodeSelector");
  annotated = with(annotated, kLwsWorker + kSliceAnnotation, "4x4");
  EXPECT_THAT(set_errors(annotated),
              ElementsAre(HasSubstr("nodeSelector[cloud.google.com/gke-tpu-accelerator]: Required")));
}

TEST(LwsSlices, WithoutSelectorsStillNeedLimitsAndEvenSubgroups) {
  Json set = without(group_of(kWithout, "4x4", 4, 2), kLwsWorker + "/spec", "nodeSelector");
  EXPECT_THAT(set_errors(set), ElementsAre(HasSubstr("the first subgroup has 1 with TPUs and the others 2")));
  set = without(group_of(kWithout, "4x4", 5), kLwsWorker + "/spec", "nodeSelector");
  set = with(set, kLwsWorker + "/spec/containers/0/resources", Json({{"requests", {{"google.com/tpu", "4"}}}}));
  EXPECT_THAT(set_errors(set), ElementsAre(HasSubstr("resources.limits[google.com/tpu]: Required value")));
}

TEST(LwsSlices, WithoutSelectorsMayHaveSubgroupsOfOne) {
  Json set = without(group_of(kWith, "2x2", 3, 1), kLwsWorker + "/spec", "nodeSelector");
  EXPECT_THAT(set_errors(without(set, kLwsLeader + "/spec", "nodeSelector")), IsEmpty());
}

TEST(LwsSlices, AcceptATopologyOnWorkersOnly) {
  Json set = without(group_of(kWith, "16x16", 4), kLwsLeader + "/spec", "nodeSelector");
  EXPECT_THAT(set_errors(with(set, kLwsWorker + kSliceAnnotation, "4x4")), IsEmpty());
}

TEST(LwsSlices, AreNotCountedIfTheGroupsAreInvalid) {
  Json set = group_of(kWithout, "4x5", 0);
  EXPECT_THAT(set_errors(set), ElementsAre(HasSubstr("size: Invalid value: 0"), HasSubstr("\"4x5\"")));
  EXPECT_THAT(set_errors(group_of(kWithout, "4x4", 6, 4)), ElementsAre(HasSubstr("must divide the group's size, 6")));
  set = with(group_of(kWithout, "4x4", 5, 4), "/spec/leaderWorkerTemplate/subGroupPolicy/subGroupSize", 0);
  EXPECT_THAT(set_errors(set), ElementsAre(HasSubstr("subGroupSize: Invalid value: 0: must be")));
}

TEST(LwsSlices, MaySplitHostsOfTpu7x) {
  Json set = uniform_set();
  set = with(set, "/spec/leaderWorkerTemplate/size", 2);
  set = with(set, kLwsWorker + kAcceleratorSelector, "tpu7x");
  set = with(set, kLwsWorker + kTopologySelector, "2x2x2");
  Json container = set.at(Json::json_pointer(kLwsWorker + "/spec/containers/0"));
  container["resources"]["limits"]["google.com/tpu"] = "2";
  Json other = container;
  other["name"] = "other";
  set = with(set, kLwsWorker + "/spec/containers", Json::array({container, other}));
  EXPECT_THAT(set_errors(set), IsEmpty());
  Json leader = set.at(Json::json_pointer(kLwsWorker));
  set = with(set, kLwsLeader, leader);
  EXPECT_THAT(set_errors(set), IsEmpty());
  set = with(with(set, kLwsLeader + "/spec/containers", Json::array({container})), kLwsLeader + kChipLimit, "4");
  EXPECT_THAT(set_errors(set), ElementsAre(HasSubstr("Invalid value: \"4\": chips, but the workers request 2 + 2")));
}

}  // namespace
}  // namespace tpuslice::rules
