#include "controllers/jobset/suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTemplate = "/spec/replicatedJobs/0/template/spec/template";

std::string suspension(const Outcome& out) { return condition(out.status.conditions, kSuspended); }

Json body_of(const plan::Plan& plan, std::string_view write) { return *action_of(plan, write).body.make(); }

Outcome suspend(const World& world) {
  const Scene scene(world);
  Decisions decisions;
  decisions.running.emplace().suspend = jobs_to_suspend(scene.state.children.active);
  return scene.render(decisions);
}

// Resumes all Jobs that may start.
Outcome resume(const World& world) {
  const Scene scene(world);
  JobSetStatus status = scene.state.status;
  status.execution_attempts.reset();  // Jobs and pods have no annotation of it.
  const JobBuilder builder(scene.seen.jobset, std::move(status), {});
  Decisions decisions;
  RunningDecisions& running = decisions.running.emplace();
  running.startup = decide_startup(scene.state.spec, scene.state.counts);
  running.resume = decide_resume(scene.state.spec, scene.state.children.active, running.startup, builder).value();
  return scene.render(decisions);
}

// A JobSet that was suspended with all its Jobs, and is resumed.
World was_suspended(const JobSetBuilder& jobset) {
  JobSetBuilder before = jobset;
  World world = before.suspend().everywhere(suspended);
  world.set("/status", suspend(world).plan.status->status).set("/spec/suspend", false);
  world.set("/status/executionAttempts", 1);  // The resume is counted.
  return world;
}

TEST(SuspendJobs, SuspendsAllJobsThatAreNotSuspended) {
  World world = a_jobset("train").job("workers", 4).suspend().everywhere(active);
  world.every_job(with_field("/spec/suspend", false));
  world.job("train-workers-1", suspended).job("train-workers-2", being_deleted());
  const Outcome out = suspend(world);
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-3")));
  EXPECT_EQ(body_of(out.plan, "patch Job train-workers-0"), Json({{"spec", {{"suspend", true}}}}));
  EXPECT_EQ(action_of(out.plan, "patch Job train-workers-0").preconditions.uid, "uid-of-train-workers-0");
  EXPECT_EQ(suspension(out), "True SuspendedJobs: jobset is suspended");
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Normal SuspendedJobs: jobset is suspended"));
  EXPECT_EQ(out.plan.reason, "suspending 2 jobs (train-workers-0, train-workers-3)");
}

TEST(SuspendJobs, SetsRestartingToFalse) {
  World world = a_jobset("train").job("workers").suspend().everywhere(suspended);
  world.set("/status/conditions", Json::array({{{"type", "RestartingJobSet"}, {"status", "True"}}}));
  const Outcome out = suspend(world);
  EXPECT_EQ(condition(out.status.conditions, kRestarting), "False JobSetSuspended: jobset is suspended");
  EXPECT_THAT(out.plan.stages, IsEmpty());
}

TEST(ResumeJobs, AddsNoConditionIfTheJobSetWasNeverSuspended) {
  const Outcome out = resume(a_jobset("train").job("workers").everywhere(active));
  EXPECT_THAT(out.plan.stages, IsEmpty());
  EXPECT_EQ(suspension(out), "");
}

TEST(ResumeJobs, ResumesAllJobs) {
  const Outcome out = resume(was_suspended(a_jobset("train").job("workers", 2)));
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  EXPECT_EQ(body_of(out.plan, "patch Job train-workers-0"), Json({{"spec", {{"suspend", false}}}}));
  EXPECT_EQ(suspension(out), "False ResumeJobs: jobset is resumed");
  EXPECT_THAT(describe(out.plan.events), ElementsAre("Normal ResumeJobs: jobset is resumed"));
  EXPECT_EQ(out.plan.reason, "resuming 2 jobs (train-workers-0, train-workers-1)");
}

TEST(ResumeJobs, CopiesSchedulingFieldsFromTheTemplate) {
  World world = was_suspended(a_jobset("train").job("workers"));
  world.set(std::string(kTemplate) + "/metadata", {{"labels", {{"queue", "a"}}}, {"annotations", {{"flavor", "b"}}}});
  world.set(std::string(kTemplate) + "/spec/nodeSelector", {{"pool", "c"}});
  world.set(std::string(kTemplate) + "/spec/tolerations", Json::array({{{"key", "spot"}, {"operator", "Exists"}}}));
  world.set(std::string(kTemplate) + "/spec/schedulingGates", Json::array({{{"name", "topology"}}}));
  const Outcome out = resume(world);
  ASSERT_THAT(out.plan.stages, SizeIs(1));
  EXPECT_EQ(body_of(out.plan, "patch Job train-workers-0"), Json::parse(R"({"spec": {"suspend": false, "template": {
    "metadata": {"labels": {"queue": "a"}, "annotations": {"flavor": "b"}},
    "spec": {"nodeSelector": {"pool": "c"}, "tolerations": [{"key": "spot", "operator": "Exists"}],
             "schedulingGates": [{"name": "topology"}]}}}})"));
}

TEST(ResumeJobs, KeepsAdditionsOfOthers) {
  World world = was_suspended(a_jobset("train").job("workers"));
  world.job("train-workers-0", [](Json& job) {
    Json& pod = job["spec"]["template"];
    pod["metadata"]["labels"]["theirs"] = "x";
    pod["metadata"]["labels"]["both"] = "old";
    pod["spec"]["nodeSelector"] = {{"theirs", "y"}};
    pod["spec"]["tolerations"] = Json::parse(R"([{"key": "z"}, {"key": "both", "tolerationSeconds": 5}])");
    pod["spec"]["schedulingGates"] = Json::parse(R"([{"name": "theirs"}])");
  });
  world.set(std::string(kTemplate) + "/metadata/labels", {{"both", "new"}});
  world.set(std::string(kTemplate) + "/spec/tolerations",
            Json::parse(R"([{"key": "b"}, {"key": "both", "tolerationSeconds": 5}, {"key": "a"}])"));
  const Outcome out = resume(world);
  EXPECT_EQ(body_of(out.plan, "patch Job train-workers-0")["spec"]["template"], Json::parse(R"({
    "metadata": {"labels": {"both": "new"}},
    "spec": {"tolerations": [{"key": "z"}, {"key": "both", "tolerationSeconds": 5}, {"key": "b"}, {"key": "a"}]}})"));
}

TEST(ResumeJobs, ClearsTheStartTimeBeforeItChangesTheTemplate) {
  World world = was_suspended(a_jobset("train").job("workers", 2));
  world.set(std::string(kTemplate) + "/spec/nodeSelector", {{"pool", "c"}});
  world.job("train-workers-1", with_field("/status/startTime", "2026-01-01T00:00:00Z"));
  const Outcome out = resume(world);
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Job train-workers-1 status"),
                                               ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  EXPECT_EQ(body_of(out.plan, "patch Job train-workers-1 status"), Json({{"status", {{"startTime", nullptr}}}}));
  EXPECT_EQ(action_of(out.plan, "patch Job train-workers-1 status").preconditions.uid, "uid-of-train-workers-1");
}

TEST(ResumeJobs, KeepsTheStartTimeIfTheTemplateIsUnchanged) {
  World world = was_suspended(a_jobset("train").job("workers"));
  world.job("train-workers-0", with_field("/status/startTime", "2026-01-01T00:00:00Z"));
  const Outcome out = resume(world);
  EXPECT_THAT(out.plan.stages, SizeIs(1));
}

constexpr const char* kResources = "/spec/replicatedJobs/0/template/spec/template/spec/containers/0/resources";

/// JobSet's KEP-1150.
TEST(ResumeJobs, CopiesRequestsAndLimits) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  jobset.of_pod("/spec/containers/0/resources", Json::parse(R"({"requests": {"cpu": 1, "memory": "1024Mi"}})"));
  World world = was_suspended(jobset);
  world.set(kResources, Json::parse(R"({"requests": {"cpu": "1", "memory": "1Gi"}})"));
  EXPECT_FALSE(action_of(resume(world).plan, "patch Job train-workers-0").strategic) << "the same quantities";

  world.set(kResources, Json::parse(R"({"requests": {"cpu": "2"}, "limits": {"cpu": "4"}})"));
  world.job("train-workers-0", with_field("/status/startTime", "2026-01-01T00:00:00Z"));
  const Outcome out = resume(world);
  ASSERT_THAT(stages_of(out.plan),
              ElementsAre(ElementsAre("patch Job train-workers-0 status"), ElementsAre("patch Job train-workers-0")));
  const plan::Action patch = action_of(out.plan, "patch Job train-workers-0");
  EXPECT_TRUE(patch.strategic) << "containers are merged by name";
  const std::string container =
      string_at(world.jobs().at("train-workers-0"), {"spec", "template", "spec", "containers", "0", "name"});
  EXPECT_EQ(*patch.body.make(),
            Json({{"spec",
                   {{"suspend", false},
                    {"template",
                     {{"spec",
                       {{"containers",
                         {{{"name", container}, {"resources", Json::parse(R"({"requests": {"cpu": "2", "memory": null},
                                                         "limits": {"cpu": "4"}})")}}}}}}}}}}}));
  ASSERT_NE(patch.events, nullptr);
  EXPECT_THAT(describe(patch.events->on_failure),
              ElementsAre("Warning FailedResourcePropagation: Failed to propagate mutated resources to child Job "
                          "train-workers-0, which the API server allows with MutablePodResourcesForSuspendedJobs:"));
}

TEST(ResumeJobs, GivesThePodsTheRequestsOfTheTemplate) {
  World world = a_jobset("train").job("workers").suspend().world();
  world.settle();
  world.set(kResources, Json::parse(R"({"requests": {"cpu": "2"}})")).set("/spec/suspend", false);
  world.settle();
  const Json& job = world.jobs().at("train-workers-0");
  EXPECT_EQ(job["spec"]["template"]["spec"]["containers"][0]["resources"],
            Json::parse(R"({"requests": {"cpu": "2"}})"));
  EXPECT_EQ(job["spec"]["template"]["spec"]["containers"][0]["image"],
            world.jobset().json()[Json::json_pointer(std::string(kTemplate) + "/spec/containers/0/image")]);
}

JobSetBuilder a_slice() { return a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4"); }

TEST(ResumeJobs, KeepsTheMutatedTemplateOfASlice) {
  const Outcome out = resume(was_suspended(a_slice()));
  EXPECT_EQ(body_of(out.plan, "patch Job train-workers-0"), Json({{"spec", {{"suspend", false}}}}));
}

TEST(ResumeJobs, DeletesAJobThatWasCreatedForAnotherTopology) {
  World world = was_suspended(a_slice());
  world.set(std::string(kTemplate) + "/spec/nodeSelector/cloud.google.com~1gke-tpu-topology", "2x4");
  world.set("/spec/replicatedJobs/0/template/spec/parallelism", 2);
  world.set("/spec/replicatedJobs/0/template/spec/completions", 2);
  const Outcome out = resume(world);
  EXPECT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("delete Job train-workers-0 Foreground",
                                                           "delete Job train-workers-1 Foreground")));
  EXPECT_THAT(
      out.plan.reason,
      testing::StartsWith(
          "job train-workers-0 was created for another accelerator, topology, number of chips or gang: deleting it"));
}

TEST(ResumeJobs, DeletesAJobWhoseSlicesStartWithOthersThanNow) {
  JobSetBuilder jobset = a_slice();
  World world = was_suspended(jobset.set("/spec/scheduling", Json::object()));
  EXPECT_THAT(stages_of(resume(world).plan), SizeIs(1));
  world.set("/spec/scheduling", Json::parse(R"({"schedulingPolicy": {"basic": {}}})"));
  EXPECT_THAT(stages_of(resume(world).plan), ElementsAre(ElementsAre("delete Job train-workers-0 Foreground",
                                                                     "delete Job train-workers-1 Foreground")));
}

TEST(ResumeJobs, AddsATopologyToAJobWithoutOne) {
  JobSetBuilder queued = a_slice();
  queued.of_pod("/spec/nodeSelector", Json::object());
  World world = was_suspended(queued);
  world.set(std::string(kTemplate) + "/spec/nodeSelector",
            {{"cloud.google.com/gke-tpu-accelerator", kV6e}, {"cloud.google.com/gke-tpu-topology", "4x4"}});
  const Outcome out = resume(world);
  ASSERT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  EXPECT_EQ(
      body_of(out.plan, "patch Job train-workers-0")["spec"]["template"],
      Json({{"spec",
             {{"nodeSelector",
               {{"cloud.google.com/gke-tpu-accelerator", kV6e}, {"cloud.google.com/gke-tpu-topology", "4x4"}}}}}}))
      << "admission adds the rest to each pod";
}

TEST(ResumeJobs, SkipsTerminatingJobsAndJobsWithoutLabels) {
  World world = was_suspended(a_jobset("train").job("workers", 3));
  world.job("train-workers-0", being_deleted()).job("train-workers-1", without_label(kReplicatedJobName));
  const Outcome out = resume(world);
  EXPECT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Job train-workers-2")));
}

TEST(ResumeJobs, FollowsTheStartupOrder) {
  World world = was_suspended(a_jobset("train").job("a").job("b").in_order());
  const Outcome first = resume(world);
  EXPECT_THAT(stages_of(first.plan), ElementsAre(ElementsAre("patch Job train-a-0")));
  EXPECT_EQ(suspension(first), "True SuspendedJobs: jobset is suspended") << "until the last may start";
  world.job("train-a-0", with_field("/spec/suspend", false)).job("train-a-0", ready);
  const Outcome second = resume(world);
  EXPECT_THAT(stages_of(second.plan), ElementsAre(ElementsAre("patch Job train-b-0")));
}

TEST(ResumeJobs, WaitsForDependencies) {
  World world = was_suspended(a_jobset("train").job("a").job("b").depends_on("a", "Ready"));
  const Outcome out = resume(world);
  EXPECT_THAT(stages_of(out.plan), ElementsAre(ElementsAre("patch Job train-a-0")));
  EXPECT_EQ(suspension(out), "False ResumeJobs: jobset is resumed") << "as upstream";
}

}  // namespace
}  // namespace tpuslice::jobset
