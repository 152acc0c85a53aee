#include "controllers/placement/placement_reconciler.h"
#include "controllers/slice/slice_reconciler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chips.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using slice::Indexes;
using slice::NodeHealth;
using slice::RemovedHostHistory;
using slice::slice_of_pod;
using slice::SliceReconciler;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

PodChange of_accelerator_v5p() {
  return [](PodView& pod) { pod.scheduling.edit().node_selector[std::string(tpu::kAcceleratorLabel)] = kV5p; };
}
PodChange of_any_accelerator() {
  return [](PodView& pod) { pod.scheduling.edit().node_selector.erase(std::string(tpu::kAcceleratorLabel)); };
}

/// The webhook was not called for the pod.
void not_admitted(PodView& pod) {
  pod.labels.clear();
  pod.annotations.clear();
}

class SliceReconciling : public ::testing::Test {
 protected:
  void show(const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) nodes_.put(*node);
  }
  void show(const std::vector<PodPtr>& pods) {
    for (const PodPtr& pod : pods) store_.put(*pod);
  }
  [[nodiscard]] plan::Plan place(const char* accelerator = kV6e, Duration now = 5s) const {
    Result<plan::Plan> plan = placement_.plan({{"", accelerator}, after(now), std::nullopt});
    EXPECT_TRUE(plan.ok());
    return *std::move(plan);
  }
  [[nodiscard]] plan::Plan plan(const ObjectKey& key, Duration now = {}) const {
    Result<plan::Plan> out = slices_.plan({key, after(now), std::nullopt});
    EXPECT_TRUE(out.ok());
    return *std::move(out);
  }

  runtime::PodStore store_{kPods};
  runtime::NodeStore nodes_{kNodes};
  const runtime::PodStores pods_{{&store_}};
  const Indexes indexes_{pods_};
  const AcceleratorIndexes by_accelerator_{pods_, nodes_};
  const std::shared_ptr<FailureHistory> failure_history_ = std::make_shared<FailureHistory>();
  const std::shared_ptr<RemovedHostHistory> removed_hosts_ = std::make_shared<RemovedHostHistory>();
  const std::shared_ptr<runtime::WriteBackoff> writes_ = std::make_shared<runtime::WriteBackoff>();
  const std::shared_ptr<PlaceHistory> places_ = std::make_shared<PlaceHistory>();
  const std::shared_ptr<RejectionHistory> rejections_ = std::make_shared<RejectionHistory>();
  runtime::ObjectStore workload_store_{{"batch", "v1", "Job", "jobs"}};
  const std::shared_ptr<slice::Workloads> workloads_ = std::make_shared<slice::Workloads>();
  const PlacementReconciler placement_{
      pods_, nodes_, indexes_, workloads_, {failure_history_, places_, rejections_, removed_hosts_, writes_}, {}};
  const std::shared_ptr<NodeHealth> node_health_ = std::make_shared<NodeHealth>(slice::Options(), start_of_time());
  const SliceReconciler slices_{indexes_, nodes_, workloads_, node_health_, {removed_hosts_, writes_}};
};

// What the plan of an accelerator sees.

TEST_F(SliceReconciling, PlacesASliceOfTheStoresOnNodesOfTheStores) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  EXPECT_EQ(place(kV6e, 5s).reason, "slice train of 2 hosts is placed in node pool pool-a");
  EXPECT_EQ(events_of(place(kV6e, 5s)).at(0).message,
            "Slice train of 2 hosts is placed in node pool pool-a; it waited 5 s");
}

TEST_F(SliceReconciling, DoesNotTearDownASliceWithAPodThatItCannotRead) {
  show(a_pool("pool-a").nodes());
  const auto slice = a_slice("train").runs_in("pool-a");
  show(slice.pods());
  PodView pod = *slice.pod(1);
  pod.annotations.clear();
  pod.minimal = true;
  store_.put(pod);
  EXPECT_TRUE(plan(slice.key()).empty());
  pod.minimal = false;
  store_.put(pod);
  EXPECT_FALSE(plan(slice.key()).empty()) << "a host is missing";
}

TEST_F(SliceReconciling, DoesNotPlaceASliceOnANodeOfAPodThatItCannotRead) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  PodView unread;
  unread.key = {"other", "bare"};
  unread.labels = {{std::string(tpu::kSlice), std::string(tpu::kNoSlice)}};
  unread.node_name = "pool-a-0";
  tpu::set_chips(unread, 4);
  unread.phase = PodPhase::kRunning;
  unread.minimal = true;
  store_.put(unread);
  EXPECT_THAT(place().reason, HasSubstr("none is free"));
  unread.phase = PodPhase::kSucceeded;
  store_.put(unread);
  EXPECT_EQ(place().reason, "slice train of 2 hosts is placed in node pool pool-a");
}

TEST_F(SliceReconciling, DoesNotPlaceASliceOnANodeThatItCannotRead) {
  show(a_pool("pool-a").node(1, unreadable).nodes());
  show(a_slice("train").pods());
  EXPECT_EQ(place().reason,
            "slice train waits: 1 node pool matches, none is free: pool-a: node pool-a-1 cannot be read");
}

TEST_F(SliceReconciling, DoesNotTakeADomainForASmallerOneThatHasANodeItCannotRead) {
  show(a_pool("pool-a").size(3).node(2, unreadable).nodes());
  show(a_slice("train").pods());
  EXPECT_THAT(place().reason, HasSubstr("none is free"));
}

TEST_F(SliceReconciling, DoesNotTearDownASliceOnANodeThatItCannotRead) {
  show(a_pool("pool-a").node(1, unreadable).nodes());
  show(a_slice("train").runs_in("pool-a").pods());
  const plan::Plan kept = plan({"default", "train"}, 1h);
  EXPECT_TRUE(kept.empty()) << kept.reason;
  EXPECT_EQ(kept.requeue_after, std::nullopt);
  show(a_pool("pool-a").node(1, not_ready).nodes());
  EXPECT_FALSE(plan({"default", "train"}, 1h).empty());
}

TEST_F(SliceReconciling, PlacesSlicesOfOneAcceleratorAtATimeOnItsOwnNodes) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").each(of_accelerator_v5p()).pods());
  show(a_slice("other").pods());
  EXPECT_EQ(place(kV6e).reason, "slice other of 2 hosts is placed in node pool pool-a");
  EXPECT_EQ(place(kV5p).reason, "slice train waits: no node pool matches the pods' node selector and affinity");
}

TEST_F(SliceReconciling, SeesPodsThatUseNodesWithoutHavingSelectedAnAccelerator) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  show(std::vector<PodPtr>{a_pod_without_slice("notebook", "pool-a-0")});
  EXPECT_EQ(place().reason, "slice train waits: 1 node pool matches, none is free: pool-a runs default/notebook");
}

TEST_F(SliceReconciling, SeesPodsThatUseNodesWithoutHavingBeenAdmitted) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  show(a_slice("old").runs_in("pool-a").each(not_admitted).pods());
  EXPECT_EQ(place().reason, "slice train waits: 1 node pool matches, none is free: pool-a runs default/old-0");
  for (const PodPtr& pod : a_slice("old").pods()) store_.erase(pod->key, 1000);
  EXPECT_EQ(place().reason, "slice train of 2 hosts is placed in node pool pool-a");
}

TEST_F(SliceReconciling, SeesPlacedSlicesWithoutNodes) {
  show(a_pool("pool-a").nodes());
  show(pods_of({a_slice("train"), a_slice("old").placed_in("pool-a")}));
  EXPECT_EQ(place().reason, "slice train waits: 1 node pool matches, none is free: pool-a runs default/job (old)");
}

TEST_F(SliceReconciling, ReadsNothingIfNoPodIsGated) {
  show(a_pool("pool-a").nodes());
  show(pods_of({a_slice("old").runs_in("pool-a"), a_slice("broken").runs_in("pool-b").fails(0),
                a_slice("leaving").terminating(0).terminating(1)}));
  const plan::Plan plan = place(kV6e, 1h);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.requeue_after, std::nullopt);
  ASSERT_THAT(plan.measurements, SizeIs(plan::kWaitingCodes.size())) << "the gauges go back to zero";
  for (const plan::Measurement& level : plan.measurements) EXPECT_EQ(level.value, 0);
}

TEST_F(SliceReconciling, PrefersDomainsWithoutRecentFailures) {
  show(nodes_of({a_pool("pool-a"), a_pool("pool-b")}));
  show(a_slice("train").pods());
  for (const Duration when : {1min, 2min}) failure_history_->record({kGkePool, "pool-a"}, after(when));
  EXPECT_EQ(place(kV6e, 3min).reason, "slice train of 2 hosts is placed in node pool pool-b");
  EXPECT_EQ(place(kV6e, 24h).reason, "slice train of 2 hosts is placed in node pool pool-a") << "that was long ago";
}

TEST_F(SliceReconciling, LeavesOutDomainsThatRejectedTheSlice) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  const auto refused = [](PodView& pod) {
    pod.unschedulable = "0/2 nodes are available: 2 Insufficient google.com/tpu.";
  };
  rejections_->record(a_slice("train").placed_in("pool-a").host(0, refused).pod(0), nullptr, after(1s));
  EXPECT_THAT(place().reason, HasSubstr("pool-a rejected it"));
}

TEST_F(SliceReconciling, WaitsUntilARepairedDomainIsStable) {
  const auto ready = [](NodeView& node) { node.ready_changed = after(3s); };
  show(a_pool("pool-a").each(ready).nodes());
  show(a_slice("train").pods());
  failure_history_->record({kGkePool, "pool-a"}, after(0s));
  EXPECT_THAT(place().reason, HasSubstr("pool-a was repaired a moment ago"));
  EXPECT_THAT(place(kV6e, 33s).reason, HasSubstr("slice train of 2 hosts is placed"));
}

TEST_F(SliceReconciling, KeepsADomainForAWorkloadThatRuns) {
  constexpr ResourceType kWorkload{"batch", "v1", "Job", "jobs"};
  Json job = {{"metadata", {{"namespace", "default"}, {"name", "job"}, {"uid", "uid-of-job"}}}};
  const auto is_kept = [&] { return place().reason.find("is reserved for default/job (train)") != std::string::npos; };
  show(a_pool("pool-a").nodes());
  show(a_slice("other").pods());
  const NodePtr node = a_pool("pool-a").nodes().front();
  places_->record(a_slice("train").runs_in("pool-a").pod(0), nullptr, node, after(4s));
  EXPECT_FALSE(is_kept()) << "of an unknown kind";
  workloads_->add(kWorkload, workload_store_, {}, [](const Json& object) {
    return bool_at(object, {"spec", "suspend"});
  });
  EXPECT_FALSE(is_kept()) << "the store is not synced";
  workload_store_.replace({}, 1);
  EXPECT_FALSE(is_kept()) << "it was deleted";
  workload_store_.put(ObjectView::from_json(job).value());
  EXPECT_TRUE(is_kept());
  job["spec"]["suspend"] = true;
  job["metadata"]["resourceVersion"] = "2";
  workload_store_.put(ObjectView::from_json(job).value());
  EXPECT_FALSE(is_kept());
}

TEST_F(SliceReconciling, ReadsTheRecordsOfPreemptionsOnceTheirStoreIsSynced) {
  PreemptionStore records(kConfigMaps);
  const PlacementReconciler preempting(pods_, nodes_, indexes_, workloads_,
                                       {failure_history_, places_, rejections_, removed_hosts_}, {},
                                       {.scale_up = scout_options(), .max_preemptions_per_hour = 1}, &records);
  const auto reason = [&] { return preempting.plan({{"", kV6e}, after(1min), std::nullopt})->reason; };
  show(a_pool("pool-a").nodes());
  show(pods_of({a_slice("low").runs_in("pool-a"), a_slice("high").priority(9)}));
  EXPECT_THAT(reason(), HasSubstr("but ConfigMap tpu-system/tpu-slice-preemptions cannot be read"));
  records.replace({}, 1);
  EXPECT_THAT(reason(), HasSubstr("ConfigMap tpu-system/tpu-slice-preemptions is created"));
  records.put(*preemption_records().records);
  EXPECT_THAT(reason(), HasSubstr("slice low of priority 0 is preempted"));
  records.put(*preemption_records("1 2026-01-01T00:00:00Z").records);
  EXPECT_THAT(reason(), HasSubstr("but the preemption budget of 1 an hour is used up"));
  EXPECT_THAT(accelerators_of_records(*preemption_records("x").records), ElementsAre(ObjectKey{"", kV6e}));
}

TEST_F(SliceReconciling, UsesItsOptions) {
  const PlacementReconciler strict(pods_, nodes_, indexes_, workloads_,
                                   {failure_history_, places_, rejections_, removed_hosts_}, {},
                                   {.topology_keys = {kRow}});
  show(a_slice("train").pods());
  EXPECT_EQ(strict.plan({{"", kV6e}, after(1min), std::nullopt})->reason,
            "slice train waits: its topology key is not supported, use example.com/row");
  const SliceReconciler patient(indexes_, nodes_, workloads_, node_health_, {removed_hosts_},
                                {.scheduling_timeout = 10min});
  const auto refused = [](PodView& pod) {
    pod.unschedulable = "0/2 nodes are available: 2 Insufficient google.com/tpu.";
  };
  show(a_slice("sent").placed_in("pool-a").each(refused).pods());
  EXPECT_EQ(patient.plan({{"default", "sent"}, after(5min), std::nullopt})->requeue_after, Duration(5min));
  EXPECT_THAT(plan({"default", "sent"}, 5min).stages, SizeIs(2));
}

TEST_F(SliceReconciling, SeesWhichWritesOfEitherControllerHaveFailed) {
  show(nodes_of({a_pool("pool-a"), a_pool("pool-b")}));
  show(pods_of({a_slice("train"), a_slice("half").placed_in("pool-b").gated(1)}));
  const auto refuse = [&](const plan::Plan& plan, Duration when) {
    runtime::ExecutionReport report;
    report.stages.emplace_back(plan.stages.at(0).actions.size());
    for (runtime::ActionReport& action : report.stages[0]) {
      action.outcome = runtime::Outcome::kFailed;
      action.error = Error::of(ErrorCode::kForbidden, "denied");
    }
    writes_->record(plan, report, after(when));
  };
  refuse(place(kV6e, 5s), 5s);
  EXPECT_THAT(place(kV6e, 5s).reason, StartsWith("slice train waits: its pods cannot be changed: denied"));
  const plan::Plan release = plan({"default", "half"}, 5s);
  refuse(release, 5s);
  EXPECT_EQ(plan({"default", "half"}, 5s + 2min).reason,
            "slice half is torn down: pod half-1 cannot be changed: denied");
}

// What the plan of a slice sees.

TEST_F(SliceReconciling, ReleasesPodsOfTheSliceOfTheKeyOnly) {
  show(pods_of({a_slice("train").placed_in("pool-a").gated(1), a_slice("train").in("team").placed_in("pool-b").gated(1),
                a_slice("other").placed_in("pool-c").gated(1)}));
  const plan::Plan out = plan({"team", "train"});
  EXPECT_EQ(out.reason, "1 other pod of slice train is released to pool-b");
  ASSERT_THAT(stages_of(out), ElementsAre(ElementsAre("patch Pod train-1")));
  EXPECT_EQ(action_of(out, "patch Pod train-1").key.namespace_name, "team");
}

TEST_F(SliceReconciling, SeesCompanions) {
  show(a_slice("train").runs_in("pool-a").companion("driver").pods());
  EXPECT_THAT(stages_of(plan({"default", "train"})), ElementsAre(ElementsAre("patch Pod driver")));
}

TEST_F(SliceReconciling, SeesTheNodesOfTheSlice) {
  show(a_pool("pool-a").node(1, not_ready).nodes());
  show(a_slice("train").runs_in("pool-a").pods());
  EXPECT_EQ(plan({"default", "train"}, 10s).requeue_after, Duration(290s));
  EXPECT_EQ(plan({"default", "train"}, 300s).reason,
            "slice train is torn down: node pool-a-1 of pod train-1 is not Ready");
}

TEST_F(SliceReconciling, KeepsSlicesWhileMostNodesAreNotReady) {
  const std::vector<NodePtr> nodes =
      a_pool("pool-a").size(4).node(1, not_ready).node(2, not_ready).node(3, not_ready).nodes();
  for (const NodePtr& node : nodes) node_health_->record(nullptr, node, after(0s));
  show(nodes);
  show(a_slice("train").hosts(4).runs_in("pool-a").pods());
  const plan::Plan kept = plan({"default", "train"}, 1h);
  EXPECT_THAT(writes_of(kept), ElementsAre("patch Pod train-1")) << kept.reason;
  EXPECT_EQ(kept.requeue_after, Duration(5min));
  node_health_->record(nodes[3], with(nodes[3], [](NodeView& node) { node.ready = true; }), after(1h));
  const plan::Plan recovering = plan({"default", "train"}, 1h + 1min);
  EXPECT_THAT(writes_of(recovering), ElementsAre("patch Pod train-1")) << recovering.reason;
  EXPECT_EQ(recovering.requeue_after, Duration(4min));
  EXPECT_EQ(plan({"default", "train"}, 1h + 5min).reason,
            "slice train is torn down: node pool-a-1 of pod train-1 is not Ready");
}

TEST_F(SliceReconciling, TearsDownTheSlicesOfManyLostNodesOneAfterAnother) {
  // All of a pool are not Ready, in a zone of which most nodes are.
  show(a_pool("others").size(40).nodes());
  for (int i = 0; i < 12; ++i) {
    const std::string name = fmt::format("{:02}", i);
    show(a_pool("pool-" + name).node(0, not_ready).nodes());
    show(a_slice("s" + name).runs_in("pool-" + name).pods());
  }
  const auto torn_down_at = [&](Duration now) {
    int out = 0;
    for (int i = 0; i < 12; ++i) {
      const plan::Plan each = plan({"default", fmt::format("s{:02}", i)}, now);
      if (each.reason.find("is torn down: node") != std::string::npos) ++out;
    }
    return out;
  };
  EXPECT_EQ(torn_down_at(1h), 10);
  EXPECT_EQ(torn_down_at(1h + 10s), 11);
  EXPECT_EQ(torn_down_at(1h + 20s), 12);
}

TEST_F(SliceReconciling, CountsSlicesThatWaitAfterTheyWerePlaced) {
  const auto waits = [](std::string reason) {
    return [reason = std::move(reason)](PodView& pod) { pod.annotations[std::string(tpu::kWaitingReason)] = reason; };
  };
  const auto waiting = [&](std::string_view wanted) {
    for (const plan::Measurement& each : place().measurements) {
      const auto reason = each.labels.find("reason");
      if (reason != each.labels.end() && reason->second == wanted) return each.value;
    }
    return -1.0;
  };
  show(a_pool("pool-a").nodes());
  show(a_slice("train").runs_in("pool-a").unscheduled(1).host(1, waits("NotScheduled")).pods());
  EXPECT_EQ(waiting("NotScheduled"), 1);
  show(a_slice("train").runs_in("pool-a").gated(1).host(1, waits("UpdateRefused")).pods());
  EXPECT_EQ(waiting("NotScheduled"), 0);
  EXPECT_EQ(waiting("UpdateRefused"), 1) << "a pod is still gated";
  show(a_slice("train").runs_in("pool-a").pods());
  EXPECT_EQ(waiting("UpdateRefused"), 0);
}

TEST_F(SliceReconciling, DoesNotTearDownASliceWhoseWorkloadEnds) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").runs_in("pool-a").terminating(0).pods());
  EXPECT_THAT(plan({"default", "train"}).reason, StartsWith("slice train is torn down"));
  workloads_->add({"batch", "v1", "Job", "jobs"}, workload_store_, {}, nullptr);
  workload_store_.replace({}, 1);
  EXPECT_TRUE(plan({"default", "train"}).empty());
  const Json job = {{"metadata", {{"namespace", "default"}, {"name", "job"}, {"uid", "uid-of-job"}}}};
  workload_store_.put(ObjectView::from_json(job).value());
  EXPECT_THAT(plan({"default", "train"}).reason, StartsWith("slice train is torn down"));
}

TEST_F(SliceReconciling, TearsDownASliceBesideAPodOfAnEarlierWorkload) {
  const auto of_earlier_job = [](PodView& pod) {
    pod.controller->uid = "uid-of-an-earlier-job";
    pod.phase = PodPhase::kFailed;
  };
  workloads_->add({"batch", "v1", "Job", "jobs"}, workload_store_, {}, nullptr);
  workload_store_.replace({}, 1);
  const Json job = {{"metadata", {{"namespace", "default"}, {"name", "job"}, {"uid", "uid-of-job"}}}};
  workload_store_.put(ObjectView::from_json(job).value());
  show(a_pool("pool-a").nodes());
  show(a_slice("train").runs_in("pool-a").terminating(0).extra("a-lost-pod", of_earlier_job).pods());
  EXPECT_THAT(plan({"default", "train"}).reason, StartsWith("slice train is torn down"));
}

TEST_F(SliceReconciling, HasAnEmptyPlanForADeletedSlice) { EXPECT_TRUE(plan({"default", "train"}).empty()); }

TEST_F(SliceReconciling, HasKeysThatAreNotApiResources) {
  EXPECT_EQ(placement_.name(), "slice-placement");
  EXPECT_EQ(placement_.resource().kind, "Accelerator");
  EXPECT_FALSE(placement_.resource().namespaced);
  EXPECT_EQ(slices_.name(), "slice");
  EXPECT_EQ(slices_.resource().kind, "Slice");
  EXPECT_TRUE(slices_.resource().namespaced);
}

// Indexes.

/// Where the indexes list a pod: "accelerator/…", "gated/…", "node/…", "slice/…".
std::vector<std::string> indexed(const PodView& pod) {
  runtime::PodStore store{kPods};
  runtime::NodeStore nodes{kNodes};
  const runtime::PodStores pods({&store});
  const Indexes indexes(pods);
  const AcceleratorIndexes by_accelerator(pods, nodes);
  store.put(pod);
  std::vector<std::string> found;
  const auto note = [&found](const runtime::PodIndex& index, const std::string& name, const std::string& value) {
    if (!index.lookup(value).empty()) found.push_back(name + "/" + value);
  };
  for (const std::string accelerator : {"", kV6e}) {
    note(by_accelerator.pods, "accelerator", accelerator);
    note(by_accelerator.waiting_pods, "gated", accelerator);
  }
  for (const std::string node : {"", "pool-a-0", "pool-a-1"}) note(indexes.pods_by_node, "node", node);
  for (const std::string slice : {"default/train", "team/train", "default/", "default/none"}) {
    note(indexes.pods_by_slice, "slice", slice);
  }
  return found;
}

TEST(SliceIndexes, ListAGatedPodByAcceleratorAndSlice) {
  EXPECT_THAT(indexed(*a_slice("train").in("team").pod(0)),
              UnorderedElementsAre("accelerator/tpu-v6e-slice", "gated/tpu-v6e-slice", "slice/team/train"));
}

TEST(SliceIndexes, ListABoundPodByAcceleratorNodeAndSlice) {
  EXPECT_THAT(indexed(*a_slice("train").runs_in("pool-a").pod(1)),
              UnorderedElementsAre("accelerator/tpu-v6e-slice", "node/pool-a-1", "slice/default/train"));
}

TEST(SliceIndexes, DoNotListATerminatingPodAsGated) {
  EXPECT_THAT(indexed(*a_slice("train").terminating(0).pod(0)),
              UnorderedElementsAre("accelerator/tpu-v6e-slice", "slice/default/train"));
}

TEST(SliceIndexes, ListACompanionBySliceOnly) {
  const std::vector<PodPtr> pods = a_slice("train").hosts(0).companion("driver").pods();
  EXPECT_THAT(indexed(*pods.front()), ElementsAre("slice/default/train"));
}

TEST(SliceIndexes, ListATpuPodOutsideOfSlicesByNodeAndEmptyAccelerator) {
  EXPECT_THAT(indexed(*a_pod_without_slice("notebook", "pool-a-0")),
              UnorderedElementsAre("accelerator/", "node/pool-a-0"));
}

TEST(SliceIndexes, ListATpuPodThatWasNotAdmittedByItsNode) {
  EXPECT_THAT(indexed(*with(a_pod_without_slice("notebook", "pool-a-0"), not_admitted)),
              UnorderedElementsAre("accelerator/", "node/pool-a-0"));
  EXPECT_THAT(indexed(*with(a_pod_without_slice("notebook", ""), not_admitted)), IsEmpty());
}

TEST(SliceIndexes, DoNotListAPodWithoutTpusAndWithoutTheSliceLabel) {
  PodView pod = *a_pod_without_slice("notebook", "pool-a-0");
  pod.labels = {{"ray.io/node-type", "head"}};
  tpu::set_chips(pod, 0);
  EXPECT_THAT(indexed(pod), IsEmpty());
}

TEST_F(SliceReconciling, IndexesNodesByAccelerator) {
  NodeView node = *a_pool("pool-a").nodes().front();
  nodes_.put(node);
  EXPECT_THAT(by_accelerator_.nodes.lookup("tpu-v6e-slice"), SizeIs(1));
  node.labels.clear();
  nodes_.put(node);
  EXPECT_THAT(by_accelerator_.nodes.lookup("tpu-v6e-slice"), IsEmpty());
  EXPECT_THAT(by_accelerator_.nodes.lookup(""), IsEmpty());
}

// Which keys a change concerns.

TEST_F(SliceReconciling, MapsAPodToTheAcceleratorItSelects) {
  EXPECT_THAT(accelerator_of_pod(nodes_, *a_slice("train").pod(0)), ElementsAre(ObjectKey{"", kV6e}));
  EXPECT_THAT(accelerator_of_pod(nodes_, *a_slice("train").each(of_accelerator_v5p()).pod(0)),
              ElementsAre(ObjectKey{"", kV5p}));
}

TEST_F(SliceReconciling, MapsAPodWithoutAcceleratorToThatOfItsNode) {
  const PodPtr pod = a_pod_without_slice("notebook", "pool-a-0");
  EXPECT_THAT(accelerator_of_pod(nodes_, *pod), IsEmpty()) << "the node is not known yet";
  show(a_pool("pool-a").nodes());
  EXPECT_THAT(accelerator_of_pod(nodes_, *pod), ElementsAre(ObjectKey{"", kV6e}));
  EXPECT_THAT(accelerator_of_pod(nodes_, *a_slice("train").each(of_any_accelerator()).pod(0)), IsEmpty());
}

TEST_F(SliceReconciling, MapsAPodWithoutOurLabelToNoKeyUnlessItUsesANode) {
  PodView pod = *a_slice("train").pod(0);
  pod.labels.clear();
  EXPECT_THAT(accelerator_of_pod(nodes_, pod), IsEmpty());
  EXPECT_THAT(slice_of_pod(pod), IsEmpty());
  pod.node_name = "pool-a-0";
  EXPECT_THAT(accelerator_of_pod(nodes_, pod), ElementsAre(ObjectKey{"", kV6e})) << "it uses the node all the same";
}

TEST_F(SliceReconciling, MapsAPodWithoutChipsToNoAccelerator) {
  EXPECT_THAT(accelerator_of_pod(nodes_, *a_slice("train").chips(0).pod(0)), IsEmpty());
}

TEST_F(SliceReconciling, MapsANodeToItsAccelerator) {
  EXPECT_THAT(accelerator_of_node(*a_pool("pool-a").nodes().front()), ElementsAre(ObjectKey{"", kV6e}));
  EXPECT_THAT(accelerator_of_node(NodeView{}), IsEmpty());
}

TEST_F(SliceReconciling, MapsAPodToItsSlice) {
  EXPECT_THAT(slice_of_pod(*a_slice("train").in("team").pod(1)), ElementsAre(ObjectKey{"team", "train"}));
  EXPECT_THAT(slice_of_pod(*a_pod_without_slice("notebook", "pool-a-0")), IsEmpty());
  EXPECT_THAT(slice_of_pod(PodView{}), IsEmpty());
}

TEST_F(SliceReconciling, FindsThePodsOnANode) {
  show(pods_of({a_slice("train").runs_in("pool-a"), a_slice("waits")}));
  const std::vector<PodPtr> found = indexes_.pods_by_node.lookup("pool-a-1");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]->key.name, "train-1");
}

TEST_F(SliceReconciling, MapsANodeToTheSlicesOnIt) {
  const NodePtr node = a_pool("pool-a").nodes().front();
  EXPECT_THAT(slices_on_node(indexes_, *node), IsEmpty());
  show(a_slice("train").runs_in("pool-a").pods());
  show(a_slice("leaving").in("team").runs_in("pool-a").terminating(0).pods());
  show(std::vector<PodPtr>{a_pod_without_slice("notebook", "pool-a-0")});
  EXPECT_THAT(slices_on_node(indexes_, *node),
              UnorderedElementsAre(ObjectKey{"default", "train"}, ObjectKey{"team", "leaving"}));
}

}  // namespace
}  // namespace tpuslice::placement
