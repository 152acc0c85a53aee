#include "controllers/slice/standing.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;

struct StandingCase {
  const char* name;
  SliceBuilder slice;
  Phase phase;
  const char* why;
};
void PrintTo(const StandingCase& c, std::ostream* out) { *out << c.name; }

class SliceStanding : public ::testing::TestWithParam<StandingCase> {};

TEST_P(SliceStanding, IsToldInOneSentence) {
  const Standing standing = standing_of(GetParam().slice.slice(), start_of_time());
  EXPECT_EQ(standing.phase, GetParam().phase);
  EXPECT_EQ(standing.why, GetParam().why);
  EXPECT_EQ(standing.changes_at, std::nullopt);
}

std::string case_name(const ::testing::TestParamInfo<StandingCase>& test) { return test.param.name; }

/// A slice of four hosts that waits.
SliceBuilder waiting() { return a_slice("train").hosts(4); }
/// The same in pool-a.
SliceBuilder running() { return a_slice("train").hosts(4).runs_in("pool-a"); }

PodChange as_host(int host) {
  return [=](PodView& pod) { pod.annotations[std::string(tpu::kSliceHost)] = std::to_string(host); };
}
PodChange born_as(int host) {
  return [=](PodView& pod) {
    pod.annotations.erase(std::string(tpu::kSliceHost));
    pod.annotations[std::string(tpu::kBorn)] = tpu::kBornOfTemplate;
    pod.labels[std::string(tpu::kCompletionIndex)] = std::to_string(host);
  };
}
PodChange gated_by_others_too() {
  return [](PodView& pod) { pod.scheduling_gates.insert(pod.scheduling_gates.begin(), "example.com/quota"); };
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
    Idle, SliceStanding,
    ::testing::Values(
        StandingCase{"WithoutPods", a_slice("train").hosts(0), Phase::kIdle, ""},
        StandingCase{"OnlyACompanion", a_slice("train").hosts(1).without(0).companion("driver"), Phase::kIdle, ""},
        StandingCase{"AllFailed", a_slice("train").hosts(2).fails(0).fails(1), Phase::kIdle, ""},
        StandingCase{"AllLeaving", a_slice("train").hosts(2).leaves(0).leaves(1), Phase::kIdle, ""},
        StandingCase{"AllSucceeded", a_slice("train").hosts(2).runs_in("p").succeeds(0).succeeds(1), Phase::kIdle, ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Forming, SliceStanding,
    ::testing::Values(
        StandingCase{"OneMissing", waiting().without(2), Phase::kForming, "3 of 4 pods exist; host 2 is missing"},
        StandingCase{"SeveralMissing", waiting().without(1).without(3), Phase::kForming,
                     "2 of 4 pods exist; hosts 1, 3 are missing"},
        StandingCase{"EightMissing", of_sixteen(8), Phase::kForming,
                     "8 of 16 pods exist; hosts 8, 9, 10, 11, 12, 13, 14, 15 are missing"},
        StandingCase{"ManyMissing", of_sixteen(7), Phase::kForming,
                     "7 of 16 pods exist; hosts 7, 8, 9, 10, 11, 12, 13, 14 and others are missing"},
        StandingCase{"FailedPodWhereAHostIsMissing", waiting().fails(1), Phase::kForming,
                     "3 of 4 pods exist; host 1 is missing"},
        StandingCase{"PredecessorOnANode", waiting().extra("old-1", leaving_as(1, "pool-a-1")), Phase::kForming,
                     "pod old-1 of its predecessor is still being deleted on node pool-a-1"},
        StandingCase{"PredecessorWithoutNode", waiting().extra("old-1", leaving_as(1, "")), Phase::kForming,
                     "pod old-1 of its predecessor is still being deleted"},
        StandingCase{"Twin", waiting().extra("twin", as_host(3)).host(3, [](PodView& p) { p.created = after(-1s); }),
                     Phase::kForming, "pod twin is host 3 too, or beyond the slice's 4 hosts: delete it"},
        StandingCase{"BeyondItsSize", waiting().extra("fifth", as_host(4)), Phase::kForming,
                     "pod fifth is host 4 too, or beyond the slice's 4 hosts: delete it"},
        StandingCase{"BornBeyondItsSize", waiting().extra("fifth", born_as(4)), Phase::kForming,
                     "pod fifth is host 4 too, or beyond the slice's 4 hosts: delete it"},
        StandingCase{"AnotherGate", waiting().host(2, gated_by_others_too()), Phase::kForming,
                     "pod train-2 is held by scheduling gate example.com/quota"},
        StandingCase{"AnotherGateOfACompanion", waiting().companion("driver", gated_by_others_too()), Phase::kForming,
                     "pod driver is held by scheduling gate example.com/quota"},
        StandingCase{"OneSucceededBefore", waiting().succeeds(3), Phase::kForming, "pod train-3 has already ended"},
        StandingCase{"FirstHostFirstWithoutIt", waiting().starts(tpu::kFirstHostFirst).without(0), Phase::kForming,
                     "3 of 4 pods exist; host 0 is missing"},
        StandingCase{"FirstHostAloneWithoutIt", waiting().starts(tpu::kFirstHostAlone).without(0), Phase::kForming,
                     "3 of 4 pods exist; host 0 is missing"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Ready, SliceStanding,
    ::testing::Values(
        StandingCase{"AllThere", waiting(), Phase::kReady, ""},
        StandingCase{"OneHost", a_slice("train").hosts(1), Phase::kReady, ""},
        StandingCase{"BesideTheFailedOnesOfBefore",
                     waiting().extra("old", [](PodView& pod) { pod.phase = PodPhase::kFailed; }), Phase::kReady, ""},
        StandingCase{"FirstHostFirst", waiting().starts(tpu::kFirstHostFirst).without(1).without(2).without(3),
                     Phase::kReady, ""},
        StandingCase{"FirstHostAloneWithAllThere", waiting().starts(tpu::kFirstHostAlone), Phase::kReady, ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Placed, SliceStanding,
    ::testing::Values(
        StandingCase{"AllRun", running(), Phase::kPlaced, ""},
        StandingCase{"NoNodesYet", waiting().sent_to("pool-a"), Phase::kPlaced, ""},
        StandingCase{"OnlyTheFirstLetGo", waiting().sent_to("pool-a").waits(1).waits(2).waits(3), Phase::kPlaced, ""},
        StandingCase{"SomeSucceeded", running().succeeds(0).succeeds(3), Phase::kPlaced, ""},
        StandingCase{"OpenAndHostsAreMissing", running().record("open").without(1).without(2), Phase::kPlaced, ""},
        StandingCase{"ACompanionCameLater", running().companion("driver"), Phase::kPlaced, ""}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Broken, SliceStanding,
    ::testing::Values(
        StandingCase{"Failed", running().fails(2), Phase::kBroken, "pod train-2 failed"},
        StandingCase{"FirstFailed", running().fails(0), Phase::kBroken, "pod train-0 failed"},
        StandingCase{"FailedForAReason", running().fails(2, "Evicted"), Phase::kBroken, "pod train-2 failed: Evicted"},
        StandingCase{"BeingDeleted", running().leaves(1), Phase::kBroken, "pod train-1 is being deleted"},
        StandingCase{"Gone", running().without(3), Phase::kBroken, "3 of 4 pods exist; host 3 is missing"},
        StandingCase{"Replaced", running().replaced(1), Phase::kBroken, "pod train-1 replaces a pod that was lost"},
        StandingCase{"ReplacedAfterAFailure",
                     running().replaced(1).extra("old-1", [](PodView& pod) { pod.phase = PodPhase::kFailed; }),
                     Phase::kBroken, "pod old-1 failed"},
        StandingCase{"ReplacedByAPodThatWasPlacedElsewhere",
                     running().host(1,
                                    [](PodView& pod) {
                                      pod.uid += "-new";
                                      pod.annotations[std::string(tpu::kSliceMembers)] = "others";
                                    }),
                     Phase::kBroken, "one of its pods was replaced"},
        StandingCase{"LostWhileOnlyTheFirstIsLetGo", waiting().sent_to("pool-a").waits(1).waits(2).without(3),
                     Phase::kBroken, "3 of 4 pods exist; host 3 is missing"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Ungated, SliceStanding,
    ::testing::Values(
        StandingCase{
            "All", running().record(""), Phase::kUngated,
            "pod train-0 was created without scheduling gate: delete it, and all pods of the slice start together"},
        StandingCase{
            "SomeOfIt", running().record("").waits(0).waits(1), Phase::kUngated,
            "pod train-2 was created without scheduling gate: delete it, and all pods of the slice start together"}),
    case_name);

TEST(SliceStandingInTime, LetsTheFirstHostGoWhenNoOthersHaveComeForAWhile) {
  const Slice slice = a_slice("train").hosts(3).starts(tpu::kFirstHostAlone).created(5s).without(1).without(2).slice();
  const Standing before = standing_of(slice, after(5s + kAlone - 1ns));
  EXPECT_EQ(before.phase, Phase::kForming);
  EXPECT_EQ(before.why, "1 of 3 pods exist; hosts 1, 2 are missing");
  EXPECT_EQ(before.changes_at, after(5s + kAlone));
  const Standing then = standing_of(slice, after(5s + kAlone));
  EXPECT_EQ(then.phase, Phase::kReady);
  EXPECT_EQ(then.changes_at, std::nullopt);
}

TEST(SliceStandingInTime, StartsThePatienceAnewWithEachPodThatComes) {
  const auto later = [](PodView& pod) { pod.created = after(8s); };
  const SliceBuilder slice = a_slice("train").hosts(3).starts(tpu::kFirstHostAlone).host(1, later).without(2);
  EXPECT_EQ(standing_of(slice.slice(), after(17s)).phase, Phase::kForming);
  EXPECT_EQ(standing_of(slice.slice(), after(17s)).changes_at, after(18s));
  EXPECT_EQ(standing_of(slice.slice(), after(18s)).phase, Phase::kReady);
}

TEST(SliceStandingInTime, NeverLetsTheFirstHostGoOfASliceThatStartsTogether) {
  EXPECT_EQ(standing_of(waiting().without(3).slice(), after(std::chrono::hours(24))).phase, Phase::kForming);
}

TEST(SliceStandingInTime, DoesNotMakeAFirstHostReadyThatSomethingElseHolds) {
  const SliceBuilder slice =
      a_slice("train").hosts(2).starts(tpu::kFirstHostAlone).without(1).host(0, gated_by_others_too());
  const Standing standing = standing_of(slice.slice(), after(1h));
  EXPECT_EQ(standing.phase, Phase::kForming);
  EXPECT_EQ(standing.why, "pod train-0 is held by scheduling gate example.com/quota");
}

}  // namespace
}  // namespace tpuslice::slice
