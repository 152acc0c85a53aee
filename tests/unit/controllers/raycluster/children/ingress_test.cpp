#include "controllers/raycluster/children/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Json a_cluster_with_ingress(Json options = Json::object()) {
  Json cluster = a_cluster("train", {});
  cluster["spec"]["headGroupSpec"]["enableIngress"] = true;
  cluster["spec"]["headGroupSpec"]["ingressOptions"] = std::move(options);
  return cluster;
}

Json ingress_of(const Json& json) {
  const Object cluster(json);
  return build_ingress(RayClusterSpec::read(cluster)).json();
}

TEST(Ingress, RoutesEveryPathOfAnyHostToTheDashboard) {
  const Json ingress = ingress_of(a_cluster_with_ingress());
  EXPECT_EQ(ingress["metadata"]["name"], "train-head-ingress");
  EXPECT_EQ(ingress["metadata"]["labels"]["ray.io/identifier"], "train-head");
  EXPECT_FALSE(ingress["metadata"].contains("annotations"));
  EXPECT_EQ(ingress["spec"], Json::parse(R"({"rules": [{"http": {"paths": [{
    "path": "/", "pathType": "Prefix",
    "backend": {"service": {"name": "train-head-svc", "port": {"number": 8265}}}}]}}]})"));
}

TEST(Ingress, TakesItsOptions) {
  const Json spec = ingress_of(a_cluster_with_ingress(
      {{"host", "ray.example.com"},
       {"path", "/train"},
       {"pathType", "Exact"},
       {"tls", Json::array({{{"hosts", {"ray.example.com"}}, {"secretName", "cert"}}})}}))["spec"];
  EXPECT_EQ(spec["rules"][0]["host"], "ray.example.com");
  EXPECT_EQ(spec["rules"][0]["http"]["paths"][0]["path"], "/train");
  EXPECT_EQ(spec["rules"][0]["http"]["paths"][0]["pathType"], "Exact");
  EXPECT_EQ(spec["tls"], Json::array({{{"hosts", {"ray.example.com"}}, {"secretName", "cert"}}}));
}

TEST(Ingress, HasThePortOfTheDashboardThatTheHeadDeclares) {
  Json cluster = a_cluster_with_ingress();
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"] =
      Json::array({{{"name", "dashboard"}, {"containerPort", 9000}}});
  const Json path = ingress_of(cluster)["spec"]["rules"][0]["http"]["paths"][0];
  EXPECT_EQ(path["backend"]["service"]["port"]["number"], 9000);
}

TEST(Ingress, HasTheAnnotationsOfItsCluster) {
  Json cluster = a_cluster_with_ingress();
  cluster["metadata"]["annotations"] = {{"kubernetes.io/ingress.class", "nginx"},
                                        {"kubectl.kubernetes.io/last-applied-configuration", "{}"},
                                        {"nginx.ingress.kubernetes.io/rewrite-target", "/"}};
  const Json ingress = ingress_of(cluster);
  EXPECT_EQ(ingress["spec"]["ingressClassName"], "nginx");
  EXPECT_EQ(ingress["metadata"]["annotations"], Json({{"nginx.ingress.kubernetes.io/rewrite-target", "/"}}));
}

class LiveIngress : public testing::Test {
 protected:
  plan::Plan plan_after(const std::function<void(Json&)>& how) {
    const Object cluster(a_cluster_with_ingress());
    RayClusterObserved seen = all_running(cluster);
    const plan::Plan first = plan_raycluster(seen, {});
    edit(seen.cluster)["status"] = first.status->status;
    Json live = seen.children.objects[0].object->object().json();
    how(live);
    seen.children.objects[0].object = std::make_shared<const ObjectView>(decode_object(live));
    return plan_raycluster(seen, {});
  }
};

TEST_F(LiveIngress, KeepsAClassAndAnnotationsThatOthersAdd) {
  const plan::Plan plan = plan_after([](Json& live) {
    live["spec"]["ingressClassName"] = "default-class";
    live["metadata"]["annotations"]["ingress.kubernetes.io/backends"] = "{}";
  });
  EXPECT_TRUE(plan.empty()) << to_json(plan).dump();
}

TEST_F(LiveIngress, LosesWhatItsOptionsDoNotSay) {
  const plan::Plan plan = plan_after([](Json& live) {
    live["spec"]["tls"] = Json::array({{{"secretName", "cert"}}});
    live["spec"]["rules"][0]["host"] = "old.example.com";
  });
  EXPECT_THAT(writes_of(plan), ElementsAre("patch Ingress train-head-ingress"));
  const Json patch = action_of(plan, "patch Ingress train-head-ingress").body.make().value();
  EXPECT_TRUE(patch["spec"]["tls"].is_null());
  EXPECT_FALSE(patch["spec"]["rules"][0].contains("host"));
  const std::vector<plan::EventIntent> events = events_of(plan);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].reason, "UpdatedIngress");
  EXPECT_EQ(events[0].message, "Updated ingress default/train-head-ingress");
  EXPECT_EQ(events[1].reason, "FailedToUpdateIngress");
}

TEST_F(LiveIngress, OfAnotherOwnerHoldsBackNoPod) {
  RayClusterObserved seen = all_running(Object(a_cluster_with_ingress()));
  Json live = seen.children.objects[0].object->object().json();
  live["metadata"]["ownerReferences"][0]["uid"] = "another-owner";
  live["metadata"]["ownerReferences"][0]["name"] = "another";
  seen.children.objects[0].object = std::make_shared<const ObjectView>(decode_object(live));
  seen.pods.clear();
  const plan::Plan plan = plan_raycluster(seen, {});
  EXPECT_THAT(stages_of(plan), ElementsAre(Each(StartsWith("create Pod "))));
  const Json& conditions = plan.status->status["conditions"];
  EXPECT_EQ((*find_condition(conditions, plan::kChildrenReady))["reason"], kIngressConflict);
}

TEST(Ingress, IsWrittenAfterThePods) {
  const plan::Plan plan = plan_raycluster(nothing_yet(Object(a_cluster_with_ingress())), {});
  EXPECT_THAT(stages_of(plan), ElementsAre(Each(StartsWith("create Service ")), Each(StartsWith("create Pod ")),
                                           ElementsAre("create Ingress train-head-ingress")));
}

}  // namespace
}  // namespace tpuslice::raycluster
