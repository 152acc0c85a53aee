// A slice that lost pods keeps its place in the queue, and for a while its domain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

FormerPlace place_of(const SliceBuilder& slice, const std::string& domain) {
  return {.workload = workload_of(*slice.pod(0)),
          .domain = {kGkePool, domain},
          .queued_since = after(0s),
          .left = after(1h),
          .priority = slice.pod(0)->priority,
          .user = display_name(*slice.pod(0))};
}

/// The slice "train", which waits since 0 s, lost its pods in pool-a at 1 h, and others wait since a minute.
class RestartingSlice : public ::testing::Test {
 protected:
  static SliceBuilder train() { return a_slice("train").created(1h); }
  static SliceBuilder other() { return a_slice("other").created(1min); }

  /// The plan at 1 h and `later`.
  [[nodiscard]] plan::Plan plan_at(Duration later, std::initializer_list<PoolBuilder> pools,
                                   std::initializer_list<SliceBuilder> slices) {
    PlacementScene seen = observed(pools, slices, 1h + later);
    seen.places = places_;
    seen.remembered.places = std::make_shared<const FormerPlaces>(places_);
    return plan_placement(seen, {});
  }

  static std::string queued_since(const plan::Plan& plan) {
    const Json body = plan.stages.at(0).actions.at(0).body.make().value();
    return string_at(body, {"metadata", "annotations", tpu::kQueuedSince});
  }

  FormerPlaces places_ = {{train().key(), place_of(train(), "pool-a")}};
};

TEST_F(RestartingSlice, GoesBeforeThoseThatWaitForLess) {
  const plan::Plan plan = plan_at(10s, {a_pool("pool-b")}, {train(), other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice train of 2 hosts is placed in node pool pool-b"));
}

TEST_F(RestartingSlice, WritesSinceWhenItWaits) {
  EXPECT_EQ(queued_since(plan_at(10s, {a_pool("pool-b")}, {train()})), "2026-01-01T00:00:00Z");
  EXPECT_EQ(queued_since(plan_at(10s, {}, {train()})), "2026-01-01T00:00:00Z");
  EXPECT_EQ(queued_since(plan_at(10s, {}, {other()})), "") << "since its pods were created";
}

TEST_F(RestartingSlice, DoesNotHaveThePlaceOfAnotherWorkload) {
  places_.begin()->second.workload.uid = "uid-of-an-earlier-job";
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a")}, {train(), other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice other of 2 hosts is placed in node pool pool-a"));
}

TEST_F(RestartingSlice, KeepsItsDomainUntilItsPodsExist) {
  const plan::Plan plan = plan_at(1s, {a_pool("pool-a")}, {other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice other waits: 1 node pool matches, none is free: pool-a is reserved for "
                                     "default/job (train)"));
  EXPECT_EQ(plan.requeue_after, 14s);
  EXPECT_THAT(plan_at(15s, {a_pool("pool-a")}, {other()}).reason, HasSubstr("slice other of 2 hosts is placed"));
}

TEST_F(RestartingSlice, DoesNotKeepItIfItsWorkloadMayHaveEnded) {
  places_.begin()->second.workload_runs = false;
  EXPECT_THAT(plan_at(1s, {a_pool("pool-a")}, {other()}).reason, HasSubstr("slice other of 2 hosts is placed"));
}

TEST_F(RestartingSlice, DoesNotKeepItIfItWasPreempted) {
  places_.begin()->second.was_preempted = true;
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a")}, {train().without(1), other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice other of 2 hosts is placed in node pool pool-a"));
}

TEST_F(RestartingSlice, KeepsItsDomainWhileSomeOfItsPodsAreMissing) {
  places_.begin()->second.workload_runs = false;
  const SliceBuilder half = train().without(1);
  EXPECT_THAT(plan_at(4min, {a_pool("pool-a")}, {half, other()}).reason,
              HasSubstr("pool-a is reserved for default/job (train)"));
  EXPECT_THAT(plan_at(5min, {a_pool("pool-a")}, {half, other()}).reason, HasSubstr("slice other of 2 hosts is placed"));
}

TEST_F(RestartingSlice, GetsItsDomainBeforeOlderSlices) {
  const SliceBuilder older = a_slice("older").created(-1h);
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a"), a_pool("pool-b")}, {older, train()});
  EXPECT_THAT(plan.reason, HasSubstr("slice older of 2 hosts is placed in node pool pool-b"));
  EXPECT_THAT(plan.reason, HasSubstr("slice train of 2 hosts is placed in node pool pool-a"));
}

TEST_F(RestartingSlice, GetsAnotherDomainIfItsOwnNoLongerFits) {
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a").node(1, not_ready), a_pool("pool-b")}, {train(), other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice train of 2 hosts is placed in node pool pool-b"));
}

TEST_F(RestartingSlice, DoesNotKeepItsDomainFromAHigherPriority) {
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a")}, {train(), other().priority(5)});
  EXPECT_THAT(plan.reason, HasSubstr("slice other of 2 hosts is placed in node pool pool-a"));
}

TEST_F(RestartingSlice, OfAGangKeepsItsDomainWhileTheOthersHaveNone) {
  const SliceBuilder one = train().gang("g", 2);
  const SliceBuilder two = a_slice("train-2").created(1h).gang("g", 2);
  places_ = {{one.key(), place_of(one, "pool-a")}};
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a")}, {one, two, other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice other waits"));
  EXPECT_THAT(plan.reason, ::testing::Not(HasSubstr("is placed")));
}

TEST_F(RestartingSlice, CountsSlicesOfItsGangThatHaveSucceeded) {
  places_.clear();
  const auto of_gang = [](const char* name) { return a_slice(name).gang("g", 4); };
  const auto done = [&](const char* name, const char* pool) {
    return of_gang(name).runs_in(pool).succeeds(0).succeeds(1);
  };
  const plan::Plan plan = plan_at(
      10s, {a_pool("pool-a"), a_pool("pool-b"), a_pool("pool-c"), a_pool("pool-d")},
      {done("g-1", "pool-a"), done("g-2", "pool-b"), of_gang("g-3").runs_in("pool-c"), of_gang("g-4").created(1h)});
  EXPECT_THAT(plan.reason, HasSubstr("slice g-4 of 2 hosts is placed in node pool"));
}

TEST_F(RestartingSlice, DoesNotWaitForSlicesOfItsGangThatAreGone) {
  const SliceBuilder one = train().gang("g", 4);
  places_ = {{one.key(), place_of(one, "pool-b")}};
  const plan::Plan waits = plan_at(9s, {a_pool("pool-a")}, {one});
  EXPECT_THAT(waits.reason, HasSubstr("1 of the 4 slices that start together have all their pods"));
  EXPECT_EQ(waits.requeue_after, 1s);
  EXPECT_THAT(plan_at(10s, {a_pool("pool-a")}, {one}).reason, HasSubstr("slice train of 2 hosts is placed"));
  const SliceBuilder second = a_slice("new").created(1h).gang("g", 4);
  EXPECT_THAT(plan_at(10s, {a_pool("pool-a"), a_pool("pool-b")}, {one, second}).reason,
              HasSubstr("2 of the 4 slices that start together have all their pods"));
}

TEST_F(RestartingSlice, DoesNotKeepItsDomainWhileItBacksOff) {
  PlacementScene seen = observed({a_pool("pool-a")}, {train(), other()}, 1h + 10s);
  seen.places = places_;
  RejectedSlices rejected;
  rejected[train().key()] = {.workload = workload_of(*train().pod(0)), .times = 2, .last = after(1h)};
  seen.rejected = std::make_shared<const RejectedSlices>(rejected);
  EXPECT_THAT(plan_placement(seen, {}).reason, HasSubstr("slice other of 2 hosts is placed in node pool pool-a"));
}

TEST_F(RestartingSlice, DoesNotKeepADomainThatHadNoNodeForAPod) {
  places_.begin()->second.domain.second.clear();
  const plan::Plan plan = plan_at(10s, {a_pool("pool-a")}, {train().without(1), other()});
  EXPECT_THAT(plan.reason, HasSubstr("slice other of 2 hosts is placed in node pool pool-a"));
}

TEST(RepairedDomain, IsUsedWhenItsNodesHaveBeenReadyForAMoment) {
  const auto ready_at = [](Duration when) { return [when](NodeView& node) { node.ready_changed = after(when); }; };
  const auto plan_at = [&](Duration now, Duration ready, std::set<DomainName> unstable) {
    PlacementScene seen = observed({a_pool("pool-a").node(1, ready_at(ready))}, {a_slice("train")}, now);
    seen.unstable = std::move(unstable);
    return plan_placement(seen, {});
  };
  const plan::Plan waits = plan_at(70s, 1min, {{kGkePool, "pool-a"}});
  EXPECT_THAT(waits.reason, HasSubstr("pool-a was repaired a moment ago, and is used from 2026-01-01T00:01:30Z on"));
  EXPECT_EQ(waits.requeue_after, 20s);
  for (const plan::Plan& placed : {plan_at(90s, 1min, {{kGkePool, "pool-a"}}), plan_at(70s, 1min, {})}) {
    EXPECT_THAT(placed.reason, HasSubstr("slice train of 2 hosts is placed"));
  }
}

}  // namespace
}  // namespace tpuslice::placement
