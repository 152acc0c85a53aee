#include "controllers/jobset/job_deletion.h"

#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

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

Options with_gate(bool gate) { return {.mutation = {.kinds = own_kinds(), .gate = gate}}; }

/// The Job kName of `world`.
bool may_overlap(const World& world, const Options& options = with_gate(true)) {
  const Scene scene(world);
  const JobBuilder replacements(scene.seen.jobset, scene.state.status, options);
  for (const JobPtr& job : scene.seen.jobs) {
    if (job->key.name == kName) return may_overlap_restart(*job, scene.state.spec, replacements);
  }
  ADD_FAILURE() << "no such Job";
  return false;
}

struct StateCase {
  const char* name;
  JobChange state;
  bool overlaps;
};

class JobStates : public testing::TestWithParam<StateCase> {};

TEST_P(JobStates, DecideWhetherARestartMayOverlap) {
  World world = a_slice_set().everywhere(ready);
  world.job(kName, GetParam().state);
  EXPECT_EQ(may_overlap(world), GetParam().overlaps);
}

INSTANTIATE_TEST_SUITE_P(
    All, JobStates,
    testing::Values(
        StateCase{"AllPodsAreReady", ready, true}, StateCase{"SomePodIsNotReady", active, false},
        StateCase{"NotReconciledYet", fresh, false}, StateCase{"Complete", succeeded, true},
        StateCase{"Failed", failed("BackoffLimitExceeded"), true},
        StateCase{"FailureTarget", with_condition("FailureTarget"), true},
        StateCase{"SuccessCriteriaMet", with_condition("SuccessCriteriaMet"), true},
        StateCase{"Suspended", suspended, false},
        StateCase{"SuspendRequested", with_field("/spec/suspend", true), false},
        StateCase{"WithoutSlice", with_field("/spec/template/metadata/labels/tpuslice.dev~1slice", nullptr), false},
        StateCase{"InAnotherSlice", with_field("/spec/template/metadata/labels/tpuslice.dev~1slice", "another"), false},
        StateCase{"UnknownReplicatedJob", with_label(kReplicatedJobName, "unknown"), false},
        StateCase{"InvalidIndex", with_label(kJobIndex, "x"), false},
        StateCase{"IndexBeyondReplicas", with_label(kJobIndex, "2"), false},
        StateCase{"IndexOfAnotherJob", with_label(kJobIndex, "0"), false}),
    [](const auto& test) { return test.param.name; });

struct SetCase {
  const char* name;
  JobSetBuilder jobset;
};

class OtherJobSets : public testing::TestWithParam<SetCase> {};

TEST_P(OtherJobSets, DoNotOverlap) { EXPECT_FALSE(may_overlap(GetParam().jobset.everywhere(ready))); }

INSTANTIATE_TEST_SUITE_P(
    All, OtherJobSets,
    testing::Values(
        SetCase{"WithoutOptIn", a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4")},
        SetCase{"BlockingRecreate",
                a_slice_set().restarts(1).set("/spec/failurePolicy/restartStrategy", "BlockingRecreate")},
        SetCase{"NotGated", a_slice_set().of_pod("/metadata/annotations/tpuslice.dev~1gating", "off")},
        SetCase{"PartOfASlice", a_slice_set().hosts(2)},
        SetCase{"WithoutTpu",
                a_jobset("train").job("workers", 2).hosts(4).annotation(std::string(kRestartAt), "FailureTarget")}),
    [](const auto& test) { return test.param.name; });

TEST(RestartOverlap, NeedsTheSliceController) {
  EXPECT_FALSE(may_overlap(a_slice_set().everywhere(ready), with_gate(false)));
}

TEST(RestartOverlap, NeedsAJobSetThatIsNotSuspended) {
  World world = a_slice_set().everywhere(ready);
  world.set("/spec/suspend", true);
  EXPECT_FALSE(may_overlap(world));
}

TEST(RestartOverlap, NeedsAReplacementThatIsASlice) {
  World world = a_slice_set().everywhere(ready);
  for (const char* member : {"parallelism", "completions"}) {
    world.set(std::string("/spec/replicatedJobs/1/template/spec/") + member, 2);
  }
  EXPECT_FALSE(may_overlap(world));
}

}  // namespace
}  // namespace tpuslice::jobset
