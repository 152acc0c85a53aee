// Pods of Jobs that a restart deletes: how long they may take to stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/job_deletion.h"
#include "controllers/jobset/jobset_plan.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

PodPtr pod_of_job(const std::string& job) {
  PodView pod;
  pod.key = {"default", job + "-0"};
  pod.uid = "uid-of-" + pod.key.name;
  pod.node_name = "node-of-" + pod.key.name;
  pod.phase = PodPhase::kRunning;
  pod.annotations[std::string(tpu::kTeardownGrace)] = "3";
  pod.controller = ControllerRef{"batch/v1", "Job", job, "uid-of-" + job};
  return std::make_shared<const PodView>(std::move(pod));
}

std::vector<PodPtr> pods_of_jobs() {
  return {pod_of_job("train-workers-0"), pod_of_job("train-workers-1"), pod_of_job("another-workers-0")};
}

std::vector<std::string> pod_names(const std::vector<PodPtr>& of) {
  std::vector<std::string> out;
  for (const PodPtr& pod : of) out.push_back(pod->key.name);
  return out;
}

World two_running_slices() { return a_jobset("train").job("workers", 2).hosts(4).restarts(3).everywhere(ready); }

TEST(PodsOfDeletedJobs, AreThoseOfJobsThatThisPlanDeletes) {
  const JobSetObserved seen = two_running_slices().observed();
  using enum JobDeletion::Progress;
  const auto pods_with = [&](JobDeletion::Progress progress) {
    JobDeletions deletions{.jobs = {{seen.jobs[0], progress}}};
    add_pods(deletions, pods_of_jobs());
    return pod_names(deletions.jobs[0].pods);
  };
  for (const auto progress : {kDelete, kOverlap}) EXPECT_THAT(pods_with(progress), ElementsAre("train-workers-0-0"));
  for (const auto progress : {kSuspend, kForce, kTerminating}) EXPECT_THAT(pods_with(progress), IsEmpty());
}

plan::Plan plan_with_grace(const World& world) {
  JobSetObserved seen = world.observed();
  seen.pods_with_teardown_grace = pods_of_jobs();
  return plan_jobset(seen, {});
}

TEST(PodsOfDeletedJobs, AreDeletedJustBeforeTheirJob) {
  World world = two_running_slices();
  world.set("/status/restarts", 1);
  const plan::Plan plan = plan_with_grace(world);
  EXPECT_THAT(writes_of(plan, "delete"),
              ElementsAre("delete Pod train-workers-0-0", "delete Job train-workers-0 Foreground",
                          "delete Pod train-workers-1-0", "delete Job train-workers-1 Foreground"));
  ASSERT_EQ(plan.stages.size(), 1u) << "the Job controller must not see the deletions of the pods long before";
  for (const plan::Action& action : plan.stages[0].actions) {
    if (action.type != kPods) continue;
    EXPECT_EQ(action.grace_seconds, 3);
    EXPECT_EQ(action.preconditions.uid, "uid-of-" + action.key.name);
    EXPECT_TRUE(action.best_effort) << "otherwise they get their own grace period";
  }
}

TEST(PodsOfDeletedJobs, AreLeftToKubernetesOnceTheirJobIsBeingDeleted) {
  World world = two_running_slices();
  world.every_job(being_deleted());
  EXPECT_THAT(writes_of(plan_with_grace(world), "delete Pod"), IsEmpty()) << "a user deletes the Jobs";
  world.set("/status/restarts", 1);
  EXPECT_THAT(writes_of(plan_with_grace(world), "delete Pod"), IsEmpty()) << "the kubelets do not heed it any more";
}

}  // namespace
}  // namespace tpuslice::jobset
