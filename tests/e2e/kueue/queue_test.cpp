// Workloads of all kinds in a queue of Kueue: admitted, suspended, preempted and resumed, and always as whole slices.
#include <algorithm>

#include <fmt/format.h>

#include "api/base/file.h"
#include "tests/e2e/kueue/kueue_plane.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

class KueueQueue : public KueueTest {
 protected:
  /// The workload is created but has not started: Kueue has suspended it, or holds its pods with a gate.
  void expect_held(WorkloadKind kind, const QueuedWorkload& workload, const std::string& when) {
    expect_without_quota(workload.name);
    expect_no_pod_bound(workload, when);
    if (kind != WorkloadKind::kLeaderWorkerSet) {
      const auto object = client().get(type_of(kind), {"default", workload.name});
      ASSERT_TRUE(object.ok()) << object.error().message();
      EXPECT_TRUE(bool_at(object->json(), {"spec", "suspend"})) << workload.name << " " << when;
      EXPECT_TRUE(eventually([&] { return slices_of(workload.name).empty(); })) << workload.name << " " << when;
      return;
    }
    const bool gated = eventually([&] {
      const auto groups = slices_of(workload.name);
      return groups.size() == static_cast<std::size_t>(workload.slices) &&
             std::ranges::all_of(groups, [](const auto& group) { return is_held(group.second.front()); });
    });
    EXPECT_TRUE(gated) << workload.name << " " << when;
  }

  /// kwok ends the pod of this host with success.
  void complete(const std::string& workload, const std::string& host) {
    for (const auto& [slice, members] : slices_of(workload)) {
      for (const Json& pod : members) {
        if (string_at(pod, {"metadata", "annotations", tpu::kCompletionIndex}) != host) continue;
        complete_pod(string_at(pod, {"metadata", "name"}));
      }
    }
  }

  void complete_pod(const std::string& name) {
    const Json patch = {{"metadata", {{"annotations", {{"sim.tpuslice.dev/complete-after", "1ms"}}}}}};
    const auto patched = client().patch(kPods, {"default", name}, client::PatchType::kMerge, patch, {});
    ASSERT_TRUE(patched.ok()) << patched.error().message();
  }

  /// Two workloads of two slices for which the quota is enough once, then one of higher priority.
  void play(WorkloadKind kind) {
    const std::string prefix(type_of(kind).plural);
    const std::string queue = "queue-" + prefix;
    const QueuedWorkload first{.name = "first", .queue = queue, .priority = "low"};
    const QueuedWorkload second{.name = "second", .queue = queue, .priority = "low"};
    const QueuedWorkload urgent{.name = "urgent", .queue = queue, .priority = "high"};
    create(make_queue({.name = queue, .chips = first.chips()}));
    create(kind, first);
    expect_running(first, "with quota for it");
    expect_condition("first", "Admitted", "True");
    expect_condition("first", "PodsReady", "True");

    create(kind, second);
    expect_held(kind, second, "while the quota is used");

    create(kind, urgent);
    expect_running(urgent, "after a preemption");
    expect_held(kind, first, "after it was preempted");
    expect_condition("first", "Evicted", "True");
    expect_no_pod_bound(second, "while the quota is used by another");

    remove(kind, "urgent");
    expect_running(first, "after it was resumed");
    expect_condition("first", "PodsReady", "True");
    remove(kind, "first");
    expect_running(second, "last");
  }

 private:
  static bool is_held(const Json& pod) {
    return std::ranges::any_of(array_at(pod, {"spec", "schedulingGates"}),
                               [](const Json& gate) { return string_at(gate, {"name"}) == kAdmissionGate; });
  }
};

TEST_F(KueueQueue, OfJobSets) { play(WorkloadKind::kJobSet); }

TEST_F(KueueQueue, OfIndexedJobs) { play(WorkloadKind::kJob); }

TEST_F(KueueQueue, OfRayClusters) { play(WorkloadKind::kRayCluster); }

TEST_F(KueueQueue, OfLeaderWorkerSets) {
  play(WorkloadKind::kLeaderWorkerSet);
  EXPECT_GE(pods().held_by_both(kAdmissionGate), 8U) << "Kueue's gate was not seen beside ours";
}

// A completed index of a Job stays completed when the Job is suspended: only the other hosts get pods again.
TEST_F(KueueQueue, PreemptedSliceOfWhichOneHostHasSucceededCompletes) {
  const QueuedWorkload train{.name = "train", .queue = "one-succeeded", .priority = "low", .slices = 1};
  const QueuedWorkload urgent{.name = "urgent", .queue = "one-succeeded", .priority = "high", .slices = 1};
  create(make_queue({.name = train.queue, .chips = train.chips()}));
  create(WorkloadKind::kJobSet, train);
  expect_running(train, "with quota for it");
  complete("train", "0");
  ASSERT_TRUE(eventually([&] {
    const auto left = slices_of("train");
    return left.size() == 1 && left.begin()->second.size() == 3;
  }));
  create(WorkloadKind::kJobSet, urgent);
  expect_running(urgent, "after a preemption");
  remove(WorkloadKind::kJobSet, "urgent");
  const bool completed = eventually([&] {
    for (const auto& [slice, members] : slices_of("train")) {
      for (const Json& pod : members) {
        if (string_at(pod, {"status", "phase"}) == "Running") complete_pod(string_at(pod, {"metadata", "name"}));
      }
    }
    const auto set = client().get(type_of(WorkloadKind::kJobSet), {"default", "train"});
    return set.ok() && string_at(set->json(), {"status", "terminalState"}) == "Completed";
  });
  EXPECT_TRUE(completed) << waiting_reasons("train");
}

// Kueue evicts a workload whose pods are not ready within 30 minutes, by default. Until then an admitted slice waits
// for a whole domain; it starts when there is one.
TEST_F(KueueQueue, AdmittedSliceWithoutDomainWaitsWithItsQuota) {
  const auto log = read_file(kueue_log());
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->find("timeout: 30m0s"), std::string::npos) << "waitForPodsReady is not at its default";
  for (int pool = 0; pool < kPools4x4; ++pool) cordon(fmt::format("p4x4-{:02}-2", pool));
  const QueuedWorkload train{.name = "train", .queue = "no-domain", .slices = 1};
  create(make_queue({.name = train.queue, .chips = train.chips()}));
  create(WorkloadKind::kJobSet, train);
  expect_condition("train", "Admitted", "True");
  expect_condition("train", "PodsReady", "False");
  std::string reasons;
  EXPECT_TRUE(eventually([&] {
    reasons = waiting_reasons("train");
    return reasons.find("node p4x4-00-2 is cordoned") != std::string::npos;
  })) << reasons;
  expect_no_pod_bound(train, "without a free domain");
  expect_condition("train", "Admitted", "True");

  cordon("p4x4-01-2", false);
  expect_running(train, "in the domain that is free now");
  expect_condition("train", "PodsReady", "True");
}

}  // namespace
}  // namespace tpuslice::testing
