#include "controllers/history/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/history/interruptions.h"
#include "tpu/labels.h"

namespace tpuslice::history {
namespace {

using namespace std::chrono_literals;
using slice::a_slice;
using slice::after;
using slice::SliceBuilder;

/// Slice train of Job job was interrupted at second 60.
Record interrupted() {
  plan::Interruption out = an_interruption(0, 60s);
  out.workload = {"batch/v1", "Job", {"default", "job"}, "uid-of-job", {}};
  out.slice = {"default", "train"};
  return record_of(out);
}

SliceBuilder again() { return a_slice("train").created(61s).runs_in("pool-b", 62s); }

std::optional<std::string> pool(const SliceBuilder& slice, const Record& record = interrupted()) {
  return runs_again_in(record, slice.pods());
}

TEST(Recovery, IsWhenAllHostsRun) {
  EXPECT_EQ(pool(again()), "pool-b");
  EXPECT_EQ(pool(again().succeeds(0)), "pool-b");
  EXPECT_EQ(pool(again().unscheduled(1)), std::nullopt);
  EXPECT_EQ(pool(again().without(1)), std::nullopt);
  EXPECT_EQ(pool(again().gated(1)), std::nullopt);
  EXPECT_EQ(pool(again().fails(1)), std::nullopt);
  EXPECT_EQ(pool(again().host(1, [](PodView& pod) { pod.not_ready = true; })), std::nullopt);
  EXPECT_EQ(pool(again().extra("old", [](PodView& pod) { pod.deletion = after(0s); })), std::nullopt);
  EXPECT_EQ(runs_again_in(interrupted(), {}), std::nullopt);
}

/// Regression: the start of slices with readiness probes was never observed, as their hosts run before they are Ready.
TEST(Recovery, HostsRunBeforeTheyAreReady) {
  EXPECT_TRUE(all_run(again().host(1, [](PodView& pod) { pod.not_ready = true; }).slice()));
  EXPECT_FALSE(all_run(again().unscheduled(1).slice()));
  EXPECT_FALSE(all_run(again().fails(1).slice()));
  EXPECT_FALSE(all_run(again().terminating(1).slice()));
}

TEST(Recovery, IsNotThePlacementThatWasInterrupted) {
  Record record = interrupted();
  record.placement = again().pod(0)->annotation(tpu::kSliceMembers);
  EXPECT_EQ(pool(again(), record), std::nullopt) << "the stores do not show the deletes yet";
  record.placement.clear();
  EXPECT_EQ(pool(again(), record), "pool-b");
  EXPECT_EQ(pool(a_slice("train").runs_in("pool-b", 59s), record), std::nullopt);
}

TEST(Recovery, OfASliceWithoutPlacementIsThatOfNewPods) {
  Record record = interrupted();
  record.placement = "uid-of-train-0";
  const auto never_placed = [](PodView& pod) {
    pod.annotations.erase(std::string(tpu::kSliceMembers));
    pod.annotations.erase(std::string(tpu::kPlacedAt));
    pod.annotations.erase(std::string(tpu::kPlacedIn));
  };
  const auto pods = [&](Duration created) {
    return a_slice("train").hosts(1).created(created).runs_in("pool-b").each(never_placed);
  };
  EXPECT_EQ(pool(pods(61s), record), std::nullopt) << "the same pod";
  record.placement = "uid-of-another";
  EXPECT_EQ(pool(pods(61s), record), "");
  EXPECT_EQ(pool(pods(59s), record), std::nullopt);
}

TEST(Recovery, IsOfTheSameWorkload) {
  Record record = interrupted();
  record.uid = "another";
  EXPECT_EQ(pool(again(), record), std::nullopt);
  record.uid.clear();
  EXPECT_EQ(pool(again(), record), "pool-b") << "by name";
  record.name = "another";
  EXPECT_EQ(pool(again(), record), std::nullopt);
}

}  // namespace
}  // namespace tpuslice::history
