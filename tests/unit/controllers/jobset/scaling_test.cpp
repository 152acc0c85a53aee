#include "controllers/jobset/child_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::jobset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kJobSpec = "/spec/replicatedJobs/0/template/spec/";

// A JobSet of two Jobs with two pods each whose spec asks for four.
World grown() {
  World world = a_jobset("train").job("workers", 2).hosts(2).everywhere(ready);
  world.set(std::string(kJobSpec) + "parallelism", 4).set(std::string(kJobSpec) + "completions", 4);
  return world;
}

std::vector<std::string> resized(const World& world) {
  const Scene scene(world);
  std::vector<std::string> names;
  for (const JobResize& resize : jobs_to_resize(scene.state.spec, scene.state.children.active)) {
    names.push_back(resize.job->key.name);
  }
  return names;
}

TEST(Scaling, ResizesRunningJobs) {
  const Scene scene(grown());
  Decisions decisions;
  decisions.running.emplace().resize = jobs_to_resize(scene.state.spec, scene.state.children.active);
  const plan::Plan plan = scene.render(decisions).plan;
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Job train-workers-0", "patch Job train-workers-1")));
  const plan::Action first = action_of(plan, "patch Job train-workers-0");
  EXPECT_EQ(*first.body.make(), Json({{"spec", {{"parallelism", 4}, {"completions", 4}}}}));
  EXPECT_EQ(first.preconditions.uid, "uid-of-train-workers-0");
  EXPECT_EQ(plan.reason,
            "resizing job train-workers-0 from 2 to 4 pods; resizing job train-workers-1 from 2 to 4 pods");
}

TEST(Scaling, SkipsJobsOfTheRightSize) {
  EXPECT_THAT(resized(a_jobset("train").job("workers", 2).hosts(2).everywhere(ready)), IsEmpty());
}

TEST(Scaling, SkipsFinishedTerminatingAndUnknownJobs) {
  World world = grown();
  world.job("train-workers-0", succeeded).job("train-workers-1", being_deleted());
  EXPECT_THAT(resized(world), IsEmpty());
  EXPECT_THAT(resized(grown().job("train-workers-1", without_label(kReplicatedJobName))),
              ElementsAre("train-workers-0"));
}

struct UnscaledCase {
  const char* name;
  const char* field;
  Json value;
};

class UnscaledJobs : public testing::TestWithParam<UnscaledCase> {};

TEST_P(UnscaledJobs, AreNonIndexedOrHaveMoreCompletionsThanParallelism) {
  World world = grown();
  Json& job = world.jobset().mutable_json()["spec"]["replicatedJobs"][0]["template"]["spec"];
  job[GetParam().field] = GetParam().value;
  EXPECT_THAT(resized(world), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, UnscaledJobs,
                         testing::Values(UnscaledCase{"MoreCompletions", "completions", 8},
                                         UnscaledCase{"NoCompletions", "completions", nullptr},
                                         UnscaledCase{"NonIndexed", "completionMode", "NonIndexed"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::jobset
