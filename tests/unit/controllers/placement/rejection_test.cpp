#include "controllers/placement/rejection.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/placement/rejection_history.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PodChange unschedulable(const std::string& why) {
  return [why](PodView& pod) { pod.unschedulable = "0/2 nodes are available: 2 " + why + "."; };
}

constexpr const char* kTaken = "Insufficient google.com/tpu";

/// The slice was placed there at start_of_time(), and its pods have no nodes.
SliceBuilder train(const std::string& domain, const std::string& why = kTaken) {
  return a_slice("train").placed_in(domain).each(unschedulable(why));
}

class Rejected : public ::testing::Test {
 protected:
  /// Both pods are deleted.
  void reject(const std::string& domain, Duration when, const std::string& why = kTaken) {
    for (const int host : {0, 1}) history_.record(train(domain, why).pod(host), nullptr, after(when));
  }
  [[nodiscard]] const Rejections* rejections() {
    rejected_ = history_.rejected();
    return rejections_of(a_slice("train").slice(), rejected_.get());
  }
  /// The plan for the new pods of the slice.
  [[nodiscard]] plan::Plan plan_at(Duration now, std::initializer_list<PoolBuilder> pools) {
    PlacementScene seen = observed(pools, {a_slice("train")}, now);
    seen.rejected = history_.rejected();
    return plan_placement(seen, {});
  }

  RejectionHistory history_;
  std::shared_ptr<const RejectedSlices> rejected_;
};

TEST_F(Rejected, CountsOncePerPlacement) {
  reject("pool-a", 2min);
  ASSERT_NE(rejections(), nullptr);
  EXPECT_EQ(rejections()->times, 1);
  EXPECT_EQ(rejections()->reason, kTaken);
  reject("pool-a", 14min);
  EXPECT_EQ(rejections()->times, 2);
  EXPECT_EQ(rejections()->domains.at({kGkePool, "pool-a"}).times, 2);
}

TEST_F(Rejected, DoesNotCountPodsThatWaitedForNothingOrGotANode) {
  history_.record(a_slice("train").placed_in("pool-a").pod(0), nullptr, after(2min));
  history_.record(a_slice("train").runs_in("pool-a").each(unschedulable(kTaken)).pod(0), nullptr, after(2min));
  history_.record(a_slice("train").each(unschedulable(kTaken)).pod(0), nullptr, after(2min));
  history_.record(train("pool-a").pod(0), train("pool-a").pod(0), after(2min));
  history_.record(nullptr, train("pool-a").pod(0), after(2min));
  EXPECT_EQ(rejections(), nullptr);
}

TEST_F(Rejected, CountsAReasonThatPassesAfterALongTimeOnly) {
  reject("pool-a", RejectionHistory::kPasses - 1s, "Insufficient cpu");
  EXPECT_EQ(rejections(), nullptr);
  reject("pool-a", RejectionHistory::kPasses, "Insufficient cpu");
  EXPECT_NE(rejections(), nullptr);
}

TEST_F(Rejected, IsOfOneWorkload) {
  reject("pool-a", 2min);
  const auto other = [](PodView& pod) { pod.controller->uid = "uid-of-a-later-job"; };
  EXPECT_EQ(rejections_of(a_slice("train").each(other).slice(), history_.rejected().get()), nullptr);
  history_.record(train("pool-b").each(other).pod(0), nullptr, after(10min));
  EXPECT_EQ(rejections_of(a_slice("train").each(other).slice(), history_.rejected().get())->times, 1);
}

TEST_F(Rejected, IsForgottenAndBounded) {
  reject("pool-a", 0s);
  history_.record(a_slice("other").placed_in("pool-a").each(unschedulable(kTaken)).pod(0), nullptr, after(4h));
  EXPECT_EQ(rejections(), nullptr);
  for (std::size_t i = 0; i < RejectionHistory::kMaxSlices + 10; ++i) {
    const SliceBuilder slice = a_slice(fmt::format("s{}", i)).placed_in("pool-a").each(unschedulable(kTaken));
    history_.record(slice.pod(0), nullptr, after(5h + std::chrono::seconds(i)));
  }
  EXPECT_EQ(history_.rejected()->size(), RejectionHistory::kMaxSlices);
}

TEST(RejectedDomain, IsExcludedForTwiceAsLongEachTime) {
  const auto minutes = [](int times) {
    return std::chrono::duration_cast<std::chrono::minutes>(excluded_until({times, after(0s)}) - after(0s)).count();
  };
  EXPECT_EQ(minutes(1), 10);
  EXPECT_EQ(minutes(2), 20);
  EXPECT_EQ(minutes(4), 80);
  EXPECT_EQ(minutes(5), 120);
  EXPECT_EQ(minutes(1'000'000'000), 120);
}

TEST(RejectedSlice, BacksOffFromTheSecondRejectionOn) {
  const auto minutes = [](int times) {
    const Rejections of{.times = times, .last = after(0s)};
    return std::chrono::duration_cast<std::chrono::minutes>(held_until(of) - after(0s)).count();
  };
  EXPECT_EQ(minutes(1), 0);
  EXPECT_EQ(minutes(2), 1);
  EXPECT_EQ(minutes(4), 4);
  EXPECT_EQ(minutes(7), 30);
  EXPECT_EQ(minutes(1'000'000'000), 30);
}

TEST_F(Rejected, TriesAnotherDomainAtOnce) {
  reject("pool-a", 2min);
  EXPECT_THAT(plan_at(3min, {a_pool("pool-a"), a_pool("pool-b")}).reason, HasSubstr("placed in node pool pool-b"));
}

TEST_F(Rejected, DoesNotTryTheSameDomainForTenMinutes) {
  reject("pool-a", 2min);
  const plan::Plan waits = plan_at(3min, {a_pool("pool-a")});
  EXPECT_THAT(waits.reason, HasSubstr("slice train waits: 1 node pool matches, none is free: pool-a rejected it, and "
                                      "is not tried before 2026-01-01T00:12:00Z"));
  EXPECT_EQ(waits.requeue_after, 9min);
  EXPECT_THAT(plan_at(12min, {a_pool("pool-a")}).reason, HasSubstr("placed in node pool pool-a"));
}

TEST_F(Rejected, TriesADomainThatHasChanged) {
  const NodePtr node = a_pool("pool-a").nodes().front();
  reject("pool-a", 2min);
  history_.record(with(node, not_ready), node);
  history_.record(a_pool("pool-b").node(0, cordoned).nodes().front(), a_pool("pool-b").nodes().front());
  history_.record(nullptr, node);
  EXPECT_THAT(plan_at(3min, {a_pool("pool-a")}).reason, HasSubstr("pool-a rejected it"));
  history_.record(with(node, cordoned), node);
  EXPECT_THAT(plan_at(3min, {a_pool("pool-a")}).reason, HasSubstr("placed in node pool pool-a"));
  reject("pool-a", 5min);
  EXPECT_THAT(plan_at(5min + 30s, {a_pool("pool-a")}).reason, HasSubstr("rejected its last 2 placements"));
}

TEST_F(Rejected, AsksForNodesAlthoughTheRejectedDomainIsFree) {
  reject("pool-a", 2min);
  PlacementScene seen = observed({a_pool("pool-a")}, {a_slice("train")}, 3min);
  seen.rejected = history_.rejected();
  EXPECT_THAT(plan_placement(seen, {.scale_up = scout_options()}).reason, HasSubstr("Pod tpu-system/"));
}

TEST_F(Rejected, LeavesTheDomainToOthers) {
  reject("pool-a", 2min);
  PlacementScene seen = observed({a_pool("pool-a")}, {a_slice("train"), a_slice("other").created(1min)}, 3min);
  seen.rejected = history_.rejected();
  EXPECT_THAT(plan_placement(seen, {}).reason, HasSubstr("slice other of 2 hosts is placed in node pool pool-a"));
}

TEST_F(Rejected, BacksOffWhenDomainAfterDomainRejectsIt) {
  reject("pool-a", 2min);
  reject("pool-b", 5min);
  const plan::Plan held = plan_at(5min + 30s, {a_pool("pool-a"), a_pool("pool-b"), a_pool("pool-c")});
  EXPECT_THAT(held.reason, HasSubstr("slice train waits: kube-scheduler rejected its last 2 placements; the last, in "
                                     "pool-b: Insufficient google.com/tpu; correct what that names, it is placed again "
                                     "after 2026-01-01T00:06:00Z"));
  EXPECT_EQ(held.requeue_after, 30s);
  EXPECT_THAT(plan_at(6min, {a_pool("pool-a"), a_pool("pool-b"), a_pool("pool-c")}).reason,
              HasSubstr("placed in node pool pool-c"));
}

TEST_F(Rejected, HoldsTheSlicesThatStartTogetherWithIt) {
  reject("pool-a", 2min);
  reject("pool-b", 5min);
  PlacementScene seen = observed({a_pool("pool-c"), a_pool("pool-d")},
                                 {a_slice("train").gang("g", 2), a_slice("more").gang("g", 2)}, 5min + 30s);
  seen.rejected = history_.rejected();
  EXPECT_THAT(plan_placement(seen, {}).reason,
              HasSubstr("slice more waits: slice train, which starts together with it"));
}

}  // namespace
}  // namespace tpuslice::placement
