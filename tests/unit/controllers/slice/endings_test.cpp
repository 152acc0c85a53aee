// How placed slices wait for kube-scheduler, are completed host by host, and end.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_plan.h"
#include "controllers/slice/slice_state.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

SliceObserved view_of(const SliceBuilder& slice, Duration now) { return {slice.key(), slice.pods(), {}, after(now)}; }

plan::Plan planned(const SliceBuilder& slice, Duration now) { return plan_slice(view_of(slice, now), {}); }

/// "train-0 waiting=..." of each annotation that the plan writes but tpu::kWaitingReason; "delete Pod train-0".
std::vector<std::string> ending_writes_of(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.kind == plan::ActionKind::kDelete) out.push_back(write_of(action));
      if (action.kind == plan::ActionKind::kDelete || action.subresource == "status") continue;
      const Json body = *action.body.make();
      if (body.contains("spec")) {
        out.push_back("release " + action.key.name);
        continue;
      }
      for (const auto& [name, value] : body.at("metadata").at("annotations").items()) {
        if (name == tpu::kWaitingReason) continue;
        out.push_back(fmt::format("{} {}={}", action.key.name, name.substr(name.find('/') + 1),
                                  value.is_null() ? "" : value.get<std::string>()));
      }
    }
  }
  return out;
}

PodChange refused_with(const std::string& message) {
  return [=](PodView& pod) { pod.unschedulable = message; };
}
const char* const kNoCpu =
    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.";
const char* const kNoChips = "0/2 nodes are available: 2 Insufficient google.com/tpu.";

// Waiting for kube-scheduler.

TEST(PlacedSlice, ExplainsTheFirstPodWithoutANode) {
  const SliceBuilder slice = a_slice("train")
                                 .hosts(3)
                                 .runs_in("pool-a")
                                 .unscheduled(1)
                                 .unscheduled(2)
                                 .host(1, refused_with(kNoCpu))
                                 .host(2, refused_with(kNoCpu));
  EXPECT_THAT(ending_writes_of(planned(slice, 5s - 1ms)), IsEmpty());
  EXPECT_EQ(planned(slice, 4s).requeue_after, Duration(1s));
  EXPECT_THAT(ending_writes_of(planned(slice, 5s)),
              ElementsAre("train-1 waiting=pod train-1 has no node in pool-a yet: Insufficient cpu"));
}

TEST(PlacedSlice, SendsAnEventWhenItWaitsForSomethingElse) {
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").unscheduled(1).host(1, refused_with(kNoCpu));
  const plan::Plan plan = planned(slice, 1min);
  ASSERT_EQ(plan.events.size(), 2U);
  EXPECT_EQ(plan.events[0].reason, "SliceWaiting");
  EXPECT_EQ(plan.events[0].message, "Slice train waits: pod train-1 has no node in pool-a yet: Insufficient cpu");
  EXPECT_EQ(plan.events[0].regarding->kind, "Job");
  EXPECT_EQ(plan.events[1].message, plan.events[0].message);
  EXPECT_EQ(plan.events[1].regarding->key.name, "train-1");
  const auto known = [](PodView& pod) { pod.annotations[std::string(tpu::kWaitingReason)] = "NotScheduled"; };
  EXPECT_TRUE(planned(SliceBuilder(slice).host(1, known), 1min).events.empty());
}

TEST(PlacedSlice, WritesItsReasonOnceAndRemovesIt) {
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").unscheduled(1).host(1, refused_with(kNoCpu));
  SliceObserved seen = view_of(slice, 1min);
  apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
  seen.pods[1] = with(seen.pods[1], [](PodView& pod) {
    pod.unschedulable =
        "0/9 nodes are available: 1 Insufficient cpu, 8 node(s) didn't match Pod's node affinity/selector.";
  });
  EXPECT_TRUE(plan_slice(seen, {}).empty()) << "more nodes";
  seen.pods[1] = with(seen.pods[1], [](PodView& pod) {
    pod.unschedulable = {};
    pod.node_name = "pool-a-1";
  });
  EXPECT_THAT(ending_writes_of(plan_slice(seen, {})), ElementsAre("train-1 waiting="));
  apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
}

TEST(PlacedSlice, MovesItsReasonToTheNextPod) {
  const auto explained = [](PodView& pod) { pod.annotations[std::string(tpu::kWaiting)] = "before"; };
  const SliceBuilder slice =
      a_slice("train").runs_in("pool-a").host(0, explained).unscheduled(1).host(1, refused_with(kNoCpu));
  EXPECT_THAT(
      ending_writes_of(planned(slice, 1min)),
      ElementsAre("train-0 waiting=", "train-1 waiting=pod train-1 has no node in pool-a yet: Insufficient cpu"));
}

TEST(PlacedSlice, SaysInItsPlanWhyItWrites) {
  const plan::Plan plan =
      planned(a_slice("train").runs_in("pool-a").unscheduled(1).host(1, refused_with(kNoCpu)), 1min);
  EXPECT_FALSE(plan.stages.empty());
  EXPECT_NE(plan.reason, "") << "the log has one line for each plan";
}

TEST(PlacedSlice, SaysSinceWhenAPodHasNoNodeIfKubeSchedulerDoesNotSayWhy) {
  const auto claim = [](PodView& pod) {
    pod.scheduling.edit().resource_claims = "spec.resourceClaims[0].resourceClaimTemplateName tpu";
  };
  const SliceBuilder slice = a_slice("train").hosts(3).runs_in("pool-a", 5s).unscheduled(1).unscheduled(2).each(claim);
  const plan::Plan before = planned(slice, 34s);
  EXPECT_THAT(ending_writes_of(before), IsEmpty());
  EXPECT_EQ(before.requeue_after, Duration(1s));
  const plan::Plan plan = planned(slice, 35s);
  EXPECT_THAT(ending_writes_of(plan),
              ElementsAre("train-1 waiting=pod train-1 has no node in pool-a yet: it waits for one since "
                          "2026-01-01T00:00:05Z, and kube-scheduler reports no reason; check that its resource claims "
                          "exist: spec.resourceClaims[0].resourceClaimTemplateName tpu"));
  EXPECT_EQ(plan.requeue_after, Duration(15min - 30s)) << "until it is torn down: the text does not change";
  EXPECT_THAT(ending_writes_of(planned(SliceBuilder(slice).gated(0), 1min)), Not(Contains(HasSubstr("waiting=pod"))))
      << "it is being released";
  EXPECT_THAT(ending_writes_of(planned(SliceBuilder(slice).host(2, refused_with(kNoCpu)), 1min)),
              ElementsAre("train-2 waiting=pod train-2 has no node in pool-a yet: Insufficient cpu"))
      << "that is a reason";
}

TEST(PlacedSlice, IsKeptWhileTheReasonWillPass) {
  const auto nominated = [](PodView& pod) {
    pod.unschedulable = kNoChips;
    pod.nominated = true;
  };
  for (const PodChange& change : {refused_with(kNoCpu), PodChange(nominated)}) {
    const plan::Plan plan = planned(a_slice("train").runs_in("pool-a").unscheduled(0).host(0, change), 15min - 1s);
    EXPECT_THAT(ending_writes_of(plan), SizeIs(1)) << "its reason";
    EXPECT_EQ(plan.requeue_after, Duration(1s));
  }
}

TEST(PlacedSlice, GivesItsDomainBackIfTheReasonDoesNotPass) {
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").unscheduled(1).host(1, refused_with(kNoCpu));
  const plan::Plan plan = planned(slice, 15min);
  EXPECT_THAT(ending_writes_of(plan), ElementsAre("delete Pod train-0", "delete Pod train-1"));
  EXPECT_THAT(plan.reason, HasSubstr("1 of 2 pods are not scheduled in pool-a: train-1: 0/2 nodes are available: 1 "
                                     "Insufficient cpu"));
  EXPECT_THAT(ending_writes_of(plan_slice(view_of(slice, 24h), {.start_timeout = Duration(0)})), SizeIs(1))
      << "its reason";
}

TEST(PlacedSlice, GivesItsDomainBackIfItsResourceClaimsDoNotExist) {
  const auto claim = [](PodView& pod) {
    pod.scheduling.edit().resource_claims = "spec.resourceClaims[0].resourceClaimTemplateName tpu";
  };
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").unscheduled(1).each(claim);
  EXPECT_THAT(ending_writes_of(planned(slice, 15min)), ElementsAre("delete Pod train-0", "delete Pod train-1"));
  EXPECT_THAT(planned(slice, 15min).reason, HasSubstr("check that its resource claims exist"));
}

TEST(PlacedSlice, IsTornDownIfOnePodNeedsAnotherDomain) {
  const SliceBuilder slice = a_slice("train")
                                 .runs_in("pool-a")
                                 .unscheduled(0)
                                 .unscheduled(1)
                                 .host(0, refused_with(kNoCpu))
                                 .host(1, refused_with(kNoChips));
  EXPECT_EQ(planned(slice, 2min - 1s).requeue_after, Duration(1s));
  EXPECT_THAT(ending_writes_of(planned(slice, 2min)), ElementsAre("delete Pod train-0", "delete Pod train-1"));
}

TEST(PlacedSlice, IsNeverTornDownWithoutASchedulingTimeout) {
  const SliceBuilder slice = a_slice("train").runs_in("pool-a").unscheduled(1).host(1, refused_with(kNoChips));
  for (const Duration off : {Duration(0s), Duration(-1s)}) {
    const plan::Plan plan = plan_slice(view_of(slice, 24h), {.scheduling_timeout = off, .start_timeout = off});
    EXPECT_THAT(ending_writes_of(plan),
                ElementsAre("train-1 waiting=pod train-1 has no node in pool-a yet: Insufficient "
                            "google.com/tpu"));
    EXPECT_EQ(plan.requeue_after, std::nullopt);
  }
}

// Host by host.

SliceBuilder a_stateful_slice() {
  return a_slice("train").hosts(3).start(tpu::kHostByHost).runs_in("pool-a").record("open");
}

TEST(HostByHost, StartsAloneAfterTheTimeout) {
  const auto state = [](Duration now) {
    return state_of(a_slice("train").hosts(3).start(tpu::kHostByHost).without(1).without(2).slice(), after(now));
  };
  EXPECT_EQ(state(10s - 1ms).phase, SlicePhase::kForming);
  EXPECT_EQ(state(10s - 1ms).changes_at, after(10s));
  EXPECT_EQ(state(10s).phase, SlicePhase::kReady);
  EXPECT_EQ(state_of(a_slice("train").start(tpu::kHostByHost).slice(), after(0s)).phase, SlicePhase::kReady)
      << "all hosts exist";
  EXPECT_EQ(state_of(a_slice("train").hosts(3).start(tpu::kHostByHost).without(0).slice(), after(1h)).phase,
            SlicePhase::kForming)
      << "host 0 is missing";
}

TEST(HostByHost, IsOpenUntilAllHostsExist) {
  EXPECT_THAT(ending_writes_of(planned(a_stateful_slice().without(2), 1min - 1ms)), IsEmpty());
  EXPECT_EQ(planned(a_stateful_slice().without(2), 59s).requeue_after, Duration(1s));
  EXPECT_THAT(ending_writes_of(planned(a_stateful_slice().without(1).without(2), 1min)),
              ElementsAre("train-0 waiting=1 of 3 pods exist; hosts 1, 2 are missing; they can start in pool-a only, "
                          "which is kept for them"));
  EXPECT_THAT(ending_writes_of(planned(a_stateful_slice().without(2).gated(1), 1h)), ElementsAre("release train-1"));
}

TEST(HostByHost, IsCompletedOnceAllHostsExist) {
  SliceObserved seen = view_of(a_stateful_slice(), 1h);
  const std::string members = members_of(a_stateful_slice().slice());
  EXPECT_NE(members, "open");
  EXPECT_THAT(ending_writes_of(plan_slice(seen, {})),
              ElementsAre("train-0 slice-members=" + members, "train-1 slice-members=" + members,
                          "train-2 slice-members=" + members));
  apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
}

TEST(HostByHost, IsCompletedWithItsLastHostInTwoPlans) {
  SliceObserved seen = view_of(a_stateful_slice().gated(2), 1h);
  for (int plan = 0; plan < 2; ++plan) apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
  const std::string members = members_of(a_stateful_slice().slice());
  for (const PodPtr& pod : seen.pods) EXPECT_EQ(pod->annotation(tpu::kSliceMembers), members) << pod->key.name;
}

TEST(HostByHost, IsTornDownOnceWhenAHostIsLostAfterThat) {
  SliceObserved seen = view_of(a_stateful_slice(), 1h);
  apply_plan(plan_slice(seen, {}), seen.pods);
  seen.pods[2] = with(seen.pods[2], [](PodView& pod) { pod.deletion = after(1h); });
  EXPECT_THAT(ending_writes_of(plan_slice(seen, {})), ElementsAre("delete Pod train-0", "delete Pod train-1"));
  apply_plan(plan_slice(seen, {}), seen.pods);
  EXPECT_TRUE(plan_slice(seen, {}).empty());
}

TEST(HostByHost, IsTornDownIfTheOperatorStoppedWhileItCompletedIt) {
  SliceObserved seen = view_of(a_stateful_slice(), 1h);
  plan::Plan half = plan_slice(seen, {});
  half.stages.at(0).actions.resize(1);
  apply_plan(half, seen.pods);
  seen.pods[2] = with(seen.pods[2], [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(ending_writes_of(plan_slice(seen, {})), ElementsAre("delete Pod train-0", "delete Pod train-1"));
}

TEST(HostByHost, KeepsAnOpenSliceWhoseHostIsReplacedInTime) {
  EXPECT_THAT(ending_writes_of(planned(a_stateful_slice().without(2).replaced(1), 1h)), ElementsAre("release train-1"));
}

TEST(Host0IfAlone, IsNotCompleted) {
  const SliceBuilder slice = a_slice("train").start(tpu::kHost0IfAlone).runs_in("pool-a").record("open");
  EXPECT_TRUE(planned(slice, 1h).empty()) << "its controller replaces a lost host";
}

TEST(SliceStart, IsTogetherForAnUnknownValue) {
  for (const char* text : {"", "host by host", "HOST-BY-HOST", "x"}) {
    EXPECT_EQ(a_slice("train").start(text).slice().start, Start::kTogether) << text;
  }
  EXPECT_EQ(a_slice("train").start("host-by-host").slice().start, Start::kHostByHost);
}

// The condition DisruptionTarget.

TEST(DisruptionTarget, IsSetOnEachPodThatIsDeletedBeforeIt) {
  const plan::Plan plan = planned(a_slice("train").hosts(4).runs_in("pool-a").fails(1).gated(3), 1h);
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod train-0 status", "patch Pod train-2 status"),
                                           ElementsAre("delete Pod train-0", "delete Pod train-2")));
  for (const std::string pod : {"train-0", "train-2"}) {
    const plan::Action condition = action_of(plan, "patch Pod " + pod + " status");
    const plan::Action deletion = action_of(plan, "delete Pod " + pod);
    EXPECT_EQ(condition.key, deletion.key);
    EXPECT_EQ(condition.preconditions.uid, deletion.preconditions.uid);
    EXPECT_EQ(condition.preconditions.resource_version, "") << "a changed pod is deleted, too";
    EXPECT_TRUE(condition.best_effort);
    EXPECT_TRUE(condition.strategic) << "a merge patch would replace all conditions";
    EXPECT_EQ(condition.body.make()->at("status").at("conditions").at(0).at("message"),
              "pod train-1 failed on node pool-a-1");
  }
  EXPECT_FALSE(plan.stages[0].continue_on_failure) << "only its best-effort actions may fail";
}

TEST(DisruptionTarget, IsNotSetOnALostPodThatIsDeletedAnyway) {
  SliceObserved seen = view_of(a_slice("train").runs_in("pool-a").terminating(0).terminating(1), 1h);
  for (const NodePtr& node : a_pool("pool-a").each(not_ready).nodes()) seen.nodes.emplace(node->key.name, node);
  const plan::Plan plan = plan_slice(seen, {});
  EXPECT_THAT(stages_of(plan), ElementsAre(Each(StartsWith("delete Pod "))));
}

}  // namespace
}  // namespace tpuslice::slice
