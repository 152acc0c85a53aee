#include "controllers/leaderworkerset/services.h"

#include <gtest/gtest.h>

#include "tests/unit/controllers/leaderworkerset/sets.h"

namespace tpuslice::leaderworkerset {
namespace {

using enum ServiceVerdict::Kind;

const Object& serve() {
  static const Object kSet = a_set("serve").size(2).object();
  return kSet;
}

Json shared() { return build_shared_service(LeaderWorkerSetSpec::read(serve())); }

Json of_group() {
  const Leader leader{.name = "serve-2", .uid = "uid-1", .group = 2, .group_key = "k", .revision_key = "r"};
  return build_group_service(LeaderWorkerSetSpec::read(serve()), leader);
}

ServiceVerdict judge(const Json& wanted, Json live) {
  live["metadata"]["uid"] = "uid-of-service";
  const ServiceView view = *ServiceView::from_json(live);
  return judge_service(wanted, &view);
}

TEST(Services, OfAllPodsIsUpstreamsToTheByte) {
  EXPECT_EQ(shared(), Json::parse(R"({
    "apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "serve", "namespace": "default", "labels": {"leaderworkerset.sigs.k8s.io/name": "serve"},
      "ownerReferences": [{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "serve",
                           "uid": "uid-of-serve", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"clusterIP": "None", "selector": {"leaderworkerset.sigs.k8s.io/name": "serve"},
             "publishNotReadyAddresses": true}})"));
}

TEST(Services, OfAGroupBelongsToItsLeader) {
  EXPECT_EQ(of_group(), Json::parse(R"({
    "apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "serve-2", "namespace": "default", "labels": {"leaderworkerset.sigs.k8s.io/name": "serve"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "serve-2", "uid": "uid-1", "controller": true,
                           "blockOwnerDeletion": true}]},
    "spec": {"clusterIP": "None", "publishNotReadyAddresses": true,
             "selector": {"leaderworkerset.sigs.k8s.io/name": "serve",
                          "leaderworkerset.sigs.k8s.io/group-index": "2"}}})"));
}

TEST(Services, AreCreatedWhereTheyAreMissingAndThenGood) {
  EXPECT_EQ(judge_service(shared(), nullptr).kind, kMissing);
  EXPECT_EQ(judge(shared(), shared()).kind, kGood);
  EXPECT_EQ(judge(of_group(), of_group()).kind, kGood);
}

TEST(Services, AreRestoredWhenTheyDrifted) {
  Json live = shared();
  live["spec"]["selector"] = {{"app", "other"}};
  live["spec"]["publishNotReadyAddresses"] = false;
  const ServiceVerdict verdict = judge(shared(), live);
  EXPECT_EQ(verdict.kind, kDrifted);
  EXPECT_EQ(verdict.patch, Json::parse(R"({"spec": {"publishNotReadyAddresses": true,
      "selector": {"leaderworkerset.sigs.k8s.io/name": "serve", "app": null}}})"));
}

TEST(Services, ThatAreGoingAreWaitedFor) {
  Json deleted = shared();
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(judge(shared(), deleted).kind, kLeaving);
  Json of_earlier_leader = of_group();
  of_earlier_leader["metadata"]["ownerReferences"][0]["uid"] = "uid-0";
  EXPECT_EQ(judge(of_group(), of_earlier_leader).kind, kLeaving) << "the garbage collector takes it";
}

TEST(Services, OfSomebodyElseAreGoodEnoughIfTheyServeThePods) {
  Json live = shared();
  live["metadata"].erase("ownerReferences");
  EXPECT_EQ(judge(shared(), live).kind, kGood);
}

struct ForeignService {
  const char* name;
  Json change;
  const char* flaw;
};

class ForeignServices : public testing::TestWithParam<ForeignService> {};

TEST_P(ForeignServices, AreReportedWithWhatTheyLack) {
  Json live = shared();
  live["metadata"]["ownerReferences"] = nullptr;
  live.merge_patch(GetParam().change);
  const ServiceVerdict verdict = judge(shared(), live);
  EXPECT_EQ(verdict.kind, kForeign);
  EXPECT_EQ(verdict.flaw, GetParam().flaw);
  EXPECT_TRUE(verdict.patch.is_null());
}

INSTANTIATE_TEST_SUITE_P(
    Flaws, ForeignServices,
    testing::Values(ForeignService{"Address", Json::parse(R"({"spec": {"clusterIP": "10.0.0.1"}})"),
                                   "has no controller and does not serve the pods of this set: it is not headless "
                                   "(spec.clusterIP: None)"},
                    ForeignService{"NotReady", Json::parse(R"({"spec": {"publishNotReadyAddresses": null}})"),
                                   "has no controller and does not serve the pods of this set: it does not publish "
                                   "addresses that are not ready"},
                    ForeignService{"Selector", Json::parse(R"({"spec": {"selector": {"app": "x"}}})"),
                                   "has no controller and does not serve the pods of this set: its selector is not "
                                   R"({"leaderworkerset.sigs.k8s.io/name":"serve"})"},
                    ForeignService{"Owned", Json::parse(R"({"metadata": {"ownerReferences": [{"apiVersion": "v1",
                                       "kind": "Thing", "name": "t", "uid": "u", "controller": true}]},
                                       "spec": {"selector": null}})"),
                                   "belongs to Thing t and does not serve the pods of this set: its selector is not "
                                   R"({"leaderworkerset.sigs.k8s.io/name":"serve"})"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Services, OfOursThatHaveAnAddressCannotBeMended) {
  Json live = shared();
  live["spec"]["clusterIP"] = "10.0.0.1";
  EXPECT_EQ(judge(shared(), live).kind, kForeign);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
