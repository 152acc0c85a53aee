#include "controllers/plan/service.h"

#include <gtest/gtest.h>

#include "api/types/patch.h"

namespace tpuslice::plan {
namespace {

using Kind = ChildDecision::Kind;

/// A headless service `train` of JobSet `train` with the given uid.
Json headless(const std::string& uid = "u1") {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata",
           {{"name", "train"},
            {"namespace", "default"},
            {"uid", "s1"},
            {"labels", {{"app", "train"}}},
            {"ownerReferences", Json::array({ControllerRef{"jobset/v1", "JobSet", "train", uid}.to_json()})}}},
          {"spec", {{"clusterIP", "None"}, {"selector", {{"app", "train"}}}, {"publishNotReadyAddresses", true}}}};
}

ChildDecision headless_decision(const Json& live) {
  const ServiceView view = ServiceView::from_json(live).value();
  return decide_headless_service(headless(), &view);
}

ChildDecision decision(const Json& desired, const Json& live) {
  const ObjectView view = ObjectView::from_json(live).value();
  return decide_service(desired, &view);
}

TEST(HeadlessService, IsCreatedIfMissing) {
  EXPECT_EQ(decide_headless_service(headless(), nullptr).kind, Kind::kCreate);
}

TEST(HeadlessService, IsLeftUnchangedWithoutDrift) { EXPECT_EQ(headless_decision(headless()).kind, Kind::kNone); }

TEST(HeadlessService, GetsItsSelectorAndPublishingBack) {
  Json live = headless();
  live["spec"]["selector"] = {{"stray", "x"}};
  live["spec"].erase("publishNotReadyAddresses");
  const ChildDecision out = headless_decision(live);
  EXPECT_EQ(out.kind, Kind::kPatch);
  EXPECT_EQ(out.patch, Json::parse(R"({"spec": {"selector": {"app": "train", "stray": null},
                                                "publishNotReadyAddresses": true}})"));
}

TEST(HeadlessService, ComparesPortsAsTheServerStoresThem) {
  Json desired = headless();
  desired["spec"]["ports"] = Json::parse(R"([{"name": "tcp-1", "port": 1, "protocol": "TCP", "targetPort": 1},
                                             {"name": "udp-2", "port": 2, "protocol": "UDP", "targetPort": 2}])");
  const auto decide = [&](const char* ports) {
    Json live = headless();
    live["spec"]["ports"] = Json::parse(ports);
    const ServiceView view = ServiceView::from_json(live).value();
    return decide_headless_service(desired, &view);
  };
  EXPECT_EQ(decide(R"([{"name": "udp-2", "port": 2, "protocol": "UDP"}, {"name": "tcp-1", "port": 1}])").kind,
            Kind::kNone);
  for (
      const char* drifted :
      {R"([])", R"([{"name": "tcp-1", "port": 1}])", R"([{"name": "tcp-1", "port": 1}, {"name": "x", "port": 3}])",
       R"([{"name": "udp-2", "port": 2, "protocol": "UDP", "targetPort": "dns"}, {"name": "tcp-1", "port": 1}])",
       R"([{"name": "udp-2", "port": 2, "protocol": "UDP"}, {"name": "tcp-1", "port": 1}, {"name": "x", "port": 3}])"}) {
    const ChildDecision out = decide(drifted);
    EXPECT_EQ(out.kind, Kind::kPatch) << drifted;
    EXPECT_EQ(out.patch, Json({{"spec", {{"ports", desired["spec"]["ports"]}}}})) << drifted;
  }
}

TEST(HeadlessService, IsWaitedForWhileItIsDeleted) {
  Json live = headless();
  live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(headless_decision(live).kind, Kind::kWait);
  EXPECT_EQ(headless_decision(headless("u0")).kind, Kind::kWait) << "of an earlier JobSet of the same name";
}

TEST(HeadlessService, OfAnotherOwnerWillDoIfItServesThePods) {
  Json live = headless();
  live["metadata"].erase("ownerReferences");
  EXPECT_EQ(headless_decision(live).kind, Kind::kNone);
  live["spec"]["selector"] = {{"app", "other"}};
  EXPECT_EQ(headless_decision(live).conflict,
            R"(service default/train has no controller and its selector is not {"app":"train"})");
  live["spec"]["clusterIP"] = "10.0.0.1";
  EXPECT_EQ(headless_decision(live).conflict,
            "service default/train has no controller and is not headless (spec.clusterIP: None)");
}

TEST(HeadlessService, ThatIsOwnedButNotHeadlessIsAConflict) {
  Json live = headless();
  live["spec"]["clusterIP"] = "10.0.0.1";
  EXPECT_EQ(headless_decision(live).conflict, "service default/train is not headless (spec.clusterIP: None)");
}

/// Typed clients in Go write targetPort: 0, for which the API server has a default.
TEST(Service, HasPortsWhoseZerosTheServerReplaces) {
  Json desired = headless();
  desired["spec"]["ports"] = Json::parse(R"([{"name": "a", "port": 1, "targetPort": 0, "nodePort": 0}])");
  Json live = headless();
  live["spec"]["ports"] = Json::parse(R"([{"name": "a", "port": 1, "targetPort": 1, "protocol": "TCP"}])");
  EXPECT_EQ(decision(desired, live).kind, Kind::kNone);
  live["spec"]["ports"][0]["port"] = 2;
  EXPECT_EQ(decision(desired, live).kind, Kind::kPatch);
}

TEST(Service, ConcernsItsOwnerAndTheWorkloadOfItsSelector) {
  const ServiceView owned = ServiceView::from_json(headless()).value();
  EXPECT_EQ(workloads_of(owned, "JobSet", "app"), (std::vector<ObjectKey>{{"default", "train"}, {"default", "train"}}));
  EXPECT_EQ(workloads_of(owned, "LeaderWorkerSet", "other"), std::vector<ObjectKey>());
}

TEST(Service, GetsPortsAndLabelsBackAndKeepsNodePorts) {
  Json desired = headless();
  desired["spec"]["ports"] = Json::parse(R"([{"name": "a", "port": 1}, {"name": "b", "port": 2}])");
  Json live = desired;
  live["spec"]["ports"] = Json::parse(R"([{"name": "b", "port": 2, "protocol": "TCP", "nodePort": 30002},
                                          {"name": "a", "port": 1, "protocol": "TCP"}])");
  EXPECT_EQ(decision(desired, live).kind, Kind::kNone);
  live["spec"]["ports"].erase(1);
  live["metadata"].erase("labels");
  const ChildDecision out = decision(desired, live);
  EXPECT_EQ(out.kind, Kind::kPatch);
  EXPECT_EQ(out.patch, Json::parse(R"({"metadata": {"labels": {"app": "train"}},
    "spec": {"ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2, "nodePort": 30002}]}})"));
}

TEST(DescribedService, GetsAnnotationsAndMutableMembersBack) {
  const Json desired = apply_merge_patch(headless(), Json::parse(R"({"metadata": {"annotations": {"a": "1"}},
                                  "spec": {"clusterIP": "None", "type": "LoadBalancer", "sessionAffinity": "None",
                                           "loadBalancerSourceRanges": ["10.0.0.0/8"],
                                           "publishNotReadyAddresses": false}})"));
  const Json live =
      apply_merge_patch(headless(), Json::parse(R"({"metadata": {"annotations": {"a": "0", "others": "x"}},
                                  "spec": {"clusterIP": "10.0.0.7", "type": "ClusterIP", "sessionAffinity": "None",
                                           "publishNotReadyAddresses": null,
                                           "externalIPs": ["192.0.2.1"]}})"));
  const ObjectView view = ObjectView::from_json(live).value();
  const ChildDecision out = decide_described_service(desired, &view);
  EXPECT_EQ(out.patch, Json::parse(R"({"metadata": {"annotations": {"a": "1"}},
                                       "spec": {"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8"]}})"));
  const ObjectView same = ObjectView::from_json(apply_merge_patch(live, out.patch)).value();
  EXPECT_EQ(decide_described_service(desired, &same).kind, Kind::kNone);
  EXPECT_EQ(decide_service(desired, &view).kind, Kind::kNone) << "of a service that is not described";
}

TEST(Service, OfAnotherOwnerIsAConflict) {
  Json live = headless();
  live["metadata"]["ownerReferences"][0]["name"] = "other";
  live["metadata"]["ownerReferences"][0]["uid"] = "u9";
  EXPECT_EQ(decision(headless(), live).conflict, "service default/train belongs to JobSet other");
  EXPECT_EQ(decision(headless(), headless("u0")).kind, Kind::kWait) << "of an earlier JobSet of the same name";
}

}  // namespace
}  // namespace tpuslice::plan
