#include "controllers/disaggregatedset/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/disaggregatedset/world.h"

namespace tpuslice::disaggregatedset {
namespace {

Json built(const Json& set, std::int64_t slice = 0) { return SetBuilder(Object(set), "58f79fdb").build(0, slice, 3); }

Json labels_of(int slice) {
  return {{"app", "llm-" + std::to_string(slice) + "-prefill"},
          {"disaggregatedset.x-k8s.io/name", "llm"},
          {"disaggregatedset.x-k8s.io/role", "prefill"},
          {"disaggregatedset.x-k8s.io/slice", std::to_string(slice)},
          {"disaggregatedset.x-k8s.io/revision", "58f79fdb"}};
}

TEST(RoleChildren, ALeaderWorkerSetHasTheSpecOfItsRole) {
  Json set = a_set();
  set["spec"]["roles"][0]["spec"]["startupPolicy"] = "LeaderReady";
  set["spec"]["roles"][0]["metadata"] = {{"labels", {{"team", "a"}, {"app", "mine"}}},
                                         {"annotations", {{"note", "b"}}}};
  const Json made = built(set, 1);
  EXPECT_EQ(made["apiVersion"], "leaderworkerset.x-k8s.io/v1");
  EXPECT_EQ(made["kind"], "LeaderWorkerSet");
  EXPECT_EQ(made["metadata"]["name"], "llm-1-58f79fdb-prefill");
  Json labels = labels_of(1);
  labels["team"] = "a";
  EXPECT_EQ(made["metadata"]["labels"], labels);
  EXPECT_EQ(made["metadata"]["annotations"], Json({{"note", "b"}}));
  EXPECT_EQ(made["metadata"]["ownerReferences"][0]["uid"], "uid-of-llm");
  EXPECT_EQ(made["spec"]["startupPolicy"], "LeaderReady");
  EXPECT_EQ(made["spec"]["replicas"], 3);
}

TEST(RoleChildren, ThePodsHaveTheLabelsToo) {
  Json set = a_set();
  Json& groups = set["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"];
  groups["leaderTemplate"] = groups["workerTemplate"];
  groups["workerTemplate"]["metadata"]["labels"] = {{"app", "mine"}, {"tier", "gpu"}};
  const Json made = built(set)["spec"]["leaderWorkerTemplate"];
  Json labels = labels_of(0);
  EXPECT_EQ(made["leaderTemplate"]["metadata"]["labels"], labels);
  labels["tier"] = "gpu";
  EXPECT_EQ(made["workerTemplate"]["metadata"]["labels"], labels);
}

TEST(RoleChildren, WithoutAPolicyThePodsHaveNoAffinity) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "None"}, {"topology", "rack"}};
  EXPECT_FALSE(built(set)["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"].contains("affinity"));
}

// Source: upstream's affinity_test.go.
TEST(RoleChildren, ExclusiveSliceKeepsASliceTogetherAndApartFromOthers) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveSlice"}, {"topology", "rack"}};
  const Json affinity = built(set, 2)["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["affinity"];
  const Json name = {{"key", "disaggregatedset.x-k8s.io/name"}, {"operator", "In"}, {"values", {"llm"}}};
  const Json slice = {{"key", "disaggregatedset.x-k8s.io/slice"}, {"operator", "In"}, {"values", {"2"}}};
  const Json other = {{"key", "disaggregatedset.x-k8s.io/slice"}, {"operator", "NotIn"}, {"values", {"2"}}};
  const auto term = [](Json expressions) {
    return Json::array({{{"labelSelector", {{"matchExpressions", std::move(expressions)}}}, {"topologyKey", "rack"}}});
  };
  EXPECT_EQ(affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
            term(Json::array({name, slice})));
  EXPECT_EQ(affinity["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
            term(Json::array({name, other})));
}

TEST(RoleChildren, SliceZeroIsNotApartFromPodsWithoutASlice) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveSlice"}, {"topology", "rack"}};
  const Json pods = built(set)["spec"]["leaderWorkerTemplate"]["workerTemplate"];
  const Json& apart = pods["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  EXPECT_EQ(apart[0]["labelSelector"]["matchExpressions"][1],
            Json({{"key", "disaggregatedset.x-k8s.io/slice"}, {"operator", "Exists"}}));
}

TEST(RoleChildren, ExclusiveTopologyKeepsOtherSetsOut) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveTopology"}, {"topology", "rack"}};
  const Json pods = built(set)["spec"]["leaderWorkerTemplate"]["workerTemplate"];
  const Json& apart = pods["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[1]["labelSelector"]["matchExpressions"],
            Json::array({{{"key", "disaggregatedset.x-k8s.io/name"}, {"operator", "Exists"}},
                         {{"key", "disaggregatedset.x-k8s.io/name"}, {"operator", "NotIn"}, {"values", {"llm"}}},
                         {{"key", "disaggregatedset.x-k8s.io/slice"}, {"operator", "Exists"}}}));
}

TEST(RoleChildren, TermsOfTheUserStay) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveSlice"}, {"topology", "rack"}};
  const Json own = {{"topologyKey", "zone"}};
  set["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["affinity"]["podAffinity"]
     ["requiredDuringSchedulingIgnoredDuringExecution"] = Json::array({own});
  const Json pods = built(set)["spec"]["leaderWorkerTemplate"]["workerTemplate"];
  const Json& together = pods["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  ASSERT_EQ(together.size(), 2U);
  EXPECT_EQ(together[0], own);
}

TEST(RoleChildren, TheSelectorOfAScalerIsThatOfTheLeaders) {
  const Object set(a_set());
  EXPECT_EQ(scaler_selector(DisaggregatedSetSpec::read(set), "decode"),
            "disaggregatedset.x-k8s.io/name=llm,disaggregatedset.x-k8s.io/role=decode,"
            "leaderworkerset.sigs.k8s.io/worker-index=0");
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
