#include "controllers/jobset/suspension.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTemplate = "/spec/replicatedJobs/0/template/spec/template";

std::string suspension(const Changes& changes) { return condition(changes.status.conditions, kSuspended); }

Json body_of(const runtime::Action& action) { return *action.body.make(); }

// Plans the resumption of all Jobs of the scene that may start.
void resume_in(Scene& scene) {
  const Startup startup = plan_startup(scene.changes);
  const JobBuilder builder(scene.seen.jobset, scene.changes.status, {});
  ASSERT_TRUE(resume_jobs(scene.children.active, startup, builder, scene.changes).ok());
}

// A JobSet that was suspended, with all its Jobs, and shall go on.
World was_suspended(const JobSetBuilder& jobset) {
  JobSetBuilder before = jobset;
  World world = before.suspend().everywhere(suspended);
  Scene scene(world);
  suspend_jobs(scene.children.active, scene.changes);
  world.set("/status", scene.changes.status.to_json({}, scene.spec)).set("/spec/suspend", false);
  return world;
}

TEST(SuspendJobs, SuspendsAllThatAreNotAtOnce) {
  World world = a_jobset("train").job("workers", 4).suspend().everywhere(active);
  world.every_job(with_field("/spec/suspend", false));
  world.job("train-workers-1", suspended).job("train-workers-2", being_deleted());
  Scene scene(world);
  suspend_jobs(scene.children.active, scene.changes);
  ASSERT_THAT(told(scene.changes.jobs), ElementsAre("patch train-workers-0", "patch train-workers-3"));
  EXPECT_EQ(body_of(scene.changes.jobs[0]), Json({{"spec", {{"suspend", true}}}}));
  EXPECT_EQ(scene.changes.jobs[0].preconditions.uid, "uid-of-train-workers-0");
  EXPECT_EQ(suspension(scene.changes), "True SuspendedJobs: jobset is suspended");
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Normal SuspendedJobs: jobset is suspended"));
  EXPECT_THAT(scene.changes.reasons, ElementsAre("suspending 2 jobs (train-workers-0, train-workers-3)"));
}

TEST(SuspendJobs, EndsARestart) {
  World world = a_jobset("train").job("workers").suspend().everywhere(suspended);
  world.set("/status/conditions", Json::array({{{"type", "RestartingJobSet"}, {"status", "True"}}}));
  Scene scene(world);
  suspend_jobs(scene.children.active, scene.changes);
  EXPECT_EQ(condition(scene.changes.status.conditions, kRestarting), "False JobSetSuspended: jobset is suspended");
  EXPECT_THAT(scene.changes.reasons, IsEmpty());
}

TEST(ResumeJobs, SaysNothingOfAJobSetThatNeverWasSuspended) {
  Scene scene(a_jobset("train").job("workers").everywhere(active));
  resume_in(scene);
  EXPECT_THAT(scene.changes.jobs, IsEmpty());
  EXPECT_EQ(suspension(scene.changes), "");
}

TEST(ResumeJobs, ResumesAllAtOnce) {
  Scene scene(was_suspended(a_jobset("train").job("workers", 2)));
  resume_in(scene);
  ASSERT_THAT(told(scene.changes.jobs), ElementsAre("patch train-workers-0", "patch train-workers-1"));
  EXPECT_EQ(body_of(scene.changes.jobs[0]), Json({{"spec", {{"suspend", false}}}}));
  EXPECT_THAT(scene.changes.resets, IsEmpty());
  EXPECT_EQ(suspension(scene.changes), "False ResumeJobs: jobset is resumed");
  EXPECT_THAT(told(scene.changes.events), ElementsAre("Normal ResumeJobs: jobset is resumed"));
  EXPECT_THAT(scene.changes.reasons, ElementsAre("resuming 2 jobs (train-workers-0, train-workers-1)"));
}

TEST(ResumeJobs, TakesOverWhatAQueueHasPutIntoTheTemplate) {
  World world = was_suspended(a_jobset("train").job("workers"));
  world.set(std::string(kTemplate) + "/metadata", {{"labels", {{"queue", "a"}}}, {"annotations", {{"flavor", "b"}}}});
  world.set(std::string(kTemplate) + "/spec/nodeSelector", {{"pool", "c"}});
  world.set(std::string(kTemplate) + "/spec/tolerations", Json::array({{{"key", "spot"}, {"operator", "Exists"}}}));
  world.set(std::string(kTemplate) + "/spec/schedulingGates", Json::array({{{"name", "topology"}}}));
  Scene scene(world);
  resume_in(scene);
  ASSERT_THAT(scene.changes.jobs, SizeIs(1));
  EXPECT_EQ(body_of(scene.changes.jobs[0]), Json::parse(R"({"spec": {"suspend": false, "template": {
    "metadata": {"labels": {"queue": "a"}, "annotations": {"flavor": "b"}},
    "spec": {"nodeSelector": {"pool": "c"}, "tolerations": [{"key": "spot", "operator": "Exists"}],
             "schedulingGates": [{"name": "topology"}]}}}})"));
}

TEST(ResumeJobs, KeepsWhatOthersHaveAddedToTheJobInItsOrder) {
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
  Scene scene(world);
  resume_in(scene);
  EXPECT_EQ(body_of(scene.changes.jobs.at(0))["spec"]["template"], Json::parse(R"({
    "metadata": {"labels": {"both": "new"}},
    "spec": {"tolerations": [{"key": "z"}, {"key": "both", "tolerationSeconds": 5}, {"key": "b"}, {"key": "a"}]}})"));
}

TEST(ResumeJobs, TakesTheStartBackBeforeItChangesTheTemplate) {
  World world = was_suspended(a_jobset("train").job("workers", 2));
  world.set(std::string(kTemplate) + "/spec/nodeSelector", {{"pool", "c"}});
  world.job("train-workers-1", with_field("/status/startTime", "2026-01-01T00:00:00Z"));
  Scene scene(world);
  resume_in(scene);
  ASSERT_THAT(told(scene.changes.resets), ElementsAre("patch train-workers-1 status"));
  EXPECT_EQ(body_of(scene.changes.resets[0]), Json({{"status", {{"startTime", nullptr}}}}));
  EXPECT_EQ(scene.changes.resets[0].preconditions.uid, "uid-of-train-workers-1");
}

TEST(ResumeJobs, LeavesTheStartWhereTheTemplateStays) {
  World world = was_suspended(a_jobset("train").job("workers"));
  world.job("train-workers-0", with_field("/status/startTime", "2026-01-01T00:00:00Z"));
  Scene scene(world);
  resume_in(scene);
  EXPECT_THAT(scene.changes.resets, IsEmpty());
}

JobSetBuilder a_slice() { return a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4"); }

TEST(ResumeJobs, OfASliceChangeNothingOfWhatTheyWereBornWith) {
  Scene scene(was_suspended(a_slice()));
  resume_in(scene);
  EXPECT_EQ(body_of(scene.changes.jobs.at(0)), Json({{"spec", {{"suspend", false}}}}));
}

TEST(ResumeJobs, MakesAJobAnewThatWasMadeForAnotherTopology) {
  World world = was_suspended(a_slice());
  world.set(std::string(kTemplate) + "/spec/nodeSelector/cloud.google.com~1gke-tpu-topology", "2x4");
  world.set("/spec/replicatedJobs/0/template/spec/parallelism", 2);
  world.set("/spec/replicatedJobs/0/template/spec/completions", 2);
  Scene scene(world);
  resume_in(scene);
  EXPECT_THAT(scene.changes.jobs, IsEmpty());
  EXPECT_THAT(told(scene.changes.deletes),
              ElementsAre("delete train-workers-0 Foreground", "delete train-workers-1 Foreground"));
  EXPECT_EQ(scene.changes.reasons.at(0),
            "job train-workers-0 was made for another accelerator or topology: deleting it");
}

TEST(ResumeJobs, GivesATopologyToAJobThatHadNone) {
  JobSetBuilder queued = a_slice();
  queued.of_pod("/spec/nodeSelector", Json::object());
  World world = was_suspended(queued);
  world.set(std::string(kTemplate) + "/spec/nodeSelector",
            {{"cloud.google.com/gke-tpu-accelerator", kV6e}, {"cloud.google.com/gke-tpu-topology", "4x4"}});
  Scene scene(world);
  resume_in(scene);
  ASSERT_THAT(told(scene.changes.jobs), ElementsAre("patch train-workers-0", "patch train-workers-1"));
  EXPECT_EQ(
      body_of(scene.changes.jobs[0])["spec"]["template"],
      Json({{"spec",
             {{"nodeSelector",
               {{"cloud.google.com/gke-tpu-accelerator", kV6e}, {"cloud.google.com/gke-tpu-topology", "4x4"}}}}}}))
      << "the webhook does the rest, for each pod";
}

TEST(ResumeJobs, PassesByWhatIsBeingDeletedOrHasNoPlace) {
  World world = was_suspended(a_jobset("train").job("workers", 3));
  world.job("train-workers-0", being_deleted()).job("train-workers-1", without_mark(tpu::kReplicatedJobName));
  Scene scene(world);
  resume_in(scene);
  EXPECT_THAT(told(scene.changes.jobs), ElementsAre("patch train-workers-2"));
}

TEST(ResumeJobs, HonoursTheOrder) {
  World world = was_suspended(a_jobset("train").job("a").job("b").in_order());
  Scene first(world);
  resume_in(first);
  EXPECT_THAT(told(first.changes.jobs), ElementsAre("patch train-a-0"));
  EXPECT_EQ(suspension(first.changes), "True SuspendedJobs: jobset is suspended") << "until the last may start";
  world.job("train-a-0", with_field("/spec/suspend", false)).job("train-a-0", ready);
  Scene second(world);
  resume_in(second);
  EXPECT_THAT(told(second.changes.jobs), ElementsAre("patch train-b-0"));
}

TEST(ResumeJobs, HonoursDependencies) {
  World world = was_suspended(a_jobset("train").job("a").job("b").depends_on("a", "Ready"));
  Scene scene(world);
  resume_in(scene);
  EXPECT_THAT(told(scene.changes.jobs), ElementsAre("patch train-a-0"));
  EXPECT_EQ(suspension(scene.changes), "False ResumeJobs: jobset is resumed") << "as upstream";
}

}  // namespace
}  // namespace tpuslice::jobset
