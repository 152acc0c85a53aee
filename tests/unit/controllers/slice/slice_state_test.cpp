#include "controllers/slice/slice_state.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;

struct StateCase {
  const char* name;
  SliceBuilder slice;
  SlicePhase phase;
  const char* reason;
};
void PrintTo(const StateCase& c, std::ostream* out) { *out << c.name; }

class SliceStateOf : public ::testing::TestWithParam<StateCase> {};

TEST_P(SliceStateOf, HasAPhaseAndAReason) {
  const SliceState state = state_of(GetParam().slice.slice(), start_of_time());
  EXPECT_EQ(state.phase, GetParam().phase);
  EXPECT_EQ(state.reason, GetParam().reason);
  EXPECT_EQ(state.changes_at, std::nullopt);
}

std::string case_name(const ::testing::TestParamInfo<StateCase>& test) { return test.param.name; }

/// A slice of four hosts that waits.
SliceBuilder waiting() { return a_slice("train").hosts(4); }
/// The same in pool-a.
SliceBuilder running() { return a_slice("train").hosts(4).runs_in("pool-a"); }

PodChange as_host(int host) {
  return [=](PodView& pod) { pod.annotations[std::string(tpu::kSliceHost)] = std::to_string(host); };
}
PodChange created_as(int host) {
  return [=](PodView& pod) {
    pod.annotations.erase(std::string(tpu::kSliceHost));
    pod.annotations[std::string(tpu::kMutatedBy)] = tpu::kMutatedByJobTemplate;
    pod.labels[std::string(tpu::kCompletionIndex)] = std::to_string(host);
  };
}
PodChange gated_by_others_too() {
  return [](PodView& pod) {
    pod.scheduling.edit().gates.insert(pod.scheduling.edit().gates.begin(), "example.com/quota");
  };
}
PodChange leaving_as(int host, const std::string& node) {
  return [=](PodView& pod) {
    as_host(host)(pod);
    pod.node_name = node;
    pod.deletion = start_of_time();
  };
}
SliceBuilder of_sixteen(int there) {
  SliceBuilder slice = a_slice("train").hosts(16);
  for (int host = there; host < 16; ++host) slice.without(host);
  return slice;
}

INSTANTIATE_TEST_SUITE_P(
    Idle, SliceStateOf,
    ::testing::Values(
        StateCase{"WithoutPods", a_slice("train").hosts(0), SlicePhase::kIdle, ""},
        StateCase{"OnlyACompanion", a_slice("train").hosts(1).without(0).companion("driver"), SlicePhase::kIdle, ""},
        StateCase{"AllFailed", a_slice("train").hosts(2).fails(0).fails(1), SlicePhase::kIdle, ""},
        StateCase{"AllLeaving", a_slice("train").hosts(2).terminating(0).terminating(1), SlicePhase::kIdle, ""},
        StateCase{"AllSucceeded", a_slice("train").hosts(2).runs_in("p").succeeds(0).succeeds(1), SlicePhase::kIdle,
                  ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Forming, SliceStateOf,
    ::testing::Values(
        StateCase{"OneMissing", waiting().without(2), SlicePhase::kForming, "3 of 4 pods exist; host 2 is missing"},
        StateCase{"SeveralMissing", waiting().without(1).without(3), SlicePhase::kForming,
                  "2 of 4 pods exist; hosts 1, 3 are missing"},
        StateCase{"EightMissing", of_sixteen(8), SlicePhase::kForming,
                  "8 of 16 pods exist; hosts 8, 9, 10, 11, 12, 13, 14, 15 are missing"},
        StateCase{"ManyMissing", of_sixteen(7), SlicePhase::kForming,
                  "7 of 16 pods exist; hosts 7, 8, 9, 10, 11, 12, 13, 14 and others are missing"},
        StateCase{"FailedPodWhereAHostIsMissing", waiting().fails(1), SlicePhase::kForming,
                  "3 of 4 pods exist; host 1 is missing"},
        StateCase{"PredecessorOnANode", waiting().extra("old-1", leaving_as(1, "pool-a-1")), SlicePhase::kForming,
                  "pod old-1 of its predecessor is still being deleted on node pool-a-1"},
        StateCase{"PredecessorWithoutNode", waiting().extra("old-1", leaving_as(1, "")), SlicePhase::kForming,
                  "pod old-1 of its predecessor is still being deleted"},
        StateCase{
            "Duplicate", waiting().extra("duplicate", as_host(3)).host(3, [](PodView& p) { p.created = after(-1s); }),
            SlicePhase::kForming, "pod duplicate is a duplicate of host 3, or beyond the slice's 4 hosts: delete it"},
        StateCase{"BeyondItsSize", waiting().extra("fifth", as_host(4)), SlicePhase::kForming,
                  "pod fifth is a duplicate of host 4, or beyond the slice's 4 hosts: delete it"},
        StateCase{"CreatedBeyondItsSize", waiting().extra("fifth", created_as(4)), SlicePhase::kForming,
                  "pod fifth is a duplicate of host 4, or beyond the slice's 4 hosts: delete it"},
        StateCase{"AnotherGate", waiting().host(2, gated_by_others_too()), SlicePhase::kForming,
                  "pod train-2 is held by scheduling gate example.com/quota"},
        StateCase{"AnotherGateOfACompanion", waiting().companion("driver", gated_by_others_too()), SlicePhase::kForming,
                  "pod driver is held by scheduling gate example.com/quota"},
        StateCase{"OneOfTheSameJobHasSucceeded", waiting().succeeds(0), SlicePhase::kReady, ""},
        StateCase{"OneOfAnotherJobHasSucceeded",
                  waiting().succeeds(3).host(3, [](PodView& pod) { pod.controller->uid = "another"; }),
                  SlicePhase::kForming, "pod train-3 of its predecessor has succeeded and still exists"},
        StateCase{"OthersFollowHost0WithoutIt", waiting().start(tpu::kOthersFollowHost0).without(0),
                  SlicePhase::kForming, "3 of 4 pods exist; host 0 is missing"},
        StateCase{"Host0IfAloneWithoutIt", waiting().start(tpu::kHost0IfAlone).without(0), SlicePhase::kForming,
                  "3 of 4 pods exist; host 0 is missing"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Ready, SliceStateOf,
    ::testing::Values(
        StateCase{"AllThere", waiting(), SlicePhase::kReady, ""},
        StateCase{"OneHost", a_slice("train").hosts(1), SlicePhase::kReady, ""},
        StateCase{"BesideTheFailedOnesOfBefore",
                  waiting().extra("old", [](PodView& pod) { pod.phase = PodPhase::kFailed; }), SlicePhase::kReady, ""},
        StateCase{"OthersFollowHost0", waiting().start(tpu::kOthersFollowHost0).without(1).without(2).without(3),
                  SlicePhase::kReady, ""},
        StateCase{"Host0IfAloneWithAllThere", waiting().start(tpu::kHost0IfAlone), SlicePhase::kReady, ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Placed, SliceStateOf,
    ::testing::Values(StateCase{"AllRun", running(), SlicePhase::kPlaced, ""},
                      StateCase{"NoNodesYet", waiting().placed_in("pool-a"), SlicePhase::kPlaced, ""},
                      StateCase{"OnlyTheFirstReleased", waiting().placed_in("pool-a").gated(1).gated(2).gated(3),
                                SlicePhase::kPlaced, ""},
                      StateCase{"SomeSucceeded", running().succeeds(0).succeeds(3), SlicePhase::kPlaced, ""},
                      StateCase{"OpenAndHostsAreMissing", running().record("open").without(1).without(2),
                                SlicePhase::kPlaced, ""},
                      StateCase{"ACompanionCameLater", running().companion("driver"), SlicePhase::kPlaced, ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Broken, SliceStateOf,
    ::testing::Values(
        StateCase{"Failed", running().fails(2), SlicePhase::kBroken, "pod train-2 failed on node pool-a-2"},
        StateCase{"FirstFailed", running().fails(0), SlicePhase::kBroken, "pod train-0 failed on node pool-a-0"},
        StateCase{"FailedForAReason", running().fails(2, "Evicted"), SlicePhase::kBroken,
                  "pod train-2 failed on node pool-a-2: Evicted"},
        StateCase{"FailedWithAContainer",
                  running().fails(2).host(2, [](PodView& pod) { pod.failure = "container main: Error, exit code 1"; }),
                  SlicePhase::kBroken, "pod train-2 failed on node pool-a-2: container main: Error, exit code 1"},
        StateCase{"BeingDeleted", running().terminating(1), SlicePhase::kBroken, "pod train-1 is being deleted"},
        StateCase{"Gone", running().without(3), SlicePhase::kBroken, "3 of 4 pods exist; host 3 is missing"},
        StateCase{"Replaced", running().replaced(1), SlicePhase::kBroken, "pod train-1 replaces a pod that was lost"},
        StateCase{"ReplacedAfterAFailure",
                  running().replaced(1).extra("old-1", [](PodView& pod) { pod.phase = PodPhase::kFailed; }),
                  SlicePhase::kBroken, "pod old-1 failed"},
        StateCase{"ReplacedByAPodThatWasPlacedElsewhere",
                  running().host(1,
                                 [](PodView& pod) {
                                   pod.uid += "-new";
                                   pod.annotations[std::string(tpu::kSliceMembers)] = "others";
                                 }),
                  SlicePhase::kBroken, "one of its pods was replaced"},
        StateCase{"LostWhileOnlyTheFirstIsReleased", waiting().placed_in("pool-a").gated(1).gated(2).without(3),
                  SlicePhase::kBroken, "3 of 4 pods exist; host 3 is missing"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Ungated, SliceStateOf,
    ::testing::Values(
        StateCase{
            "All", running().record(""), SlicePhase::kUngated,
            "pod train-0 was created without scheduling gate: delete it, and all pods of the slice start together"},
        StateCase{
            "SomeOfIt", running().record("").gated(0).gated(1), SlicePhase::kUngated,
            "pod train-2 was created without scheduling gate: delete it, and all pods of the slice start together"}),
    case_name);

TEST(SliceStateTimeout, ReleasesHostZeroAfterTheTimeout) {
  const Slice slice = a_slice("train").hosts(3).start(tpu::kHost0IfAlone).created(5s).without(1).without(2).slice();
  const SliceState before = state_of(slice, after(5s + kMissingPodsTimeout - 1ns));
  EXPECT_EQ(before.phase, SlicePhase::kForming);
  EXPECT_EQ(before.reason, "1 of 3 pods exist; hosts 1, 2 are missing");
  EXPECT_EQ(before.changes_at, after(5s + kMissingPodsTimeout));
  const SliceState then = state_of(slice, after(5s + kMissingPodsTimeout));
  EXPECT_EQ(then.phase, SlicePhase::kReady);
  EXPECT_EQ(then.changes_at, std::nullopt);
}

TEST(SliceStateTimeout, RestartsTheTimeoutWithEachPod) {
  const auto later = [](PodView& pod) { pod.created = after(8s); };
  const SliceBuilder slice = a_slice("train").hosts(3).start(tpu::kHost0IfAlone).host(1, later).without(2);
  EXPECT_EQ(state_of(slice.slice(), after(17s)).phase, SlicePhase::kForming);
  EXPECT_EQ(state_of(slice.slice(), after(17s)).changes_at, after(18s));
  EXPECT_EQ(state_of(slice.slice(), after(18s)).phase, SlicePhase::kReady);
}

TEST(SliceStateTimeout, NeverTimesOutIfTheSliceStartsTogether) {
  EXPECT_EQ(state_of(waiting().without(3).slice(), after(std::chrono::hours(24))).phase, SlicePhase::kForming);
}

TEST(SliceStateTimeout, KeepsHostZeroWithAnotherGate) {
  const SliceBuilder slice =
      a_slice("train").hosts(2).start(tpu::kHost0IfAlone).without(1).host(0, gated_by_others_too());
  const SliceState state = state_of(slice.slice(), after(1h));
  EXPECT_EQ(state.phase, SlicePhase::kForming);
  EXPECT_EQ(state.reason, "pod train-0 is held by scheduling gate example.com/quota");
}

}  // namespace
}  // namespace tpuslice::slice
