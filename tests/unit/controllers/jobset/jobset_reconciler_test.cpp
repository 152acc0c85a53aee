#include "controllers/jobset/jobset_reconciler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "api/base/metrics.h"
#include "controllers/jobset/children.h"
#include "controllers/jobset/jobset_kind.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/support/fake_api.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReconcilingJobSets : public ::testing::Test {
 protected:
  plan::Plan plan(std::optional<plan::Failure> failure = std::nullopt) const {
    Result<plan::Plan> out = reconciler_.plan({{"default", "train"}, start_of_time(), std::move(failure)});
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }

  // Puts the world into the stores.
  void observe(const World& world) {
    jobsets_.put(*ObjectView::from_json(world.jobset().json()));
    const JobSetObserved seen = world.observed();
    for (const auto& [name, job] : world.jobs()) jobs_.put(*plan::view_of<JobView>(job));
    if (seen.service != nullptr) services_.put(*seen.service);
    for (const auto& claim : seen.claims) claims_.put(*claim);
  }

  static JobSetBuilder train() {
    return a_jobset("train")
        .job("workers", 2)
        .set("/spec/volumeClaimPolicies", Json::parse(R"([{"templates": [{"metadata": {"name": "data"}}]}])"))
        .of_pod("/spec/containers/0/volumeMounts", Json::parse(R"([{"name": "data", "mountPath": "/data"}])"));
  }

  runtime::ObjectStore jobsets_{kJobSets};
  runtime::JobStore jobs_{kJobs};
  runtime::ServiceStore services_{kServices};
  runtime::ObjectStore claims_{kVolumeClaims};
  runtime::PodStore pods_{kPods};
  runtime::ObjectStore priority_classes_{kPriorityClasses};
  const JobSetReconciler reconciler_{{jobsets_, jobs_.add_index(runtime::owner_uid<JobView>), services_, claims_,
                                      pods_.add_index(jobset_name_of_waiting_pod),
                                      pods_.add_index(jobset_name_of_pod_with_teardown_grace), priority_classes_,
                                      priority_classes_.add_index(key_of_default_class)}};
};

TEST_F(ReconcilingJobSets, ReadsThePrioritiesOfPods) {
  const auto label = [&](const char* of_class) {
    JobSetBuilder jobset = a_jobset("train").job("workers");
    if (*of_class != 0) jobset.of_pod("/spec/priorityClassName", of_class);
    observe(jobset.world());
    const Json job = action_of(plan(), "create Job train-workers-0").body.make().value();
    return string_at(job, {"spec", "template", "metadata", "labels", kPriority});
  };
  EXPECT_EQ(label("high"), "") << "the classes are not known";
  std::vector<ObjectView> classes;
  const auto add = [&](const char* name, int value, bool by_default = false) {
    classes.push_back(ObjectView::from_json({{"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", "1"}}},
                                             {"value", value},
                                             {"globalDefault", by_default}})
                          .value());
    priority_classes_.replace(classes, 1);
  };
  add("high", 1000);
  EXPECT_EQ(label("high"), "1000");
  EXPECT_EQ(label("gone"), "");
  EXPECT_EQ(label(""), "0");
  add("default", 7, true);
  add("low", -5, true);
  EXPECT_EQ(label(""), "n5") << "the least of several defaults";
}

TEST_F(ReconcilingJobSets, PlansNothingForADeletedJobSet) {
  EXPECT_TRUE(plan().empty());
  EXPECT_EQ(reconciler_.name(), "jobset");
  EXPECT_EQ(reconciler_.resource(), kJobSets);
}

TEST_F(ReconcilingJobSets, LeavesAJobSetWithAMinimalObjectAsItIs) {
  observe(train().everywhere(ready));
  JobView job = *jobs_.list().front();
  const JobView whole = job;
  jobs_.erase(job.key, 2);
  ASSERT_FALSE(plan().stages.empty()) << "the Job would be created again";
  job = JobView();
  job.key = whole.key;
  job.uid = whole.uid;
  job.controller = whole.controller;
  job.minimal = true;
  jobs_.put(job);
  plan::Plan out = plan();
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_FALSE(out.status.has_value());
  EXPECT_THAT(out.events, ElementsAre(::testing::Field(&plan::EventIntent::message, HasSubstr(whole.key.name))));
  jobs_.put(whole);
  EXPECT_TRUE(plan().events.empty());
  ObjectView jobset = *jobsets_.get({"default", "train"});
  jobset.text.clear();
  jobset.minimal = true;
  jobsets_.put(jobset);
  EXPECT_TRUE(plan().empty());
}

TEST_F(ReconcilingJobSets, ReportsWaitingPods) {
  observe(train().everywhere(ready));
  PodView pod;
  pod.key = {"default", "train-workers-0-0-x"};
  pod.labels = {{std::string(kJobSetName), "train"}, {std::string(tpu::kSlice), "train-workers-0"}};
  EXPECT_THAT(jobset_of_waiting_pod(pod), IsEmpty());
  pod.annotations[std::string(tpu::kWaiting)] = "no node pool matches";
  EXPECT_THAT(jobset_of_waiting_pod(pod), ElementsAre(ObjectKey{"default", "train"}));
  pods_.put(pod);
  const plan::Plan out = plan();
  ASSERT_TRUE(out.status.has_value());
  EXPECT_THAT(condition(out.status->status["conditions"], plan::kSlicesPlaced),
              AllOf(HasSubstr("False SlicesWaiting: "), HasSubstr(": no node pool matches")));

  Json jobset = jobsets_.get({"default", "train"})->object().json();
  jobset["status"] = out.status->status;
  jobsets_.put(*ObjectView::from_json(std::move(jobset)));
  EXPECT_TRUE(plan().empty()) << "reported";

  pod.annotations.clear();
  pods_.put(pod);
  const plan::Plan placed = plan();
  ASSERT_TRUE(placed.status.has_value());
  EXPECT_THAT(condition(placed.status->status["conditions"], plan::kSlicesPlaced), HasSubstr("True SlicesPlaced"));

  pod.stuck = "container main: ImagePullBackOff";
  EXPECT_THAT(jobset_of_waiting_pod(pod), ElementsAre(ObjectKey{"default", "train"}));
  pods_.put(pod);
  const plan::Plan stuck = plan();
  ASSERT_TRUE(stuck.status.has_value());
  EXPECT_EQ(condition(stuck.status->status["conditions"], plan::kContainersStarted),
            "False ContainersStuck: pod train-workers-0-0-x: container main: ImagePullBackOff");

  pod.stuck = {};
  pod.phase = PodPhase::kFailed;
  pod.failure = "container main: StartError, exit code 128";
  EXPECT_THAT(jobset_of_waiting_pod(pod), ElementsAre(ObjectKey{"default", "train"}));
  pods_.put(pod);
  JobView job = *jobs_.list().front();
  job.ready = 0;
  jobs_.put(job);
  EXPECT_EQ(condition(plan().status->status["conditions"], plan::kContainersStarted),
            "False ContainersStuck: pod train-workers-0-0-x failed: container main: StartError, exit code 128");
}

TEST_F(ReconcilingJobSets, FindsPodsWithATeardownGrace) {
  World world = train().everywhere(ready);
  world.set("/status/restarts", 1);
  observe(world);
  PodView pod;
  pod.key = {"default", "train-workers-0-0-x"};
  pod.labels = {{std::string(kJobSetName), "train"}, {std::string(tpu::kSlice), "train-workers-0"}};
  pod.controller = ControllerRef{"batch/v1", "Job", "train-workers-0", "uid-of-train-workers-0"};
  pod.node_name = "node-1";
  pods_.put(pod);
  EXPECT_THAT(writes_of(plan(), "delete Pod"), IsEmpty()) << "without the annotation";
  pod.annotations[std::string(tpu::kTeardownGrace)] = "3";
  pods_.put(pod);
  EXPECT_THAT(writes_of(plan(), "delete Pod"), ElementsAre("delete Pod train-workers-0-0-x"));
  pod.deletion = start_of_time();
  pods_.put(pod);
  EXPECT_THAT(writes_of(plan(), "delete Pod"), IsEmpty()) << "it was deleted";
}

TEST_F(ReconcilingJobSets, FindsJobsServiceAndClaimsInTheStores) {
  observe(train().world());
  EXPECT_THAT(stages_of(plan()),
              ElementsAre(ElementsAre("create Service train", "create PersistentVolumeClaim data-train"),
                          ElementsAre("create Job train-workers-0", "create Job train-workers-1")));
  observe(train().everywhere(ready));
  EXPECT_THAT(stages_of(plan()), IsEmpty());
}

TEST_F(ReconcilingJobSets, IgnoresJobsOfAPreviousJobSet) {
  World world = train().everywhere(ready);
  world.job("train-workers-0", with_field("/metadata/ownerReferences/0/uid", "another"));
  observe(world);
  EXPECT_THAT(stages_of(plan()), ElementsAre(ElementsAre("create Job train-workers-0")));
}

TEST_F(ReconcilingJobSets, FindsAServiceThatIsNotOwned) {
  World world = train().set("/spec/network/subdomain", "pods").everywhere(ready);
  Json service = build_service(world.spec());
  service["metadata"].erase("ownerReferences");
  service["spec"]["selector"] = {{"app", "x"}};
  observe(world.with_service(service));
  EXPECT_THAT(stages_of(plan()), IsEmpty());
  EXPECT_THAT(describe(plan().events), ::testing::Contains(HasSubstr("service default/pods has no controller")));
}

TEST_F(ReconcilingJobSets, PassesOnTheLastFailure) {
  observe(train().everywhere(ready));
  EXPECT_EQ(condition(plan(plan::Failure{"JobCreationFailed", "no quota"}).status->status["conditions"],
                      "tpuslice.dev/JobsStarted"),
            "False JobCreationFailed: no quota");
}

/// Regression: without scheduling gates, a JobSet did not say why its containers did not start.
TEST(AddJobSet, WatchesPodsOfSlicesThatHaveNoGates) {
  testing::FakeApi api;
  FakeClock clock;
  Metrics metrics;
  runtime::Manager manager({api, api}, {api, api}, clock, metrics, Logger(),
                           {.leader_elect = false, .action_threads = 0});
  add_jobset(manager);
  api.put(kJobSets, a_jobset("train").job("workers").object());
  manager.step(clock.now());
  api.put(kPods, Object(Json::parse(R"({
    "metadata": {"namespace": "default", "name": "train-workers-0-0-x",
                 "labels": {"jobset.sigs.k8s.io/jobset-name": "train", "tpuslice.dev/slice": "train-workers-0"}},
    "status": {"phase": "Pending", "containerStatuses": [
      {"name": "main", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}})")));
  clock.advance(std::chrono::seconds(1));
  manager.step(clock.now());
  clock.advance(std::chrono::seconds(1));
  manager.step(clock.now());
  EXPECT_THAT(
      condition(api.find(kJobSets, {"default", "train"})->json()["status"]["conditions"], plan::kContainersStarted),
      AllOf(HasSubstr("False ContainersStuck: pod train-workers-0-0-x"), HasSubstr("ImagePullBackOff")));
}

}  // namespace
}  // namespace tpuslice::jobset
