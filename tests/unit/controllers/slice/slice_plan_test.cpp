#include "controllers/slice/slice_plan.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/slice/slice_render.h"
#include "controllers/slice/slice_state.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using plan::Plan;
using ::testing::ElementsAre;
using ::testing::SizeIs;

const Options kShortTimeout{.node_timeout = 40s};

SliceObserved seen_of(const SliceBuilder& slice, const PoolBuilder& pool, Duration now) {
  SliceObserved seen{slice.key(), slice.pods(), {}, after(now)};
  for (const NodePtr& node : pool.nodes()) {
    const bool used =
        std::ranges::any_of(seen.pods, [&](const PodPtr& pod) { return pod->node_name == node->key.name; });
    if (used) seen.nodes.emplace(node->key.name, node);
  }
  return seen;
}

Plan plan_of(const SliceBuilder& slice, Duration now = {}, const PoolBuilder& pool = a_pool("pool-a").size(4)) {
  return plan_slice(seen_of(slice, pool, now), kShortTimeout);
}

bool is_empty(const Plan& plan) { return plan.empty() && plan.reason.empty() && plan.measurements.empty(); }

/// Four hosts, placed in pool-a at second 5, of which only the first was released.
SliceBuilder begun() { return a_slice("train").hosts(4).placed_in("pool-a", 5s).gated(1).gated(2).gated(3); }
SliceBuilder in_pool_a() { return a_slice("train").hosts(4).runs_in("pool-a"); }
SliceBuilder with_missing_hosts(SliceBuilder slice) { return slice.without(1).without(2).without(3); }

// Completion.

TEST(SlicePlan, ReleasesTheOtherHostsToTheDomainOfHostZero) {
  const Plan plan = plan_slice(
      {{"default", "train"}, a_slice("train").placed_in("pool-a", 5s).gated(1).pods(), {}, after(9s)}, kShortTimeout);
  Json expected = Json::parse(R"({
    "reason": "1 other pod of slice train is released to pool-a",
    "stages": [[{
      "action": "patch", "resource": "pods", "object": "default/train-1",
      "uid": "uid-of-train-1", "resourceVersion": "101", "failureReason": "FailedPlaceSlice",
      "body": {
        "metadata": {"annotations": {
          "tpuslice.dev/slice-members": "MEMBERS", "tpuslice.dev/placed-at": "2026-01-01T00:00:09Z",
          "tpuslice.dev/placed-in": "pool-a", "tpuslice.dev/waiting": null, "tpuslice.dev/waiting-reason": null}},
        "spec": {"schedulingGates": [], "nodeSelector": {"cloud.google.com/gke-nodepool": "pool-a"}}}}]],
    "events": []})");
  expected["stages"][0][0]["body"]["metadata"]["annotations"]["tpuslice.dev/slice-members"] =
      members_of(a_slice("train").slice());
  EXPECT_EQ(plan::to_json(plan), expected) << plan::to_json(plan).dump(2);
}

TEST(SlicePlan, ReleasesAllHostsInOneStage) {
  const Plan plan = plan_of(begun());
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod train-1", "patch Pod train-2", "patch Pod train-3")));
  EXPECT_EQ(plan.reason, "3 other pods of slice train are released to pool-a");
}

TEST(SlicePlan, ContinuesAnInterruptedPlacement) {
  EXPECT_THAT(writes_of(plan_of(in_pool_a().gated(2))), ElementsAre("patch Pod train-2"));
  EXPECT_THAT(writes_of(plan_of(in_pool_a().gated(0).gated(2))), ElementsAre("patch Pod train-0", "patch Pod train-2"));
  EXPECT_THAT(writes_of(plan_of(in_pool_a().succeeds(0).gated(3))), ElementsAre("patch Pod train-3"));
}

TEST(SlicePlan, IsEmptyOnceAllHostsAreReleased) {
  SliceObserved seen = seen_of(begun(), a_pool("pool-a"), 9s);
  apply_plan(plan_slice(seen, kShortTimeout), seen.pods);
  EXPECT_TRUE(is_empty(plan_slice(seen, kShortTimeout)));
}

TEST(SlicePlan, KeepsOtherGates) {
  const auto held = [](PodView& pod) { pod.scheduling.edit().gates.push_back("example.com/quota"); };
  const Plan plan = plan_of(begun().host(2, held));
  const Json patch = *action_of(plan, "patch Pod train-2").body.make();
  EXPECT_EQ(patch["spec"]["schedulingGates"], Json::parse(R"([{"name": "example.com/quota"}])"));
}

TEST(SlicePlan, ReleasesCompanionsWithoutADomain) {
  const Plan plan = plan_of(in_pool_a().companion("driver"));
  ASSERT_THAT(writes_of(plan), ElementsAre("patch Pod driver"));
  const Json patch = *action_of(plan, "patch Pod driver").body.make();
  EXPECT_EQ(patch["spec"], Json({{"schedulingGates", Json::array()}}));
  EXPECT_EQ(string_at(patch, {"metadata", "annotations", tpu::kSliceMembers}),
            members_of(a_slice("train").hosts(4).slice()));
}

TEST(SlicePlan, ReleasesTheOtherHostsWithoutADomainLikeHostZero) {
  const Plan plan = plan_of(a_slice("train").placed_in("").gated(1));
  EXPECT_EQ(plan.reason, "1 other pod of slice train is released without a domain");
  EXPECT_FALSE(action_of(plan, "patch Pod train-1").body.make()->at("spec").contains("nodeSelector"));
}

TEST(SlicePlan, ReleasesLaterHostsOfAnOpenSlice) {
  const SliceBuilder open = a_slice("train").hosts(4).runs_in("pool-a").record("open").without(2).without(3).gated(1);
  const Plan plan = plan_of(open);
  ASSERT_THAT(writes_of(plan), ElementsAre("patch Pod train-1"));
  const Json patch = *action_of(plan, "patch Pod train-1").body.make();
  EXPECT_EQ(string_at(patch, {"metadata", "annotations", tpu::kSliceMembers}), "open");
  EXPECT_EQ(string_at(patch, {"spec", "nodeSelector", kGkePool}), "pool-a");
}

// Tear-down.

struct TornDownCase {
  const char* name;
  SliceBuilder slice;
  std::vector<std::string> writes;
  const char* message;
  const char* reason;
};
void PrintTo(const TornDownCase& c, std::ostream* out) { *out << c.name; }
class TornDownSlice : public ::testing::TestWithParam<TornDownCase> {
 protected:
  /// Node pool-a-3 has been not Ready for 40 seconds at second 120, two minutes after all was placed.
  static SliceObserved seen() {
    const PoolBuilder pool = a_pool("pool-a").size(4).node(3, [](NodeView& node) {
      node.ready = false;
      node.ready_changed = after(80s);
    });
    return seen_of(GetParam().slice, pool, 120s);
  }
};

TEST_P(TornDownSlice, LosesAllStartedHosts) {
  const Plan plan = plan_slice(seen(), kShortTimeout);
  EXPECT_THAT(writes_of(plan), ::testing::ElementsAreArray(GetParam().writes));
  EXPECT_EQ(plan.reason, std::string("slice train is torn down: ") + GetParam().message);
  EXPECT_THAT(plan, plan::CountsOnly(kCounters));
  const std::vector<plan::Measurement> counts = measurements_of(plan);
  ASSERT_THAT(counts, SizeIs(1));
  EXPECT_EQ(counts[0].labels.at("reason"), GetParam().reason);
}

TEST_P(TornDownSlice, IsTornDownOnce) {
  SliceObserved again = seen();
  apply_plan(plan_slice(again, kShortTimeout), again.pods);
  const Plan plan = plan_slice(again, kShortTimeout);
  EXPECT_TRUE(is_empty(plan)) << plan::to_json(plan).dump(2);
}

/// All these hosts get their condition, then they are deleted.
std::vector<std::string> deletes_of(std::initializer_list<int> hosts) {
  std::vector<std::string> out;
  for (const int host : hosts) out.push_back(fmt::format("patch Pod train-{} status", host));
  for (const int host : hosts) out.push_back(fmt::format("delete Pod train-{}", host));
  return out;
}

/// Runs on the nodes of pool-a that are well.
SliceBuilder of_three() { return a_slice("train").hosts(3).runs_in("pool-a"); }

/// The scheduler has tried these hosts and found no node for them.
SliceBuilder refused(SliceBuilder slice, std::initializer_list<int> hosts) {
  for (const int host : hosts) {
    slice.unscheduled(host).host(host, [](PodView& pod) { pod.unschedulable = "0/4 nodes: no memory"; });
  }
  return slice;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, TornDownSlice,
    ::testing::Values(
        TornDownCase{"AHostFailed", of_three().fails(1, "Evicted"), deletes_of({0, 2}),
                     "pod train-1 failed on node pool-a-1: Evicted", "pod lost"},
        TornDownCase{"TheFirstHostFailed", of_three().fails(0), deletes_of({1, 2}),
                     "pod train-0 failed on node pool-a-0", "pod lost"},
        TornDownCase{"AHostIsBeingDeleted", of_three().terminating(2), deletes_of({0, 1}),
                     "pod train-2 is being deleted", "pod deleted"},
        TornDownCase{"AHostIsGone", of_three().without(1), deletes_of({0, 2}), "2 of 3 pods exist; host 1 is missing",
                     "pod lost"},
        TornDownCase{"AHostWasReplaced", of_three().replaced(1), deletes_of({0, 2}),
                     "pod train-1 replaces a pod that was lost", "pod lost"},
        TornDownCase{"AHostFailedWhileOthersWait", a_slice("train").hosts(3).runs_in("pool-a").gated(2).fails(1),
                     deletes_of({0}), "pod train-1 failed on node pool-a-1", "pod lost"},
        TornDownCase{"AHostFailedAfterAnotherSucceeded", of_three().succeeds(0).fails(1), deletes_of({2}),
                     "pod train-1 failed on node pool-a-1", "pod lost"},
        TornDownCase{"ItsCompanionStays", of_three().fails(1).companion("driver"), deletes_of({0, 2}),
                     "pod train-1 failed on node pool-a-1", "pod lost"},
        TornDownCase{"ANodeIsLost", in_pool_a(), deletes_of({0, 1, 2, 3}), "node pool-a-3 of pod train-3 is not Ready",
                     "node lost"},
        TornDownCase{"ANodeOfAnOpenSliceIsLost", in_pool_a().record("open").without(1), deletes_of({0, 2, 3}),
                     "node pool-a-3 of pod train-3 is not Ready", "node lost"},
        TornDownCase{"TheSchedulerRefusesOneAndHasNotTriedAnother", refused(of_three().unscheduled(2), {1}),
                     deletes_of({0, 1, 2}), "2 of 3 pods are not scheduled in pool-a: train-1: 0/4 nodes: no memory",
                     "not scheduled"},
        TornDownCase{"TheSchedulerRefuses", refused(of_three(), {2}), deletes_of({0, 1, 2}),
                     "1 of 3 pods are not scheduled in pool-a: train-2: 0/4 nodes: no memory", "not scheduled"}),
    [](const auto& test) { return test.param.name; });

TEST(TearDown, DeletesByUidAndSendsOneEventForAllPods) {
  const auto of_jobset = [](PodView& pod) {
    pod.annotations[std::string(tpu::kWorkload)] = "JobSet.v1alpha2.jobset.x-k8s.io/maxtext";
  };
  const Plan plan = plan_of(a_slice("train")
                                .runs_in("pool-a")
                                .each(of_jobset)
                                .extra("old", [](PodView& pod) { pod.phase = PodPhase::kFailed; })
                                .host(1, [](PodView& pod) { pod.uid = "new"; }));
  const Json expected = Json::parse(R"({
    "reason": "slice train is torn down: pod old failed",
    "stages": [[
      {"action": "patch", "resource": "pods", "subresource": "status", "object": "default/train-0", "uid": "uid-of-train-0",
       "patchType": "strategic", "optional": true, "body": {"status": {"conditions": [
         {"type": "DisruptionTarget", "status": "True", "reason": "DeletionBySliceController",
          "message": "pod old failed", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}},
      {"action": "patch", "resource": "pods", "subresource": "status", "object": "default/train-1", "uid": "new",
       "patchType": "strategic", "optional": true, "body": {"status": {"conditions": [
         {"type": "DisruptionTarget", "status": "True", "reason": "DeletionBySliceController",
          "message": "pod old failed", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}}], [
      {"action": "delete", "resource": "pods", "object": "default/train-0", "uid": "uid-of-train-0",
       "failureReason": "FailedTearDownSlice",
       "onSuccess": [
         {"type": "Warning", "reason": "SliceTornDown", "action": "TearDownSlice",
          "message": "Slice train is torn down, 2 of its 2 pods are deleted: host 0: pod old failed",
          "regarding": "JobSet default/maxtext"}],
       "onFailure": [
         {"type": "Warning", "reason": "SliceTornDown", "action": "TearDownSlice",
          "message": "Slice train is torn down: host 0: pod old failed; not all of its pods could be deleted:",
          "regarding": "JobSet default/maxtext"}]},
      {"action": "delete", "resource": "pods", "object": "default/train-1", "uid": "new",
       "failureReason": "FailedTearDownSlice", "eventsWith": "default/train-0"}]],
    "events": []})");
  EXPECT_EQ(plan::to_json(plan), expected) << plan::to_json(plan).dump(2);
  ASSERT_THAT(plan.stages, SizeIs(2));
  EXPECT_TRUE(plan.stages[1].independent) << "a pod that cannot be deleted keeps no other running";
  const std::vector<plan::Measurement> counts = measurements_of(plan);
  ASSERT_THAT(counts, SizeIs(1));
  EXPECT_EQ(counts[0].name, "tpuslice_slices_torn_down_total");
  EXPECT_EQ(counts[0].kind, plan::Measurement::Kind::kCount);
}

TEST(TearDown, KeepsAGatedReplacement) {
  const Plan plan = plan_of(in_pool_a().replaced(1).replaced(3));
  EXPECT_THAT(writes_of(plan), ::testing::ElementsAreArray(deletes_of({0, 2})));
}

// Time.

TEST(SliceNodes, AreNotLostBeforeTheTimeout) {
  const auto silent = [](NodeView& node) {
    node.ready = false;
    node.ready_changed = after(10s);
  };
  const PoolBuilder pool = a_pool("pool-a").size(4).node(2, silent);
  const Plan before = plan_of(in_pool_a(), 49s, pool);
  EXPECT_THAT(writes_of(before), ElementsAre("patch Pod train-2"));
  EXPECT_EQ(before.requeue_after, Duration(1s));
  EXPECT_THAT(writes_of(plan_of(in_pool_a(), 50s, pool), "delete Pod"), SizeIs(4));
}

TEST(SliceNodes, UseTheTimeoutOfTheOptions) {
  const PoolBuilder pool = a_pool("pool-a").size(4).node(2, not_ready);
  EXPECT_EQ(plan_slice(seen_of(in_pool_a(), pool, 50s), {.node_timeout = 1min}).requeue_after, Duration(10s));
  EXPECT_THAT(plan_slice(seen_of(in_pool_a(), pool, 50s), {.node_timeout = 50s}).stages, SizeIs(2));
}

TEST(SliceNodes, HaveTheirOwnTimeouts) {
  const auto silent_at = [](Duration when) {
    return [=](NodeView& node) {
      node.ready = false;
      node.ready_changed = after(when);
    };
  };
  const Plan plan = plan_of(in_pool_a(), 20s, a_pool("pool-a").size(4).node(0, silent_at(15s)).node(3, silent_at(5s)));
  EXPECT_THAT(writes_of(plan), ElementsAre("patch Pod train-3")) << "the report of that which is lost first";
  EXPECT_EQ(plan.requeue_after, Duration(25s)) << "when the first of them is lost";
}

/// Three minutes after host 2's node ceased to be Ready.
SliceObserved with_silent_node(const SliceBuilder& slice, std::optional<Timestamp> counts_from = after(0s)) {
  SliceObserved seen = seen_of(slice, a_pool("pool-a").size(4).node(2, not_ready), 3min);
  seen.not_ready["pool-a-2"] = {after(0s), counts_from};
  return seen;
}

TEST(SliceNodes, ThatAreNotReadyAreReportedOnce) {
  SliceObserved seen = with_silent_node(in_pool_a());
  const Plan plan = plan_slice(seen, {.node_timeout = 5min});
  const std::string text =
      "node pool-a-2 of pod train-2 has not been Ready since 2026-01-01T00:00:00Z; the slice is torn down at "
      "2026-01-01T00:05:00Z unless it is Ready by then";
  EXPECT_EQ(plan.reason, text);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].reason, "SliceNodeNotReady");
  EXPECT_EQ(plan.events[0].message, "Slice train: " + text);
  apply_plan(plan, seen.pods);
  EXPECT_EQ(seen.pods[2]->annotation(tpu::kNodeNotReady), text);
  EXPECT_TRUE(is_empty(plan_slice(seen, {.node_timeout = 5min})));

  seen.nodes = seen_of(in_pool_a(), a_pool("pool-a").size(4), {}).nodes;
  const Plan ready = plan_slice(seen, {.node_timeout = 5min});
  EXPECT_THAT(writes_of(ready), ElementsAre("patch Pod train-2"));
  EXPECT_THAT(ready.events, SizeIs(0));
  apply_plan(ready, seen.pods);
  EXPECT_EQ(seen.pods[2]->annotation(tpu::kNodeNotReady), "");
}

TEST(SliceNodes, AreNotLostInADisruption) {
  SliceObserved seen = with_silent_node(in_pool_a(), std::nullopt);
  const Plan plan = plan_slice(seen, kShortTimeout);
  EXPECT_EQ(plan.reason,
            "node pool-a-2 of pod train-2 has not been Ready since 2026-01-01T00:00:00Z; no slice is torn down for it "
            "while so many nodes are not Ready");
  EXPECT_EQ(plan.requeue_after, Duration(40s));
  seen.not_ready["pool-a-2"].counts_from = after(2min);
  EXPECT_EQ(plan_slice(seen, kShortTimeout).reason,
            "slice train is torn down: node pool-a-2 of pod train-2 is not Ready");
}

TEST(SliceNodes, AreReportedWhileOtherSlicesAreTornDownFirst) {
  SliceObserved seen = with_silent_node(in_pool_a());
  EXPECT_TRUE(has_lost_node(seen, kShortTimeout));
  seen.teardown_turn = after(4min);
  const Plan plan = plan_slice(seen, kShortTimeout);
  EXPECT_EQ(plan.reason,
            "node pool-a-2 of pod train-2 has not been Ready since 2026-01-01T00:00:00Z; the slice is torn down at "
            "2026-01-01T00:04:00Z, after others that have lost a node");
  EXPECT_EQ(plan.requeue_after, Duration(1min));
  seen.now = after(4min);
  EXPECT_THAT(writes_of(plan_slice(seen, kShortTimeout), "delete Pod"), SizeIs(4));
  EXPECT_FALSE(has_lost_node(seen, {.node_timeout = 5min}));
  for (PodPtr& pod : seen.pods) pod = with(pod, [](PodView& view) { view.annotations.clear(); });
  EXPECT_FALSE(has_lost_node(seen, kShortTimeout)) << "pods without gates take no turn";
}

TEST(SliceNodes, MayBeDeleted) {
  const Plan plan = plan_of(in_pool_a(), 1h, a_pool("pool-a").size(4).without(1));
  EXPECT_TRUE(is_empty(plan)) << "the pod garbage collector deletes the pod, and then the slice is broken";
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(SliceNodes, DoNotMatterForSucceededHosts) {
  EXPECT_TRUE(is_empty(plan_of(in_pool_a().succeeds(1), 1h, a_pool("pool-a").size(4).node(1, not_ready))));
}

TEST(SliceScheduling, HasNoTimeoutBeforeTheFirstAttempt) {
  const Plan plan = plan_of(a_slice("train").hosts(4).placed_in("pool-a"), 24h);
  EXPECT_THAT(writes_of(plan), ElementsAre("patch Pod train-0")) << "its waiting reason";
  EXPECT_EQ(plan.requeue_after, std::nullopt) << "a watch event of the pod will follow";
}

TEST(SliceScheduling, TimesOut) {
  const SliceBuilder slice = refused(a_slice("train").hosts(4).runs_in("pool-a", 10s), {3});
  const Plan before = plan_of(slice, 129s);
  EXPECT_THAT(writes_of(before), ElementsAre("patch Pod train-3")) << "its waiting reason";
  EXPECT_EQ(before.requeue_after, Duration(1s));
  EXPECT_THAT(writes_of(plan_of(slice, 130s), "delete Pod"), SizeIs(4));
}

TEST(SliceScheduling, UsesTheTimeoutOfTheOptions) {
  const SliceObserved seen = seen_of(refused(a_slice("train").placed_in("pool-a"), {0}), a_pool("pool-a"), 30s);
  EXPECT_EQ(plan_slice(seen, {.scheduling_timeout = 40s}).requeue_after, Duration(10s));
  EXPECT_THAT(plan_slice(seen, {.scheduling_timeout = 30s}).stages, SizeIs(2));
}

TEST(SliceScheduling, TimesOutAfterTheLastRelease) {
  const auto later = [](PodView& pod) { pod.annotations[std::string(tpu::kPlacedAt)] = format_rfc3339(after(60s)); };
  EXPECT_EQ(plan_of(refused(a_slice("train").placed_in("pool-a"), {0}).host(1, later), 130s).requeue_after,
            Duration(50s));
}

TEST(SliceScheduling, HasNoTimeoutWithoutADomain) {
  const Plan plan = plan_of(refused(a_slice("train").placed_in(""), {0, 1}), 24h);
  EXPECT_THAT(writes_of(plan), ElementsAre("patch Pod train-0")) << "its waiting reason";
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

TEST(SliceScheduling, RequeuesForTheEarliestDeadline) {
  const PoolBuilder pool = a_pool("pool-a").size(4).node(0, not_ready);
  const SliceBuilder slice = refused(in_pool_a(), {1});
  EXPECT_EQ(plan_of(slice, 10s, pool).requeue_after, Duration(30s));
  EXPECT_EQ(plan_slice(seen_of(slice, pool, 10s), {.scheduling_timeout = 15s}).requeue_after, Duration(5s));
}

// Companions.

TEST(CompanionWithoutHosts, IsReleasedIfNoHostIsCreated) {
  const SliceBuilder slice = a_slice("train").hosts(1).without(0).created(5s).companion("driver");
  const Plan before = plan_of(slice, 14s);
  EXPECT_TRUE(is_empty(before));
  EXPECT_EQ(before.requeue_after, Duration(1s));
  const Plan plan = plan_of(slice, 15s);
  const Json expected = Json::parse(R"({
    "reason": "pod driver without TPUs is released: no host of its slice was created",
    "stages": [[{
      "action": "patch", "resource": "pods", "object": "default/driver", "uid": "uid-of-driver",
      "resourceVersion": "100", "failureReason": "FailedPlaceSlice",
      "body": {
        "metadata": {"annotations": {
          "tpuslice.dev/slice-members": "open", "tpuslice.dev/placed-at": "2026-01-01T00:00:15Z",
          "tpuslice.dev/waiting": null, "tpuslice.dev/waiting-reason": null}},
        "spec": {"schedulingGates": []}}}]],
    "events": []})");
  EXPECT_EQ(plan::to_json(plan), expected) << plan::to_json(plan).dump(2);
}

TEST(CompanionWithoutHosts, IsReleasedOnce) {
  SliceObserved seen = seen_of(a_slice("train").hosts(1).without(0).companion("driver"), a_pool("pool-a"), 1h);
  apply_plan(plan_slice(seen, kShortTimeout), seen.pods);
  EXPECT_TRUE(is_empty(plan_slice(seen, kShortTimeout)));
}

TEST(CompanionWithoutHosts, StaysGatedWhileAHostExists) {
  EXPECT_TRUE(is_empty(plan_of(a_slice("train").hosts(2).without(1).companion("driver"), 1h)));
  EXPECT_TRUE(is_empty(plan_of(a_slice("train").hosts(2).companion("driver"), 1h)));
  EXPECT_TRUE(is_empty(plan_of(a_slice("train").hosts(1).terminating(0).companion("driver"), 1h)));
}

TEST(SlicePlan, IgnoresWaitingAndUngatedSlices) {
  EXPECT_TRUE(is_empty(plan_of(a_slice("train").hosts(4), 1h)));
  EXPECT_TRUE(is_empty(plan_of(a_slice("train").hosts(4).without(2), 1h)));
  EXPECT_TRUE(is_empty(plan_of(in_pool_a().record("").fails(1), 1h)));
  EXPECT_TRUE(is_empty(plan_of(in_pool_a().record(""), 1h, a_pool("pool-a").size(4).node(1, not_ready))));
  EXPECT_TRUE(is_empty(plan_slice({{"default", "train"}, {}, {}, after(1h)}, kShortTimeout)));
}

TEST(SlicePlan, IgnoresAnOpenSliceWithMissingHosts) {
  EXPECT_TRUE(is_empty(plan_of(with_missing_hosts(in_pool_a().record("open")), 59s)));
  EXPECT_THAT(writes_of(plan_of(with_missing_hosts(in_pool_a().record("open")), 1min)),
              ElementsAre("patch Pod train-0"))
      << "its waiting reason";
}

}  // namespace
}  // namespace tpuslice::slice
