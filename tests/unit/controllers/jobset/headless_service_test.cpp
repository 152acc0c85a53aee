#include "controllers/jobset/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

JobSetBuilder train() { return a_jobset("train").job("workers"); }

Json service_of(const World& world) { return build_service(world.spec()); }

Outcome decided(const World& world) {
  const Scene scene(world);
  Decisions decisions;
  decisions.service = decide_service(scene.state.spec, scene.seen);
  decisions.running.emplace();
  return scene.render(decisions);
}

std::string service_ready(const Outcome& out) { return condition(out.status.conditions, kServiceReady); }

TEST(HeadlessService, IsEqualToUpstreams) {
  EXPECT_EQ(service_of(train().world()), Json::parse(R"({
    "apiVersion": "v1", "kind": "Service",
    "metadata": {"name": "train", "namespace": "default", "ownerReferences": [
      {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train", "uid": "uid-of-train",
       "controller": true, "blockOwnerDeletion": true}]},
    "spec": {"clusterIP": "None", "selector": {"jobset.sigs.k8s.io/jobset-name": "train"},
             "publishNotReadyAddresses": true}})"));
}

TEST(HeadlessService, WaitsForTheDeletionOfOneOfItsName) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  service["metadata"].erase("ownerReferences");
  world.with_service(service);
  const Outcome out = decided(world);
  EXPECT_THAT(stages_of(out.plan), IsEmpty());
  EXPECT_EQ(out.plan.requeue_after, plan::kConflictRetry) << "no event of it concerns the JobSet";
}

TEST(HeadlessService, HasTheNameOfTheSubdomain) {
  const JobSetBuilder jobset =
      train().set("/spec/network", {{"subdomain", "pods"}, {"publishNotReadyAddresses", false}});
  const Json service = service_of(jobset.world());
  EXPECT_EQ(string_at(service, {"metadata", "name"}), "pods");
  EXPECT_EQ(service["spec"]["publishNotReadyAddresses"], false);
  EXPECT_EQ(service["spec"]["selector"], Json({{"jobset.sigs.k8s.io/jobset-name", "train"}}));
}

TEST(HeadlessService, IsCreatedIfMissing) {
  const Outcome out = decided(train().world());
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("create Service train")));
  const plan::Action creation = action_of(out.plan, "create Service train");
  EXPECT_EQ(creation.failure_reason, "HeadlessServiceCreationFailed");
  EXPECT_EQ(out.plan.reason, "headless service train is missing: creating it");
  EXPECT_THAT(out.plan.events, IsEmpty());
  ASSERT_NE(creation.events, nullptr);
  EXPECT_THAT(describe(creation.events->on_failure),
              ElementsAre("Warning HeadlessServiceCreationFailed: Failed to create headless service default/train"));
  EXPECT_EQ(service_ready(out), "False ServicePending: headless service train does not exist yet");
}

TEST(HeadlessService, ReportsAFailedCreation) {
  World world = train().world();
  world.fail("HeadlessServiceCreationFailed", "quota exceeded");
  EXPECT_EQ(service_ready(decided(world)), "False HeadlessServiceCreationFailed: quota exceeded");
}

TEST(HeadlessService, IsNotCreatedWithoutDnsHostnames) {
  const Outcome out = decided(train().set("/spec/network/enableDNSHostnames", false).world());
  EXPECT_THAT(out.plan.stages, IsEmpty());
  EXPECT_EQ(service_ready(out), "True ServiceReady: spec.network.enableDNSHostnames is false");
}

TEST(HeadlessService, IsNotWrittenWithoutDrift) {
  const Outcome out = decided(train().everywhere(ready));
  EXPECT_THAT(out.plan.stages, IsEmpty());
  EXPECT_EQ(service_ready(out), "True ServiceReady: the headless service serves the pods");
}

TEST(HeadlessService, IsRestoredWhenItDrifted) {
  World world = train().world();
  Json service = service_of(world);
  service["spec"]["selector"] = {{"app", "other"}};
  service["spec"]["publishNotReadyAddresses"] = false;
  const Outcome out = decided(world.with_service(service));
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Service train")));
  const plan::Action patch = action_of(out.plan, "patch Service train");
  EXPECT_EQ(patch.preconditions.uid, "uid-of-service");
  EXPECT_EQ(*patch.body.make(), Json::parse(R"({"spec": {
    "selector": {"jobset.sigs.k8s.io/jobset-name": "train", "app": null}, "publishNotReadyAddresses": true}})"));
  EXPECT_EQ(out.plan.reason, "headless service train drifted: restoring it");
  EXPECT_EQ(service_ready(out), "False ServiceDrifted: headless service train was changed and is being restored");
}

TEST(HeadlessService, ThatIsTerminatingIsNotWritten) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  service["spec"]["selector"] = Json::object();
  const Outcome out = decided(world.with_service(service));
  EXPECT_THAT(out.plan.stages, IsEmpty());
  EXPECT_EQ(service_ready(out),
            "False ServiceTerminating: headless service train is being deleted and will be created again");
}

TEST(HeadlessService, ThatIsNotOwnedIsAcceptedIfItServesThePods) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"].erase("ownerReferences");
  const Outcome out = decided(world.with_service(service));
  EXPECT_THAT(out.plan.stages, IsEmpty());
  EXPECT_THAT(out.plan.events, IsEmpty());
  EXPECT_THAT(service_ready(out), testing::StartsWith("True "));
  EXPECT_EQ(out.plan.requeue_after, std::nullopt);
}

TEST(HeadlessService, ThatIsNotOwnedIsReportedIfItDoesNotServeThePods) {
  World world = train().world();
  Json service = service_of(world);
  service["metadata"]["ownerReferences"][0]["uid"] = "another";
  service["metadata"]["ownerReferences"][0]["name"] = "other";
  service["spec"]["selector"] = {{"jobset.sigs.k8s.io/jobset-name", "other"}};
  world.with_service(service);
  const Outcome out = decided(world);
  EXPECT_THAT(out.plan.stages, IsEmpty());
  EXPECT_EQ(out.plan.requeue_after, 30s);
  const std::string message =
      "service default/train belongs to JobSet other and its selector is not "
      "{\"jobset.sigs.k8s.io/jobset-name\":\"train\"}; set spec.network.subdomain to another name, or delete the "
      "service";
  EXPECT_EQ(service_ready(out), "False ServiceConflict: " + message);
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Warning ServiceConflict: " + message));

  world.set("/status/conditions", out.status.conditions);
  const Outcome again = decided(world);
  EXPECT_THAT(again.plan.events, IsEmpty()) << "reported once";
  EXPECT_EQ(again.status.conditions, out.status.conditions);

  world.with_service(service_of(world));
  EXPECT_THAT(service_ready(decided(world)), testing::StartsWith("True "));
}

}  // namespace
}  // namespace tpuslice::jobset
