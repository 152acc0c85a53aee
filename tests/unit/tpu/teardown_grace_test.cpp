#include "tpu/teardown_grace.h"

#include <gtest/gtest.h>

#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

PodView pod_with_grace(const std::string& annotation) {
  PodView pod;
  pod.node_name = "node-1";
  pod.phase = PodPhase::kRunning;
  if (!annotation.empty()) pod.annotations[std::string(kTeardownGrace)] = annotation;
  return pod;
}

TEST(TeardownGrace, IsAWholeNumberOfAtLeastOneSecond) {
  EXPECT_EQ(teardown_grace(pod_with_grace("3")), 3);
  EXPECT_EQ(teardown_grace(pod_with_grace("1")), 1);
  for (const char* value : {"", "-1", "2.5", "3s", " 3", "three", "99999999999999999999"}) {
    EXPECT_EQ(teardown_grace(pod_with_grace(value)), std::nullopt) << value;
  }
}

TEST(TeardownGrace, IsNeverZeroSinceAPodWouldBeGoneBeforeItsProcesses) {
  EXPECT_EQ(teardown_grace(pod_with_grace("0")), std::nullopt);
}

TEST(TeardownGrace, IsThePodsOwnUnlessItIsShorter) {
  EXPECT_EQ(teardown_grace(pod_with_grace("29")), 29);
  EXPECT_EQ(teardown_grace(pod_with_grace("30")), std::nullopt);
  EXPECT_EQ(teardown_grace(pod_with_grace("31")), std::nullopt);
  PodView pod = pod_with_grace("3");
  pod.grace_seconds = 0;
  EXPECT_EQ(teardown_grace(pod), std::nullopt);
}

TEST(TeardownGrace, DoesNotShortenThatOfATerminatingPod) {
  PodView pod = pod_with_grace("3");
  pod.deletion = Timestamp();
  EXPECT_EQ(teardown_grace(pod), std::nullopt);
}

TEST(TeardownGrace, IsOfPodsWithRunningContainers) {
  PodView pod = pod_with_grace("3");
  pod.node_name.clear();
  EXPECT_EQ(teardown_grace(pod), std::nullopt);
  for (const PodPhase phase : {PodPhase::kSucceeded, PodPhase::kFailed}) {
    pod = pod_with_grace("3");
    pod.phase = phase;
    EXPECT_EQ(teardown_grace(pod), std::nullopt);
  }
}

TEST(LostOrFailedPod, HasFailedBeforeItsDeletionOrIsOnALostNode) {
  PodView pod;
  EXPECT_FALSE(is_lost_or_failed(pod));
  pod.phase = PodPhase::kFailed;
  EXPECT_TRUE(is_lost_or_failed(pod));
  pod.deletion = Timestamp();
  EXPECT_FALSE(is_lost_or_failed(pod)) << "it may have failed since it was asked to stop";
  pod.disruption = "DeletionByTaintManager";
  EXPECT_TRUE(is_lost_or_failed(pod));
  for (const char* reason : {"EvictionByEvictionAPI", "PreemptionByScheduler", "DeletionBySliceController"}) {
    pod.disruption = reason;
    EXPECT_FALSE(is_lost_or_failed(pod)) << reason;
  }
}

}  // namespace
}  // namespace tpuslice::tpu
