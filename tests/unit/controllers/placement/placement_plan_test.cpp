#include "controllers/placement/placement_plan.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/placement_render.h"
#include "controllers/slice/slice_state.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using plan::Measurement;
using plan::Plan;
using slice::kMissingPodsTimeout;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// The value of a gauge of the plan, by its label "reason".
double level_of(const Plan& plan, const std::string& reason) {
  for (const Measurement& measurement : plan.measurements) {
    if (measurement.kind != Measurement::Kind::kLevel) continue;
    if (measurement.labels.at("reason") == reason) return measurement.value;
  }
  ADD_FAILURE() << "no measurement of " << reason;
  return -1;
}

std::vector<Measurement> measured(const Plan& plan, Measurement::Kind kind) {
  std::vector<Measurement> out;
  std::ranges::copy_if(measurements_of(plan), std::back_inserter(out),
                       [=](const Measurement& measurement) { return measurement.kind == kind; });
  return out;
}

/// What comes of it when nothing has changed but what the plan wrote.
Plan plan_after_apply(PlacementScene seen, const PlacementOptions& options = {}) {
  apply_plan(plan_placement(seen, options), seen.pods);
  return plan_placement(seen, options);
}

TEST(PlacementPlan, PlacesHostZeroInOneWriteThatFailsIfThePodHasChanged) {
  const Plan plan = plan_placement(observed({a_pool("pool-a")}, {a_slice("train")}, 7s), {});
  Json expected = Json::parse(R"({
    "reason": "slice train of 2 hosts is placed in node pool pool-a",
    "stages": [[{
      "action": "patch", "resource": "pods", "object": "default/train-0",
      "uid": "uid-of-train-0", "resourceVersion": "100", "failureReason": "FailedPlaceSlice",
      "onSuccess": [
        {"type": "Normal", "reason": "SlicePlaced", "action": "PlaceSlice",
         "message": "Slice train of 2 hosts is placed in node pool pool-a; it waited 7 s",
         "regarding": "Job default/job"}],
      "onFailure": [
        {"type": "Warning", "reason": "FailedPlaceSlice", "action": "PlaceSlice",
         "message": "Slice train cannot be placed in node pool pool-a", "regarding": "Job default/job"}],
      "body": {
        "metadata": {"annotations": {
          "tpuslice.dev/slice-members": "MEMBERS", "tpuslice.dev/placed-at": "2026-01-01T00:00:07Z",
          "tpuslice.dev/placed-in": "pool-a", "tpuslice.dev/placed-on": "pool-a-0,pool-a-1",
          "tpuslice.dev/waiting": null, "tpuslice.dev/waiting-reason": null}},
        "spec": {"schedulingGates": [], "nodeSelector": {"cloud.google.com/gke-nodepool": "pool-a"},
          "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["pool-a-0"]}]}]}}}}}}]],
    "events": []})");
  expected["stages"][0][0]["body"]["metadata"]["annotations"]["tpuslice.dev/slice-members"] =
      members_of(a_slice("train").slice());
  EXPECT_EQ(plan::to_json(plan), expected) << plan::to_json(plan).dump(2);
}

TEST(PlacementPlan, MarksAHostZeroThatAdmissionHasNotSeen) {
  const auto unseen = [](PodView& pod) { pod.labels.erase(std::string(tpu::kHost)); };
  const SliceBuilder slice = a_slice("train").each(unseen);
  const Json marked = {{"tpuslice.dev/host", "0"}};
  const auto labels_written = [](const Plan& plan) {
    return action_of(plan, "patch Pod train-0").body.make()->at("metadata").value("labels", Json());
  };
  EXPECT_EQ(labels_written(plan_placement(observed({a_pool("pool-a")}, {slice}, 7s), {})), marked);
  EXPECT_EQ(labels_written(plan_placement(observed({}, {slice}, 7s), {})), marked) << "with the waiting reason";
  EXPECT_EQ(labels_written(plan_placement(observed({}, {a_slice("train")}, 7s), {})), Json());
}

TEST(PlacementPlan, ReleasesOnlyHostZero) {
  EXPECT_THAT(writes_of(plan_placement(observed({a_pool("pool-a").size(4)}, {a_slice("train").hosts(4)}), {})),
              ElementsAre("patch Pod train-0"));
}

TEST(PlacementPlan, UsesTheTopologyKeyOfTheSlice) {
  const Plan plan =
      plan_placement(observed({a_pool("pool-a").label(kRow, "row-1"), a_pool("pool-b").label(kRow, "row-1")},
                              {a_slice("train").hosts(4).topology_key(kRow)}),
                     {});
  EXPECT_EQ(plan.reason, "slice train of 4 hosts is placed in value of example.com/row row-1");
  ASSERT_THAT(writes_of(plan), ElementsAre("patch Pod train-0"));
  EXPECT_EQ(action_of(plan, "patch Pod train-0").body.make()->at("spec").at("nodeSelector"), Json({{kRow, "row-1"}}));
}

/// The annotation on the first host of slice train that names the nodes.
std::string nodes_recorded(const Plan& plan) {
  return string_at(*action_of(plan, "patch Pod train-0").body.make(), {"metadata", "annotations", tpu::kPlacedOn});
}

TEST(PlacementPlan, PutsSeveralHostsOnOneNodeWhereTheyMayShareIt) {
  const PoolBuilder pool = a_pool("pool-a").chips(8).label(tpu::kAcceleratorLabel, kTpu7x);
  const SliceBuilder slice = a_slice("train").hosts(4).selects(tpu::kAcceleratorLabel, kTpu7x);
  const Plan plan = plan_placement(observed({pool}, {slice}), {}, kTpu7x);
  EXPECT_EQ(nodes_recorded(plan), "pool-a-0,pool-a-0,pool-a-1,pool-a-1");
}

TEST(PlacementPlan, SetsNoNodeIfPodsHaveDifferentNodeRequirements) {
  const auto picky = [](PodView& pod) { pod.scheduling.edit().node_selector["example.com/disk"] = "large"; };
  const auto large = [](NodeView& node) { node.labels["example.com/disk"] = "large"; };
  const Plan plan = plan_placement(observed({a_pool("pool-a").node(1, large)}, {a_slice("train").host(0, picky)}), {});
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod train-0")));
  EXPECT_EQ(nodes_recorded(plan), "");
  EXPECT_EQ(find_path(*action_of(plan, "patch Pod train-0").body.make(), {"spec", "affinity"}), nullptr);
}

TEST(PlacementPlan, SetsNoNodeWhileHostsAreMissing) {
  const Plan plan =
      plan_placement(observed({a_pool("pool-a")}, {a_slice("train").start(tpu::kOthersFollowHost0).without(1)}), {});
  EXPECT_EQ(nodes_recorded(plan), "");
}

TEST(PlacementPlan, RestrictsEveryTermOfThePodsNodeAffinity) {
  const auto choosy = [](PodView& pod) {
    pod.scheduling.edit().node_affinity = R"({"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]},
      {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["bad"]}]}, {}]})";
  };
  const auto in_zone = [](NodeView& node) { node.labels["zone"] = "a"; };
  const Plan plan = plan_placement(observed({a_pool("pool-a").each(in_zone)}, {a_slice("train").each(choosy)}), {});
  EXPECT_EQ(*find_path(*action_of(plan, "patch Pod train-0").body.make(), {"spec", "affinity"}), Json::parse(R"(
    {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
       "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["pool-a-0"]}]},
      {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["bad"]},
                       {"key": "metadata.name", "operator": "In", "values": ["pool-a-0"]}]}, {}]}}})"));
}

TEST(PlacementPlan, RecordsOpenMembersWhileHostsAreMissing) {
  const Plan plan =
      plan_placement(observed({a_pool("pool-a")}, {a_slice("train").start(tpu::kOthersFollowHost0).without(1)}), {});
  ASSERT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod train-0")));
  EXPECT_EQ(
      string_at(*action_of(plan, "patch Pod train-0").body.make(), {"metadata", "annotations", tpu::kSliceMembers}),
      "open");
}

TEST(PlacementPlan, SaysInTheEventWhyADomainMaySoonBeLost) {
  const auto degraded = [](NodeView& node) {
    node.labels["cloud.google.com/gke-tpu-partition-4x4x4-state"] = "DEGRADED";
  };
  const Plan plan = plan_placement(observed({a_pool("pool-a").node(1, degraded)}, {a_slice("train")}), {});
  EXPECT_EQ(reports_of(plan).at(0)->on_success.at(0).message,
            "Slice train of 2 hosts is placed in node pool pool-a; it waited 5 s; its domain has "
            "label cloud.google.com/gke-tpu-partition-4x4x4-state=DEGRADED");
}

TEST(PlacementPlan, WritesTheWaitingReasonOnHostZero) {
  const Plan plan = plan_placement(observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("train")}), {});
  const Json expected = Json::parse(R"({
    "reason": "slice train waits: 1 node pool matches, none is free: pool-a: node pool-a-1 is cordoned",
    "stages": [[{
      "action": "patch", "resource": "pods", "object": "default/train-0", "uid": "uid-of-train-0",
      "body": {"metadata": {"annotations": {
        "tpuslice.dev/waiting": "1 node pool matches, none is free: pool-a: node pool-a-1 is cordoned",
        "tpuslice.dev/waiting-reason": "NodesNotUsable"}}}}]],
    "events": [
      {"type": "Normal", "reason": "SliceWaiting", "action": "PlaceSlice",
       "message": "Slice train waits: 1 node pool matches, none is free: pool-a: node pool-a-1 is cordoned",
       "regarding": "Job default/job"},
      {"type": "Normal", "reason": "SliceWaiting", "action": "PlaceSlice",
       "message": "Slice train waits: 1 node pool matches, none is free: pool-a: node pool-a-1 is cordoned",
       "regarding": "Pod default/train-0"}]})");
  EXPECT_EQ(plan::to_json(plan), expected) << plan::to_json(plan).dump(2);
}

TEST(PlacementPlan, SendsOneEventForTheSlicesOfAWorkloadAndOneForEachHostZero) {
  PlacementScene seen = observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("train"), a_slice("other")});
  const Plan plan = plan_placement(seen, {});
  ASSERT_EQ(plan.events.size(), 3U);
  EXPECT_THAT(plan.events[0].message, StartsWith("2 slices wait, slice other among them: 1 node pool matches"));
  EXPECT_EQ(plan.events[1].regarding->key.name, "other-0");
  EXPECT_EQ(plan.events[2].regarding->key.name, "train-0");
  seen = observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("train")});
  apply_plan(plan_placement(seen, {}), seen.pods);
  const std::vector<PodPtr> waiting = seen.pods;
  seen = observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("other")});
  seen.pods.insert(seen.pods.end(), waiting.begin(), waiting.end());
  EXPECT_THAT(plan_placement(seen, {}).events, IsEmpty()) << "the workload waits already";
}

TEST(PlacementPlan, RepeatsTheEventOfAWorkloadThatWaitsBeforeItExpires) {
  PlacementScene seen = observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("train"), a_slice("other")});
  apply_plan(plan_placement(seen, {}), seen.pods);
  EXPECT_EQ(plan_placement(seen, {}).requeue_after, 50min);
  seen.last_plan = seen.now;
  std::vector<Timestamp> events;
  const Timestamp end = seen.now + 200min;
  while (seen.now < end) {
    const Plan plan = plan_placement(seen, {});
    ASSERT_TRUE(plan.requeue_after.has_value());
    for (const plan::EventIntent& event : plan.events) {
      if (event.regarding->kind == "Pod") continue;
      EXPECT_THAT(event.message, StartsWith("2 slices wait, slice other among them: 1 node pool matches"));
      events.push_back(seen.now);
    }
    seen.last_plan = seen.now;
    seen.now += std::min(*plan.requeue_after, Duration(7min));
  }
  ASSERT_THAT(events, SizeIs(4));
  for (std::size_t i = 1; i < events.size(); ++i) EXPECT_EQ(events[i] - events[i - 1], 50min);
  seen.last_plan.reset();
  EXPECT_THAT(plan_placement(seen, {}).events, IsEmpty()) << "not known when it was last sent";
}

TEST(PlacementPlan, IsEmptyOnceTheReasonIsWritten) {
  const Plan again =
      plan_after_apply(observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("train"), a_slice("other")}));
  EXPECT_TRUE(again.empty()) << plan::to_json(again).dump(2);
  EXPECT_EQ(level_of(again, "NodesNotUsable"), 2) << "it is measured all the same";
}

TEST(PlacementPlan, WritesAChangedReasonWithoutASecondEvent) {
  PlacementScene seen = observed({a_pool("pool-a").node(1, cordoned)}, {a_slice("train")});
  apply_plan(plan_placement(seen, {}), seen.pods);
  seen.nodes = a_pool("pool-a").without(1).nodes();
  const Plan plan = plan_placement(seen, {});
  EXPECT_EQ(plan.reason, "slice train waits: 1 node pool matches, none is free: pool-a has 1 of 2 nodes Ready");
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod train-0")));
  EXPECT_THAT(plan.events, IsEmpty());
}

TEST(PlacementPlan, IsEmptyOnceTheSliceIsPlaced) {
  const Plan again = plan_after_apply(observed({a_pool("pool-a"), a_pool("pool-b")}, {a_slice("train")}));
  EXPECT_TRUE(again.empty()) << plan::to_json(again).dump(2);
}

TEST(PlacementPlan, AssignsNoDomainWithAPodWithoutTpusOfAnotherSlice) {
  const auto with_pod_of = [](const std::string& slice) {
    PlacementScene seen = observed({a_pool("pool-a"), a_pool("pool-b")}, {a_slice("train")});
    PodView pod;
    pod.key = {"default", "sidecar"};
    pod.node_name = "pool-a-1";
    pod.labels[std::string(tpu::kSlice)] = slice;
    seen.pods_without_tpus = {std::make_shared<const PodView>(std::move(pod))};
    return plan_placement(seen, {});
  };
  EXPECT_THAT(with_pod_of("none").reason, ::testing::HasSubstr("placed in node pool pool-b"));
  const PlacementScene alone = observed({a_pool("pool-a")}, {a_slice("train")});
  EXPECT_THAT(with_pod_of(alone.pods.front()->label(tpu::kSlice)).reason,
              ::testing::HasSubstr("placed in node pool pool-a"))
      << "its own pod";
}

TEST(PlacementPlan, AssignsNoDomainTwice) {
  PlacementScene seen = observed({a_pool("pool-a"), a_pool("pool-b")}, {a_slice("x")});
  apply_plan(plan_placement(seen, {}), seen.pods);
  for (PodPtr& pod : a_slice("y").pods()) seen.pods.push_back(pod);
  EXPECT_EQ(plan_placement(seen, {}).reason, "slice y of 2 hosts is placed in node pool pool-b");
}

TEST(PlacementPlan, PutsIndependentPatchesIntoOneStage) {
  const Plan plan = plan_placement(
      observed({a_pool("pool-a"), a_pool("pool-b")}, {a_slice("w"), a_slice("x"), a_slice("y"), a_slice("z")}), {});
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("patch Pod w-0", "patch Pod x-0", "patch Pod y-0", "patch Pod z-0")));
  EXPECT_THAT(plan.stages, ::testing::Each(Field(&plan::Stage::independent, true)));
}

TEST(PlacementPlan, NamesAtMostFourSlicesInItsReason) {
  const std::initializer_list<SliceBuilder> six = {a_slice("u"), a_slice("v"), a_slice("w"),
                                                   a_slice("x"), a_slice("y"), a_slice("z")};
  const Plan plan =
      plan_placement(observed({a_pool("a"), a_pool("b"), a_pool("c"), a_pool("d"), a_pool("e")}, six), {});
  EXPECT_EQ(plan.reason,
            "slice u of 2 hosts is placed in node pool a; slice v of 2 hosts is placed in node pool b; "
            "slice w of 2 hosts is placed in node pool c; slice x of 2 hosts is placed in node pool d; and 2 more");
}

TEST(PlacementPlan, SendsEventsAboutTheWorkload) {
  const auto of_jobset = [](PodView& pod) {
    pod.annotations[std::string(tpu::kWorkload)] = "JobSet.v1alpha2.jobset.x-k8s.io/maxtext";
  };
  for (const Plan& plan : {plan_placement(observed({a_pool("a")}, {a_slice("x").each(of_jobset)}), {}),
                           plan_placement(observed({}, {a_slice("x").each(of_jobset)}), {})}) {
    ASSERT_THAT(events_of(plan), Not(IsEmpty()));
    for (const plan::EventIntent& event : events_of(plan)) {
      ASSERT_TRUE(event.regarding.has_value());
      if (event.regarding->kind == "Pod") continue;  // The event of host 0.
      EXPECT_EQ(event.regarding->kind, "JobSet");
      EXPECT_EQ(event.regarding->key.name, "maxtext");
    }
  }
}

TEST(PlacementPlan, IgnoresRunningTerminatingAndUngatedSlices) {
  const PlacementScene seen =
      observed({a_pool("pool-a")},
               {a_slice("runs").runs_in("pool-a"), a_slice("broken").runs_in("pool-b").fails(1),
                a_slice("ended").runs_in("pool-c").succeeds(0).succeeds(1),
                a_slice("ungated").runs_in("pool-d").record(""), a_slice("deleted").terminating(0).terminating(1)},
               1h);
  const Plan plan = plan_placement(seen, {});
  EXPECT_TRUE(plan.empty()) << plan::to_json(plan).dump(2);
  EXPECT_EQ(plan.requeue_after, std::nullopt);
}

// Slices that are not complete.

TEST(PlacementPlan, WritesNoReasonForANewIncompleteSlice) {
  const Plan plan = plan_placement(observed({a_pool("pool-a")}, {a_slice("train").without(1)}, 4s), {});
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(1s));
  EXPECT_EQ(level_of(plan, "HostsMissing"), 0);
}

TEST(PlacementPlan, WritesTheReasonOfAnIncompleteSliceAfterTheDelay) {
  const Plan plan = plan_placement(observed({a_pool("pool-a")}, {a_slice("train").without(0)}, 10s), {});
  EXPECT_EQ(plan.reason, "slice train waits: 1 of 2 pods exist; host 0 is missing");
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod train-1"))) << "on the first host there is";
  EXPECT_EQ(plan.requeue_after, std::nullopt);
  EXPECT_EQ(level_of(plan, "HostsMissing"), 1);
}

TEST(PlacementPlan, WritesNoReasonForANewCompleteSlice) {
  const PlacementScene seen = observed({}, {a_slice("train")}, 4s);
  const Plan plan = plan_placement(seen, {});
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, Duration(1s));
  EXPECT_EQ(level_of(plan, "NoMatchingNodes"), 1) << "it is counted";
}

TEST(PlacementPlan, UsesTheWaitingReasonDelayOfTheOptions) {
  const PlacementScene seen = observed({}, {a_slice("train").without(1)}, 20s);
  EXPECT_EQ(plan_placement(seen, {.waiting_reason_delay = 1min}).requeue_after, Duration(40s));
  EXPECT_THAT(writes_of(plan_placement(seen, {.waiting_reason_delay = 20s})), ElementsAre("patch Pod train-0"));
}

TEST(PlacementPlan, RequeuesForTheEarliestDeadline) {
  const PlacementScene seen = observed(
      {},
      {a_slice("x").without(1).created(5s), a_slice("y").without(1).created(2s), a_slice("z").without(1).created(8s)},
      9s);
  EXPECT_EQ(plan_placement(seen, {.waiting_reason_delay = 10s}).requeue_after, Duration(3s));
}

TEST(PlacementPlan, RequeuesForTheMissingPodsTimeout) {
  const auto seen = [](Duration now) {
    return observed({a_pool("pool-a")}, {a_slice("train").start(tpu::kHost0IfAlone).without(1)}, now);
  };
  const Plan before = plan_placement(seen(8s), {.waiting_reason_delay = 1min});
  EXPECT_TRUE(before.empty());
  EXPECT_EQ(before.requeue_after, kMissingPodsTimeout - 8s);
  const Plan then = plan_placement(seen(kMissingPodsTimeout), {});
  EXPECT_THAT(writes_of(then), ElementsAre("patch Pod train-0"));
  EXPECT_EQ(then.requeue_after, std::nullopt);
}

TEST(PlacementPlan, ReservesNoDomainForAnIncompleteSlice) {
  const Plan plan =
      plan_placement(observed({a_pool("pool-a")}, {a_slice("half").without(1), a_slice("whole").created(5s)}, 6s),
                     {.waiting_reason_delay = 10s});
  EXPECT_EQ(plan.reason, "slice whole of 2 hosts is placed in node pool pool-a");
}

TEST(PlacementPlan, PlacesASliceBesideOneWithGatedHosts) {
  for (const SliceBuilder& begun :
       {a_slice("x").placed_in("pool-a").gated(1), a_slice("x").runs_in("pool-a").gated(1)}) {
    const Plan plan = plan_placement(observed({a_pool("pool-a"), a_pool("pool-b")}, {begun, a_slice("y")}, 5s), {});
    EXPECT_EQ(plan.reason, "slice y of 2 hosts is placed in node pool pool-b");
  }
}

TEST(PlacementPlan, PlacesTheRestOfAGangAfterACrash) {
  const auto plan = [](const SliceBuilder& first) {
    const SliceBuilder second = a_slice("y").gang("g", 2);
    return plan_placement(observed({a_pool("pool-a"), a_pool("pool-b")}, {first, second}, 1h), {}).reason;
  };
  EXPECT_EQ(plan(a_slice("x").gang("g", 2).placed_in("pool-a")), "slice y of 2 hosts is placed in node pool pool-b");
  EXPECT_EQ(plan(a_slice("x").gang("g", 2).runs_in("pool-a").fails(1)),
            "slice y waits: 1 of the 2 slices that start together have all their pods");
}

// Measurements.

TEST(PlacementPlan, CountsAndTimesASliceWhenHostZeroIsReleased) {
  const auto last = [](PodView& pod) { pod.created = after(2s); };
  const Plan plan = plan_placement(observed({a_pool("pool-a")}, {a_slice("train").host(1, last)}, 9500ms), {});
  const std::vector<Measurement> counts = measured(plan, Measurement::Kind::kCount);
  EXPECT_THAT(plan, plan::CountsOnly(placement::kCounters));
  ASSERT_THAT(counts, SizeIs(1));
  EXPECT_EQ(counts[0].name, "tpuslice_slices_placed_total");
  EXPECT_THAT(counts[0].labels, ElementsAre(Pair("accelerator", kV6e)));
  EXPECT_EQ(counts[0].value, 1);
  const std::vector<Measurement> times = measured(plan, Measurement::Kind::kDuration);
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].name, "tpuslice_slice_placement_seconds");
  EXPECT_THAT(times[0].labels, ElementsAre(Pair("accelerator", kV6e)));
  EXPECT_EQ(times[0].value, 7.5);
}

TEST(PlacementPlan, CountsAnAcceleratorThatIsNotInTheCatalogAsOther) {
  const std::string label(tpu::kAcceleratorLabel);
  const Plan plan =
      plan_placement(observed({a_pool("pool-a").label(label, "tpu-v99")}, {a_slice("train").selects(label, "tpu-v99")}),
                     {}, "tpu-v99");
  EXPECT_THAT(plan, plan::CountsOnly(placement::kCounters));
  EXPECT_EQ(measured(plan, Measurement::Kind::kCount).at(0).labels.at("accelerator"), "other");
}

TEST(PlacementPlan, MeasuresNoNegativeTime) {
  const Plan plan = plan_placement(observed({a_pool("pool-a")}, {a_slice("train").created(5s)}, 4s), {});
  EXPECT_EQ(measured(plan, Measurement::Kind::kDuration)[0].value, 0) << "clocks differ";
}

TEST(PlacementPlan, ReportsTheNumberOfWaitingSlicesEvenIfZero) {
  const Plan none = plan_placement(observed({a_pool("pool-a")}, {}), {});
  EXPECT_TRUE(none.empty());
  for (const std::string_view reason : plan::kWaitingCodes) EXPECT_EQ(level_of(none, std::string(reason)), 0) << reason;
  const Plan some = plan_placement(observed({}, {a_slice("u"), a_slice("v"), a_slice("w").without(0)}, 1h), {});
  EXPECT_EQ(level_of(some, "NoMatchingNodes"), 2);
  EXPECT_EQ(level_of(some, "HostsMissing"), 1);
  for (const Measurement& level : measured(some, Measurement::Kind::kLevel)) {
    EXPECT_EQ(level.name, "tpuslice_slices_waiting");
    EXPECT_EQ(level.labels.at("accelerator"), kV6e);
  }
}

}  // namespace
}  // namespace tpuslice::placement
