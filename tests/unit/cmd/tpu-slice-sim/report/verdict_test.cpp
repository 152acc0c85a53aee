#include "cmd/tpu-slice-sim/report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cmd/tpu-slice-sim/report/host_pods.h"

namespace tpuslice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Timestamp kCreated = *parse_rfc3339("2026-01-01T00:00:00Z");

Json waiting_pod(const char* reason) {
  Json pod = host_pod(0);
  pod["metadata"]["annotations"]["tpuslice.dev/waiting"] = reason;
  return pod;
}

Json other_pod(const char* phase) {
  return {{"metadata", {{"name", "head"}, {"namespace", "ml"}}}, {"status", {{"phase", phase}}}};
}

TEST(Verdict, HasOneLineForASliceThatWaits) {
  const Verdict verdict = judge(
      {stored(waiting_pod("no node pool of tpu-v6e-slice 8x8")), stored(host_pod(1)), stored(other_pod("Running"))});
  EXPECT_THAT(verdict.lines, ElementsAre("waits: slice train-0 (2 hosts): no node pool of tpu-v6e-slice 8x8"));
  EXPECT_EQ(verdict.sentence, "0 of 1 slice and 1 of 1 other pod run");
  EXPECT_FALSE(verdict.all_run);
}

TEST(Verdict, SaysThatAllRuns) {
  const Verdict verdict = judge({stored(ready_pod(0)), stored(ready_pod(1))});
  EXPECT_THAT(verdict.lines, IsEmpty());
  EXPECT_EQ(verdict.sentence, "1 of 1 slice runs");
  EXPECT_TRUE(verdict.all_run);
  EXPECT_EQ(judge({}).sentence, "");
}

TEST(Verdict, NamesTheFirstPodOfASliceThatHasNoReason) {
  Json starting = ready_pod(1);
  starting["status"] = {
      {"phase", "Pending"},
      {"conditions",
       Json::array({{{"type", "PodScheduled"}, {"status", "False"}, {"message", "0/3 nodes are available"}}})}};
  EXPECT_THAT(judge({stored(ready_pod(0)), stored(starting)}).lines,
              ElementsAre("waits: slice train-0 (2 hosts): 1 of 2 pods run; pod train-0-1: Pending, 0/3 nodes are "
                          "available"));
}

TEST(Verdict, NamesOtherPods) {
  const Verdict verdict = judge({stored(other_pod("Pending"))});
  EXPECT_THAT(verdict.lines, ElementsAre("waits: pod ml/head: Pending"));
  EXPECT_EQ(verdict.sentence, "0 of 1 pod run");
}

TEST(Verdict, SaysOfFailedPodsThatTheyHaveFailed) {
  Json failed = ready_pod(0);
  failed["status"] = {{"phase", "Failed"}};
  const Verdict verdict = judge({stored(failed), stored(ready_pod(1)), stored(other_pod("Failed"))});
  EXPECT_THAT(verdict.lines, ElementsAre("failed: slice train-0 (2 hosts): 1 of 2 pods run; pod train-0-0: Failed",
                                         "failed: pod ml/head: Failed"));
  EXPECT_EQ(verdict.sentence, "0 of 1 slice and 0 of 1 other pod run");
  EXPECT_FALSE(verdict.all_run);
}

TEST(Verdict, NamesAPodThatWaitsBeforeOneThatHasFailed) {
  Json failed = ready_pod(0);
  failed["metadata"]["annotations"]["tpuslice.dev/waiting"] = "in use";
  failed["status"] = {{"phase", "Failed"}};
  Json again = host_pod(0);
  again["metadata"]["name"] = "train-0-0-again";
  EXPECT_THAT(judge({stored(failed), stored(ready_pod(1)), stored(again)}).lines,
              ElementsAre("waits: slice train-0 (2 hosts): 1 of 2 pods run; pod train-0-0-again: Pending"));
}

TEST(Verdict, AwaitsTheReasonOfAYoungSlice) {
  EXPECT_TRUE(awaits_reason({stored(host_pod(0)), stored(host_pod(1))}, kCreated + 7s));
  EXPECT_FALSE(awaits_reason({stored(host_pod(0))}, kCreated + 8s));
  EXPECT_FALSE(awaits_reason({stored(host_pod(1)), stored(waiting_pod("in use"))}, kCreated + 1s));
  EXPECT_FALSE(awaits_reason({stored(ready_pod(0))}, kCreated + 1s));
  EXPECT_FALSE(awaits_reason({stored(other_pod("Pending"))}, kCreated + 1s));
}

}  // namespace
}  // namespace tpuslice
