#include "controllers/jobset/succession.h"

#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/unit/controllers/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

constexpr const char* kName = "train-workers-1";

JobSetBuilder a_slice_set() {
  JobSetBuilder jobset = a_jobset("train");
  return jobset.job("driver")
      .job("workers", 2)
      .hosts(4)
      .tpu(kV6e, "4x4")
      .annotation(std::string(kRestartAt), "FailureTarget");
}

Options with_gate(bool gate) { return {.mutation = {.gate = gate}}; }

/// The Job kName of `world`.
bool may_go_first(const World& world, const Options& options = with_gate(true)) {
  const Scene scene(world);
  const JobBuilder successors(scene.seen.jobset, scene.changes.status, options);
  for (const JobPtr& job : scene.seen.jobs) {
    if (job->key.name == kName) return may_go_before_its_pods(*job, scene.spec, successors);
  }
  ADD_FAILURE() << "no such job";
  return false;
}

struct StateCase {
  const char* name;
  JobChange state;
  bool first;
};

class JobStates : public testing::TestWithParam<StateCase> {};

TEST_P(JobStates, DecideIfAJobMayGoFirst) {
  World world = a_slice_set().everywhere(ready);
  world.job(kName, GetParam().state);
  EXPECT_EQ(may_go_first(world), GetParam().first);
}

INSTANTIATE_TEST_SUITE_P(
    All, JobStates,
    testing::Values(
        StateCase{"AllPodsAreReady", ready, true}, StateCase{"SomePodIsNotReady", active, false},
        StateCase{"NotLookedAtYet", fresh, false}, StateCase{"Complete", succeeded, true},
        StateCase{"Failed", failed("BackoffLimitExceeded"), true},
        StateCase{"BoundToFail", with_condition("FailureTarget"), true},
        StateCase{"BoundToSucceed", with_condition("SuccessCriteriaMet"), true},
        StateCase{"Suspended", suspended, false}, StateCase{"ToBeSuspended", with_field("/spec/suspend", true), false},
        StateCase{"InNoSlice", with_field("/spec/template/metadata/labels/tpuslice.dev~1slice", nullptr), false},
        StateCase{"InAnotherSlice", with_field("/spec/template/metadata/labels/tpuslice.dev~1slice", "another"), false},
        StateCase{"OfNoReplicatedJob", with_label(tpu::kReplicatedJobName, "gone"), false},
        StateCase{"OfNoIndex", with_label(tpu::kJobIndex, "x"), false},
        StateCase{"BeyondTheReplicas", with_label(tpu::kJobIndex, "2"), false},
        StateCase{"MarkedAsAnother", with_label(tpu::kJobIndex, "0"), false}),
    [](const auto& test) { return test.param.name; });

struct SetCase {
  const char* name;
  JobSetBuilder jobset;
};

class OtherJobSets : public testing::TestWithParam<SetCase> {};

TEST_P(OtherJobSets, HavePodsGoBeforeTheirJobs) { EXPECT_FALSE(may_go_first(GetParam().jobset.everywhere(ready))); }

INSTANTIATE_TEST_SUITE_P(
    All, OtherJobSets,
    testing::Values(
        SetCase{"WithoutOptIn", a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4")},
        SetCase{"BlockingRecreate",
                a_slice_set().restarts(1).set("/spec/failurePolicy/restartStrategy", "BlockingRecreate")},
        SetCase{"NotGated", a_slice_set().of_pod("/metadata/annotations/tpuslice.dev~1gating", "off")},
        SetCase{"NoWholeSlice", a_slice_set().hosts(2)},
        SetCase{"WithoutTpu",
                a_jobset("train").job("workers", 2).hosts(4).annotation(std::string(kRestartAt), "FailureTarget")}),
    [](const auto& test) { return test.param.name; });

TEST(Succession, IsInOrderWithoutSliceController) {
  EXPECT_FALSE(may_go_first(a_slice_set().everywhere(ready), with_gate(false)));
}

TEST(Succession, IsInOrderOnceTheJobSetIsSuspended) {
  World world = a_slice_set().everywhere(ready);
  world.set("/spec/suspend", true);
  EXPECT_FALSE(may_go_first(world));
}

TEST(Succession, IsInOrderWhereTheNextJobIsNoSliceAnyMore) {
  World world = a_slice_set().everywhere(ready);
  for (const char* member : {"parallelism", "completions"}) {
    world.set(std::string("/spec/replicatedJobs/1/template/spec/") + member, 2);
  }
  EXPECT_FALSE(may_go_first(world));
}

}  // namespace
}  // namespace tpuslice::jobset
