#include "controllers/jobset/scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kJobSpec = "/spec/replicatedJobs/0/template/spec/";

// A JobSet of two Jobs of two pods each, which shall have four.
World grown() {
  World world = a_jobset("train").job("workers", 2).hosts(2).everywhere(ready);
  world.set(std::string(kJobSpec) + "parallelism", 4).set(std::string(kJobSpec) + "completions", 4);
  return world;
}

Changes scaled(Scene& scene) {
  scale_jobs(scene.children.active, scene.changes);
  return scene.changes;
}

TEST(Scaling, BringsRunningJobsToTheirNewSize) {
  Scene scene(grown());
  const Changes changes = scaled(scene);
  ASSERT_THAT(told(changes.jobs), ElementsAre("patch train-workers-0", "patch train-workers-1"));
  EXPECT_EQ(*changes.jobs[0].body.make(), Json({{"spec", {{"parallelism", 4}, {"completions", 4}}}}));
  EXPECT_EQ(changes.jobs[0].preconditions.uid, "uid-of-train-workers-0");
  EXPECT_THAT(changes.reasons,
              ElementsAre("job train-workers-0 goes from 2 to 4 pods", "job train-workers-1 goes from 2 to 4 pods"));
}

TEST(Scaling, LeavesJobsThatAreOfTheirSize) {
  Scene scene(a_jobset("train").job("workers", 2).hosts(2).everywhere(ready));
  EXPECT_THAT(scaled(scene).jobs, IsEmpty());
}

TEST(Scaling, LeavesJobsThatHaveEndedOrAreGoingOrHaveNoPlace) {
  World world = grown();
  world.job("train-workers-0", succeeded).job("train-workers-1", being_deleted());
  Scene scene(world);
  EXPECT_THAT(scaled(scene).jobs, IsEmpty());
  Scene stray(grown().job("train-workers-1", without_mark(tpu::kReplicatedJobName)));
  EXPECT_THAT(told(scaled(stray).jobs), ElementsAre("patch train-workers-0"));
}

struct UnscaledCase {
  const char* name;
  const char* field;
  Json value;
};

class UnscaledJobs : public testing::TestWithParam<UnscaledCase> {};

TEST_P(UnscaledJobs, AreThoseWhosePodsAreNotAllAtOnceOrNotNumbered) {
  World world = grown();
  Json& job = world.jobset().mutable_json()["spec"]["replicatedJobs"][0]["template"]["spec"];
  job[GetParam().field] = GetParam().value;
  Scene scene(world);
  EXPECT_THAT(scaled(scene).jobs, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, UnscaledJobs,
                         testing::Values(UnscaledCase{"MoreCompletions", "completions", 8},
                                         UnscaledCase{"NoCompletions", "completions", nullptr},
                                         UnscaledCase{"NonIndexed", "completionMode", "NonIndexed"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::jobset
