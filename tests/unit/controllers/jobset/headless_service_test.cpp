#include "controllers/jobset/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/validator.h"
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

/// A port of a container.
Json of_container(int number, const char* protocol = nullptr) {
  Json port = {{"containerPort", number}};
  if (protocol != nullptr) port["protocol"] = protocol;
  return port;
}

JobSetBuilder with_ports(Json ports) {
  return a_jobset("train").job("workers").of_pod("/spec/containers/0/ports", std::move(ports));
}

TEST(HeadlessService, HasThePortsOfContainers) {
  JobSetBuilder jobset = with_ports({of_container(8080), of_container(53, "UDP"), of_container(53, "TCP")});
  jobset.job("driver").of_pod("/spec/containers/0/ports", {of_container(8080, "TCP"), of_container(7, "SCTP")});
  EXPECT_EQ(service_of(jobset.world())["spec"]["ports"], Json::parse(R"([
    {"name": "tcp-8080", "port": 8080, "protocol": "TCP", "targetPort": 8080},
    {"name": "udp-53", "port": 53, "protocol": "UDP", "targetPort": 53},
    {"name": "tcp-53", "port": 53, "protocol": "TCP", "targetPort": 53},
    {"name": "sctp-7", "port": 7, "protocol": "SCTP", "targetPort": 7}])"));
}

TEST(HeadlessService, HasNoPortThatAServiceCannotHave) {
  const JobSetBuilder jobset = with_ports(
      {of_container(0), of_container(-1), of_container(65536), of_container(1, "HTTP"), {{"containerPort", "x"}}, 5});
  EXPECT_FALSE(service_of(jobset.world())["spec"].contains("ports"));
}

TEST(HeadlessService, HasALimitedNumberOfPorts) {
  Json ports = Json::array();
  for (int number = 1; number <= 1000; ++number) ports.push_back(of_container(number));
  const JobSetBuilder jobset = with_ports(std::move(ports));
  EXPECT_THAT(service_of(jobset.world())["spec"]["ports"], testing::SizeIs(256));
  EXPECT_THAT(rules::warn_jobset(jobset.json()),
              testing::Contains("spec.replicatedJobs: the headless service has the first 256 ports that containers "
                                "declare"));
  World world = jobset.everywhere(ready);
  EXPECT_THAT(decided(world).plan.stages, IsEmpty());
}

TEST(HeadlessService, GetsItsPortsBack) {
  World world = with_ports({of_container(8080), of_container(9090)}).everywhere(ready);
  EXPECT_THAT(decided(world).plan.stages, IsEmpty());
  Json service = service_of(world);
  service["spec"]["ports"].erase(1);
  const Outcome out = decided(world.with_service(service));
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Service train")));
  EXPECT_EQ(*action_of(out.plan, "patch Service train").body.make(),
            Json({{"spec", {{"ports", service_of(world)["spec"]["ports"]}}}}));
}

TEST(HeadlessService, KeepsPortsOfUsersIfContainersDeclareNone) {
  World world = train().everywhere(ready);
  Json service = service_of(world);
  service["spec"]["ports"] = Json::array({{{"name", "grpc"}, {"port", 1}}});
  EXPECT_THAT(decided(world.with_service(service)).plan.stages, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::jobset
