#include "controllers/jobset/headless_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

JobSetBuilder train() { return a_jobset("train").job("workers"); }

Json service_of(const World& world) { return build_service(world.spec()); }

std::string service_ready(const Changes& changes) { return condition(changes.status.conditions, kServiceReady); }

// The condition as the changes leave it becomes that of the JobSet.
void keep_conditions(const Scene& scene, World& world) {
  world.set("/status/conditions", scene.changes.status.conditions);
}

TEST(HeadlessService, IsUpstreamsToTheByte) {
  EXPECT_EQ(service_of(train().world()), Json::parse(R"({
    "apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "train", "namespace": "default", "ownerReferences": [
      {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train", "uid": "uid-of-train",
       "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"clusterIP": "None", "selector": {"jobset.sigs.k8s.io/jobset-name": "train"},
             "publishNotReadyAddresses": true}})"));
}

TEST(HeadlessService, HasTheNameOfTheSubdomain) {
  const JobSetBuilder jobset =
      train().set("/spec/network", {{"subdomain", "pods"}, {"publishNotReadyAddresses", false}});
  const Json service = service_of(jobset.world());
  EXPECT_EQ(string_at(service, {"metadata", "name"}), "pods");
  EXPECT_EQ(service["spec"]["publishNotReadyAddresses"], false);
  EXPECT_EQ(service["spec"]["selector"], Json({{"jobset.sigs.k8s.io/jobset-name", "train"}}));
}

TEST(HeadlessService, IsCreatedWhereItIsMissing) {
  Scene scene(train().world());
  plan_service(scene.seen, scene.changes);
  ASSERT_THAT(told(scene.changes.resources), ElementsAre("create train"));
  EXPECT_EQ(scene.changes.resources[0].failure_reason, "HeadlessServiceCreationFailed");
  EXPECT_THAT(scene.changes.reasons, ElementsAre("headless service train is missing: creating it"));
  ASSERT_THAT(scene.changes.events, SizeIs(1));
  EXPECT_EQ(scene.changes.events[0].reason, "HeadlessServiceCreationFailed");
  EXPECT_EQ(scene.changes.events[0].after, (ObjectKey{"default", "train"}));
}

TEST(HeadlessService, IsNotWantedWithoutDnsHostnames) {
  World world = train().set("/spec/network/enableDNSHostnames", false).world();
  world.set("/status/conditions", Json::array({{{"type", kServiceReady}, {"status", "False"}}}));
  Scene scene(world);
  plan_service(scene.seen, scene.changes);
  EXPECT_THAT(scene.changes.resources, IsEmpty());
  EXPECT_EQ(service_ready(scene.changes), "");
}

TEST(HeadlessService, StaysAsItIs) {
  Scene scene(train().everywhere(ready));
  plan_service(scene.seen, scene.changes);
  EXPECT_THAT(scene.changes.resources, IsEmpty());
  EXPECT_THAT(scene.changes.reasons, IsEmpty());
  EXPECT_EQ(scene.changes.status.conditions, Json::array());
}

TEST(HeadlessService, IsRestoredWhenItDrifted) {
  World world = train().world();
  Json service = service_of(world);
  service["spec"]["selector"] = {{"app", "other"}};
  service["spec"]["publishNotReadyAddresses"] = false;
  Scene scene(world.with_service(service));
  plan_service(scene.seen, scene.changes);
  ASSERT_THAT(told(scene.changes.resources), ElementsAre("patch train"));
  EXPECT_EQ(scene.changes.resources[0].preconditions.uid, "uid-of-service");
  EXPECT_EQ(*scene.changes.resources[0].body.make(), Json::parse(R"({"spec": {
    "selector": {"jobset.sigs.k8s.io/jobset-name": "train", "app": null}, "publishNotReadyAddresses": true}})"));
  EXPECT_THAT(scene.changes.reasons, ElementsAre("headless service train drifted: restoring it"));
}

TEST(HeadlessService, ThatIsGoingIsWaitedFor) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  service["spec"]["selector"] = Json::object();
  Scene scene(world.with_service(service));
  plan_service(scene.seen, scene.changes);
  EXPECT_THAT(scene.changes.resources, IsEmpty());
}

TEST(HeadlessService, OfSomebodyElseIsGoodEnoughIfItServesThePods) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"].erase("ownerReferences");
  Scene scene(world.with_service(service));
  plan_service(scene.seen, scene.changes);
  EXPECT_THAT(scene.changes.resources, IsEmpty());
  EXPECT_THAT(scene.changes.events, IsEmpty());
  EXPECT_EQ(scene.changes.status.conditions, Json::array());
  EXPECT_EQ(scene.changes.requeue_after, std::nullopt);
}

TEST(HeadlessService, OfSomebodyElseIsLeftAloneAndReportedIfItDoesNot) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"]["ownerReferences"][0]["uid"] = "another";
  service["metadata"]["ownerReferences"][0]["name"] = "other";
  service["spec"]["selector"] = {{"jobset.sigs.k8s.io/jobset-name", "other"}};
  world.with_service(service);
  Scene scene(world);
  plan_service(scene.seen, scene.changes);
  EXPECT_THAT(scene.changes.resources, IsEmpty());
  EXPECT_EQ(scene.changes.requeue_after, 30s);
  const std::string message =
      "service default/train belongs to JobSet other and does not serve the pods of this JobSet: its selector is not "
      "jobset.sigs.k8s.io/jobset-name: train; set spec.network.subdomain to another name, or delete the service";
  EXPECT_EQ(service_ready(scene.changes), "False ServiceConflict: " + message);
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Warning ServiceConflict: " + message));

  keep_conditions(scene, world);
  Scene again(world);
  plan_service(again.seen, again.changes);
  EXPECT_THAT(again.changes.events, IsEmpty()) << "said once";
  EXPECT_EQ(again.changes.status.conditions, scene.changes.status.conditions);
}

TEST(HeadlessService, OfSomebodyElseThatHasAnAddressIsReported) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"].erase("ownerReferences");
  service["spec"]["clusterIP"] = "10.0.0.1";
  world.with_service(service);
  Scene scene(world);
  plan_service(scene.seen, scene.changes);
  EXPECT_THAT(service_ready(scene.changes),
              testing::HasSubstr("has no controller and does not serve the pods of this JobSet: it is not headless "
                                 "(spec.clusterIP: None)"));
  keep_conditions(scene, world);
  Scene mended(world.with_service(service_of(world)));
  plan_service(mended.seen, mended.changes);
  EXPECT_EQ(service_ready(mended.changes), "");
}

}  // namespace
}  // namespace tpuslice::jobset
