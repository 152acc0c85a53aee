#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/disaggregatedset/rules/validator.h"
#include "tests/support/disaggregatedset/world.h"

namespace tpuslice::disaggregatedset {
namespace {

using rules::warn_disaggregatedset;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(DisaggregatedSetWarnings, AreNoneForAPlainSet) { EXPECT_THAT(warn_disaggregatedset(a_set()), IsEmpty()); }

TEST(DisaggregatedSetWarnings, ReplicasOfAnExternalRoleHaveNoEffect) {
  EXPECT_THAT(warn_disaggregatedset(a_set({{"prefill", 2}, {"decode", 3, true}})),
              ElementsAre("spec.roles[1].spec.replicas: is ignored with scaling.mode: External; scale "
                          "DisaggregatedSetRoleScaler llm-decode"));
}

TEST(DisaggregatedSetWarnings, HaveThoseOfTheLeaderWorkerSets) {
  Json set = a_set();
  set["spec"]["roles"][1]["spec"]["leaderWorkerTemplate"]["restartPolicy"] = "Default";
  EXPECT_THAT(warn_disaggregatedset(set),
              ElementsAre("spec.roles[1].spec.leaderWorkerTemplate.restartPolicy: Default is deprecated and counts as "
                          "None"));
}

TEST(DisaggregatedSetWarnings, SlicesOfSeveralHostsAreNotInOneNodePool) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveSlice"}, {"topology", "cloud.google.com/gke-nodepool"}};
  Json& groups = set["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"];
  groups["size"] = 4;
  Json& pods = groups["workerTemplate"]["spec"];
  pods["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"},
                          {"cloud.google.com/gke-tpu-topology", "4x4"}};
  pods["containers"][0]["resources"] = {{"limits", {{"google.com/tpu", "4"}}}};
  EXPECT_THAT(warn_disaggregatedset(set), ElementsAre(HasSubstr("spec.placementPolicy.topology: the slices of role "
                                                                "prefill have a node pool each")));
}

TEST(DisaggregatedSetWarnings, ASurgeOfOneRoleNeedsNodesForTheOthers) {
  Json set = a_set();
  for (Json& role : set["spec"]["roles"]) {
    Json& pods = role["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"];
    pods["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"},
                            {"cloud.google.com/gke-tpu-topology", "2x2"}};
    pods["containers"][0]["resources"] = {{"limits", {{"google.com/tpu", "4"}}}};
  }
  EXPECT_THAT(warn_disaggregatedset(set), IsEmpty());
  const Json without = {{"type", "RollingUpdate"},
                        {"rollingUpdateConfiguration", {{"maxSurge", 0}, {"maxUnavailable", 1}}}};
  set["spec"]["roles"][1]["spec"]["rolloutStrategy"] = without;
  EXPECT_THAT(warn_disaggregatedset(set),
              ElementsAre(HasSubstr("spec.roles: role decode has maxSurge: 0 and role prefill has a surge")));
  set["spec"]["roles"][0]["spec"]["rolloutStrategy"] = without;
  EXPECT_THAT(warn_disaggregatedset(set), IsEmpty());
}

TEST(DisaggregatedSetWarnings, SomeChangesWaitForTheNextRevision) {
  const Json old = a_set();
  Json set = old;
  set["spec"]["roles"][0]["spec"]["startupPolicy"] = "LeaderReady";
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveSlice"}, {"topology", "rack"}};
  EXPECT_THAT(warn_disaggregatedset(set, &old),
              testing::Contains("spec.roles[0].spec.startupPolicy: takes effect with the next change of a "
                                "leaderWorkerTemplate, which rolls out"));
  EXPECT_THAT(warn_disaggregatedset(set, &old), testing::Contains(HasSubstr("spec.placementPolicy")));
  set["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"]["size"] = 2;
  EXPECT_THAT(warn_disaggregatedset(set, &old), IsEmpty()) << "it is rolled out now";
}

TEST(DisaggregatedSetWarnings, OthersTakeEffectAtOnce) {
  const Json old = a_set();
  Json set = old;
  set["spec"]["roles"][0]["spec"]["replicas"] = 5;
  set["spec"]["slices"] = 2;
  EXPECT_THAT(warn_disaggregatedset(set, &old), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
