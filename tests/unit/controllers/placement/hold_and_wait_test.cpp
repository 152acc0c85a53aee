// Gangs of which some slices run while the others wait for a domain that another such gang holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FormerPlace place_of(const SliceBuilder& slice) {
  return {.workload = workload_of(*slice.pod(0)), .queued_since = after(0s), .left = after(1h)};
}

/// Of the gangs "old" and "young", of two slices each, the first runs since 1 min and 2 min, and the second waits since
/// 1 h.
class TwoGangs : public ::testing::Test {
 protected:
  static SliceBuilder runs(const std::string& gang, const std::string& pool) {
    return a_slice(gang + "-1").gang(gang, 2).created(gang == "old" ? 1min : 2min).runs_in(pool);
  }
  static SliceBuilder waits(const std::string& gang) { return a_slice(gang + "-2").gang(gang, 2).created(1h); }

  [[nodiscard]] plan::Plan plan_at(Duration now, std::initializer_list<SliceBuilder> slices,
                                   const PlacementOptions& options = {}) const {
    PlacementScene seen = observed({a_pool("pool-a"), a_pool("pool-b")}, slices, now);
    FormerPlaces places;
    for (const char* gang : {"old", "young"}) places.emplace(waits(gang).key(), place_of(waits(gang)));
    seen.places = places;
    seen.remembered.places = std::make_shared<const FormerPlaces>(places);
    return plan_placement(seen, options);
  }

  static std::vector<std::string> deleted_by(const plan::Plan& plan) { return writes_of(plan, "delete Pod"); }
};

TEST_F(TwoGangs, TheYoungerGivesItsDomainsToTheOlder) {
  const auto slices = {runs("old", "pool-a"), waits("old"), runs("young", "pool-b"), waits("young")};
  const plan::Plan waiting = plan_at(1h + 14min, slices);
  EXPECT_THAT(deleted_by(waiting), IsEmpty());
  EXPECT_EQ(waiting.requeue_after, 1min);
  const plan::Plan plan = plan_at(1h + 15min, slices);
  EXPECT_THAT(deleted_by(plan), ElementsAre("delete Pod young-1-0", "delete Pod young-1-1"));
  EXPECT_EQ(reports_of(plan).at(0)->on_success.at(0).message,
            "Slice young-1 of priority 0 is preempted: some slices of its gang wait, and an older gang of which some "
            "wait, too, needs node pool pool-b");
  EXPECT_THAT(writes_of(plan, "patch ConfigMap"), IsEmpty()) << "no part of the preemption budget";
  EXPECT_THAT(deleted_by(plan_at(1h + 15min, slices, {.hold_timeout = 0s})), IsEmpty());
}

TEST_F(TwoGangs, OneThatRunsWholeIsNotPreempted) {
  const SliceBuilder second = a_slice("young-2").gang("young", 2).created(2min).runs_in("pool-c");
  EXPECT_THAT(deleted_by(plan_at(10h, {runs("old", "pool-a"), waits("old"), runs("young", "pool-b"), second})),
              IsEmpty());
}

TEST_F(TwoGangs, OneThatHoldsNothingGetsNothing) {
  EXPECT_THAT(deleted_by(plan_at(10h, {waits("old"), runs("young", "pool-b"), waits("young")})), IsEmpty());
}

TEST_F(TwoGangs, TheHigherPriorityKeepsItsDomains) {
  const plan::Plan plan = plan_at(
      10h, {runs("old", "pool-a"), waits("old"), runs("young", "pool-b").priority(1), waits("young").priority(1)});
  EXPECT_THAT(deleted_by(plan), ElementsAre("delete Pod old-1-0", "delete Pod old-1-1"));
}

TEST_F(TwoGangs, NothingIsGivenBackIfItDoesNotSuffice) {
  const SliceBuilder third = a_slice("old-3").gang("old", 3).created(1h);
  PlacementScene seen = observed({a_pool("pool-a"), a_pool("pool-b")},
                                 {runs("old", "pool-a").gang("old", 3), waits("old").gang("old", 3), third,
                                  runs("young", "pool-b"), waits("young")},
                                 10h);
  EXPECT_THAT(deleted_by(plan_placement(seen, {})), IsEmpty());
}

TEST_F(TwoGangs, ADomainThatDoesNotSuitTheOlderIsKept) {
  const plan::Plan plan = plan_at(
      10h, {runs("old", "pool-a"), waits("old").selects(kGkePool, "pool-a"), runs("young", "pool-b"), waits("young")});
  EXPECT_THAT(deleted_by(plan), IsEmpty());
}

TEST_F(TwoGangs, TheOlderOneIsPlacedBeforeTheYounger) {
  const plan::Plan plan = plan_at(1h + 16min, {runs("old", "pool-a"), waits("old"),
                                               a_slice("young-1").gang("young", 2).created(75min), waits("young")});
  EXPECT_THAT(plan.reason, HasSubstr("slice old-2 of 2 hosts is placed in node pool pool-b"));
}

}  // namespace
}  // namespace tpuslice::placement
