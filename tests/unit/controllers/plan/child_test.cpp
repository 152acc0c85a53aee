#include "controllers/plan/child.h"

#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

using Kind = ChildDecision::Kind;

/// The role `train` of RayCluster `train` with the given uid.
Json role(const std::string& uid = "u1") {
  return {{"apiVersion", "rbac.authorization.k8s.io/v1"},
          {"kind", "Role"},
          {"metadata",
           {{"name", "train"},
            {"namespace", "default"},
            {"uid", "r1"},
            {"labels", {{"app", "train"}}},
            {"ownerReferences", Json::array({ControllerRef{"ray.io/v1", "RayCluster", "train", uid}.to_json()})}}},
          {"rules", Json::array({{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"get"}}}})}};
}

ChildDecision decision(const Json& live) {
  const ObjectView view = ObjectView::from_json(live).value();
  return decide_child(role(), &view);
}

TEST(Child, IsCreatedIfMissing) { EXPECT_EQ(decide_child(role(), nullptr).kind, Kind::kCreate); }

TEST(Child, IsLeftUnchangedWithoutDrift) {
  Json live = role();
  live["metadata"]["labels"]["added"] = "by a user";
  live["metadata"]["annotations"] = {{"added", "by a user"}};
  live["metadata"]["resourceVersion"] = "7";
  EXPECT_EQ(decision(live).kind, Kind::kNone);
}

TEST(Child, GetsItsContentAndLabelsBack) {
  Json live = role();
  live["rules"][0]["verbs"] = {"get", "delete"};
  live["metadata"]["labels"].erase("app");
  const ChildDecision out = decision(live);
  EXPECT_EQ(out.kind, Kind::kPatch);
  EXPECT_EQ(out.patch, (Json{{"rules", role()["rules"]}, {"metadata", {{"labels", {{"app", "train"}}}}}}));
}

TEST(Child, GetsContentBackThatWasRemoved) {
  Json live = role();
  live.erase("rules");
  EXPECT_EQ(decision(live).patch, (Json{{"rules", role()["rules"]}}));
}

TEST(Child, LosesWhatOthersAddIfItIsComparedExactly) {
  Json live = role();
  live["rules"][0]["resourceNames"] = {"only-this"};
  EXPECT_EQ(decision(live).kind, Kind::kNone);
  const ObjectView view = ObjectView::from_json(live).value();
  const ChildDecision out = decide_child(role(), &view, true);
  EXPECT_EQ(out.patch, (Json{{"rules", role()["rules"]}}));
  live["rules"] = role()["rules"];
  const ObjectView same = ObjectView::from_json(live).value();
  EXPECT_EQ(decide_child(role(), &same, true).kind, Kind::kNone);
}

TEST(Child, IsAdoptedIfItHasItsLabelsAndNoOwner) {
  Json live = role();
  EXPECT_FALSE(is_orphan(role(), ObjectView::from_json(live).value()));
  live["metadata"].erase("ownerReferences");
  EXPECT_TRUE(is_orphan(role(), ObjectView::from_json(live).value()));
  EXPECT_EQ(adopt(role()).patch, (Json{{"metadata", {{"ownerReferences", role()["metadata"]["ownerReferences"]}}}}));
  live["metadata"]["labels"]["app"] = "other";
  EXPECT_FALSE(is_orphan(role(), ObjectView::from_json(live).value()));
}

TEST(Child, IsWaitedForWhileItIsDeleted) {
  Json live = role();
  live["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_EQ(decision(live).kind, Kind::kWait);
  EXPECT_EQ(decision(role("u0")).kind, Kind::kWait) << "of an earlier RayCluster of the same name";
}

TEST(Child, OfAnotherOwnerIsAConflict) {
  Json live = role();
  live["metadata"]["ownerReferences"] = Json::array({ControllerRef{"v1", "ConfigMap", "other", "u9"}.to_json()});
  EXPECT_EQ(decision(live).kind, Kind::kConflict);
  EXPECT_EQ(decision(live).conflict, "role default/train belongs to ConfigMap other");
  live["metadata"].erase("ownerReferences");
  EXPECT_EQ(decision(live).conflict, "role default/train has no controller") << "also if nothing differs";
}

}  // namespace
}  // namespace tpuslice::plan
