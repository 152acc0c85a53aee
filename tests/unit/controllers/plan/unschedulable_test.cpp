#include "controllers/plan/unschedulable.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tpu/labels.h"

namespace tpuslice::plan {
namespace {

Unschedulable read(const std::string& message, bool nominated = false) {
  PodView pod;
  pod.annotations[std::string(tpu::kPlacedIn)] = "pool-a";
  pod.unschedulable = message;
  pod.nominated = nominated;
  return read_unschedulable(pod);
}

/// The messages are of kube-scheduler 1.36; a pod that is bound to one node by name or to a node pool.
struct MessageCase {
  const char* name;
  const char* message;
  bool temporary;
  const char* reasons;
};
void PrintTo(const MessageCase& c, std::ostream* out) { *out << c.name; }
class SchedulerMessage : public ::testing::TestWithParam<MessageCase> {};

TEST_P(SchedulerMessage, IsUnderstood) {
  const Unschedulable out = read(GetParam().message);
  EXPECT_EQ(out.temporary, GetParam().temporary);
  EXPECT_EQ(out.reasons, GetParam().reasons);
}

TEST(UnplacedPod, HasNoNodeThatMatches) {
  PodView pod;
  pod.unschedulable = "0/9 nodes are available: 9 node(s) didn't match Pod's node affinity/selector.";
  EXPECT_EQ(read_unschedulable(pod).reasons, "no node matches its node selector and affinity");
}

INSTANTIATE_TEST_SUITE_P(
    Messages, SchedulerMessage,
    ::testing::Values(
        MessageCase{"CpuOfTheOneNodeOfItsSelector",
                    "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't match Pod's node affinity/selector. "
                    "preemption: 0/5 nodes are available: 1 No preemption victims found for incoming pod, 4 Preemption "
                    "is not helpful for scheduling.",
                    true, "Insufficient cpu"},
        // With matchFields on metadata.name, nodes are left out before the filters run.
        MessageCase{"CpuOfTheOneNodeOfItsName",
                    "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
                    "preemption: 0/5 nodes are available: 1 No preemption victims found for incoming pod, 4 Preemption "
                    "is not helpful for scheduling.",
                    true, "Insufficient cpu"},
        MessageCase{
            "MemoryAndPods",
            "0/2 nodes are available: 1 Insufficient memory, 1 Too many pods, 1 node(s) didn't match Pod's node "
            "affinity/selector.",
            true, "Insufficient memory, Too many pods"},
        MessageCase{"Chips",
                    "0/2 nodes are available: 1 Insufficient google.com/tpu, 1 node(s) didn't match Pod's node "
                    "affinity/selector.",
                    false, "Insufficient google.com/tpu"},
        MessageCase{"ChipsAndCpu", "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient google.com/tpu.", false,
                    "Insufficient cpu, Insufficient google.com/tpu"},
        MessageCase{"Claim",
                    "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes "
                    "are available: 3 Preemption is not helpful for scheduling.",
                    true, "pod has unbound immediate PersistentVolumeClaims"},
        MessageCase{"ClaimThatDoesNotExist",
                    "0/3 nodes are available: persistentvolumeclaim \"data\" not found. preemption: 0/3 nodes are "
                    "available: 3 Preemption is not helpful for scheduling.",
                    true, "persistentvolumeclaim \"data\" not found"},
        MessageCase{"Ports", "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
                    true, "node(s) didn't have free ports for the requested pod ports"},
        MessageCase{"ResourceClaims", "0/1 nodes are available: 1 cannot allocate all claims.", true,
                    "cannot allocate all claims"},
        MessageCase{"ResourceClaimsOfKubernetes136",
                    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes "
                    "are available: 1 No preemption victims found for incoming pod.",
                    true, "Insufficient cpu"},
        MessageCase{"Taint",
                    "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match Pod's node "
                    "affinity/selector.",
                    false, "node(s) had untolerated taint(s)"},
        MessageCase{"OtherSlice",
                    "0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 node(s) didn't match "
                    "Pod's node affinity/selector.",
                    false, "node(s) didn't match pod anti-affinity rules"},
        MessageCase{"OneOfTwoReasonsStays",
                    "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.", false,
                    "Insufficient cpu, node(s) were unschedulable"},
        MessageCase{"NodeIsGone", "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.",
                    false, "its node does not exist"},
        MessageCase{"NameOfNoNode", "0/4 nodes are available: 4 node(s) didn't satisfy plugin(s) [NodeAffinity].",
                    false, "its node does not exist"}),
    [](const auto& test) { return test.param.name; });

TEST(Unschedulable, IsTemporaryWhileOtherPodsArePreemptedForThePod) {
  EXPECT_TRUE(read("0/1 nodes are available: 1 Insufficient google.com/tpu.", true).temporary);
  EXPECT_TRUE(read("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.", true).temporary);
}

TEST(Unschedulable, DoesNotDependOnTheNumberOfNodes) {
  const char* const before =
      "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't match Pod's node affinity/selector.";
  const char* const later =
      "0/9 nodes are available: 1 Insufficient cpu, 8 node(s) didn't match Pod's node affinity/selector.";
  EXPECT_EQ(read(before).reasons, read(later).reasons) << "the waiting reason would change with each node";
}

TEST(SilentScheduler, IsReportedWithTheTimeAndTheClaimsOfThePod) {
  const Timestamp since = parse_rfc3339("2026-01-01T00:00:05Z").value();
  PodView pod;
  EXPECT_EQ(explain_silence(pod, since),
            "it waits for one since 2026-01-01T00:00:05Z, and kube-scheduler reports no reason");
  pod.scheduling.edit().resource_claims = "spec.resourceClaims[0].resourceClaimTemplateName tpu";
  EXPECT_EQ(
      explain_silence(pod, since),
      "it waits for one since 2026-01-01T00:00:05Z, and kube-scheduler reports no reason; check that its resource "
      "claims exist: spec.resourceClaims[0].resourceClaimTemplateName tpu");
  pod.scheduling.edit().resource_claims = {};
  pod.scheduling_error = "SchedulerError: plugin failed";
  EXPECT_EQ(explain_silence(pod, since),
            "it waits for one since 2026-01-01T00:00:05Z, and kube-scheduler reports SchedulerError: plugin failed");
}

TEST(Unschedulable, IsReadFromAnyText) {
  for (const char* text : {"x", ".", "...", ", ", " preemption: ", "0/1 nodes are available: ", "7", "12 ",
                           "0/1 nodes are available: ."}) {
    EXPECT_FALSE(read(text).temporary) << text;
  }
  EXPECT_EQ(read("no memory").reasons, "no memory") << "another scheduler";
  EXPECT_EQ(read("7").reasons, "7");
}

}  // namespace
}  // namespace tpuslice::plan
