#include "controllers/placement/gang.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/scenes.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// "x" of each lone slice, "x y" of a gang.
std::vector<std::string> order_of(const std::vector<Slice>& ready, const std::vector<Slice>& placed = {}) {
  RunningSlices running;
  for (const Slice& slice : placed) running.emplace(slice.key, &slice);
  std::vector<std::string> out;
  for (const Gang& gang : gangs_in_order(pointers_to(ready), running)) {
    std::string names;
    for (const Slice* slice : gang.slices) names += (names.empty() ? "" : " ") + slice->key.name;
    out.push_back(std::move(names));
  }
  return out;
}

Gang gang_of(const std::vector<Slice>& slices) {
  Gang gang;
  for (const Slice& slice : slices) gang.slices.push_back(&slice);
  return gang;
}

TEST(GangsInOrder, AreByPriorityThenAgeThenName) {
  std::vector<Slice> ready =
      slices_of({a_slice("young").created(9s), a_slice("b").created(1s), a_slice("a").created(1s),
                 a_slice("high").created(1h).priority(7), a_slice("low").priority(-7)});
  for (int turn = 0; turn < 5; ++turn) {
    std::ranges::rotate(ready, ready.begin() + 1);
    EXPECT_THAT(order_of(ready), ElementsAre("high", "a", "b", "young", "low"));
  }
}

TEST(GangsInOrder, CompareTheNamespaceBeforeTheName) {
  EXPECT_THAT(order_of(slices_of({a_slice("a").in("zoo"), a_slice("z").in("ant")})), ElementsAre("z", "a"));
}

TEST(GangsInOrder, PutChosenNodesBeforeOlderSlicesOfTheSamePriorityOnly) {
  EXPECT_THAT(order_of(slices_of({a_slice("old"), a_slice("chosen").created(1h).on({"pool-a-0", "pool-a-1"}),
                                  a_slice("high").created(2h).priority(1)})),
              ElementsAre("high", "chosen", "old"));
}

TEST(GangsInOrder, PutAGangBeforeOthersIfNodesAreChosenForOneOfItsSlices) {
  EXPECT_THAT(order_of(slices_of({a_slice("old"), a_slice("x").gang("g", 2).created(1h),
                                  a_slice("y").gang("g", 2).created(1h).on({"pool-a-0", "pool-a-1"})})),
              ElementsAre("x y", "old"));
}

TEST(GangsInOrder, AreOfOneNamespaceAndName) {
  EXPECT_THAT(order_of(slices_of({a_slice("u").gang("g", 2), a_slice("v").in("team").gang("g", 2),
                                  a_slice("w").gang("h", 2), a_slice("x").gang("g", 2)})),
              ElementsAre("u x", "w", "v"));
}

TEST(GangsInOrder, AreAsOldAsTheirSlicesThatRun) {
  const std::vector<Slice> ready =
      slices_of({a_slice("other").created(1h), a_slice("w").gang("g", 2).created(2h), a_slice("g").created(3h)});
  EXPECT_THAT(order_of(ready), ElementsAre("other", "w", "g"));
  EXPECT_THAT(order_of(ready, slices_of({a_slice("v").gang("g", 2).runs_in("pool-a")})),
              ElementsAre("w", "other", "g"));
}

TEST(GangsInOrder, KeepALoneSliceApartFromAGangOfItsName) {
  EXPECT_THAT(order_of(slices_of({a_slice("g"), a_slice("x").gang("g", 2)})), ElementsAre("g", "x"));
}

TEST(GangsInOrder, UseTheHighestPriorityEvenIfAllAreNegative) {
  const std::vector<Slice> slices =
      slices_of({a_slice("x").gang("g", 2).priority(-9), a_slice("y").gang("g", 2).priority(-2)});
  EXPECT_EQ(gang_of(slices).priority(), -2);
}

TEST(Gang, IsAsOldAsTheFirstPodOfItsOldestSlice) {
  const auto early = [](PodView& pod) { pod.created = after(2s); };
  const std::vector<Slice> slices =
      slices_of({a_slice("x").gang("g", 2).created(5s), a_slice("y").gang("g", 2).created(9s).host(1, early)});
  EXPECT_EQ(gang_of(slices).queued_since(), after(2s));
}

TEST(Gang, CountsPlacedSlicesOfItsNamespaceAndName) {
  const std::vector<Slice> slices = slices_of({a_slice("x").gang("g", 4), a_slice("y").gang("g", 4)});
  const GangCounts placed = {{{"default", "g"}, 2}, {{"team", "g"}, 30}, {{"default", "h"}, 500}};
  EXPECT_EQ(gang_of(slices).size(placed), 4U);
  EXPECT_EQ(gang_of(slices).size({}), 2U);
}

// When a slice ends.

TEST(EndsBy, IsTwoMinutesAfterTheLongestDeadline) {
  const auto shorter = [](PodView& pod) { pod.active_deadline_seconds = 60; };
  EXPECT_EQ(ends_by(a_slice("x").deadline(10min).slice(), after(1h)), after(1h + 12min));
  EXPECT_EQ(ends_by(a_slice("x").deadline(10min).host(0, shorter).slice(), after(0s)), after(12min));
  EXPECT_EQ(ends_by(a_slice("x").deadline(10min).host(1, shorter).slice(), after(0s)), after(12min));
}

TEST(EndsBy, IsUnknownIfAPodHasNoDeadline) {
  const auto unbounded = [](PodView& pod) { pod.active_deadline_seconds.reset(); };
  EXPECT_EQ(ends_by(a_slice("x").slice(), after(0s)), std::nullopt);
  for (const int host : {0, 1}) {
    EXPECT_EQ(ends_by(a_slice("x").deadline(1min).host(host, unbounded).slice(), after(0s)), std::nullopt) << host;
  }
  EXPECT_EQ(ends_by(Slice(), after(0s)), std::nullopt) << "without pods";
}

TEST(EndsBy, IgnoresADeadlineThatIsNoBound) {
  const auto huge = [](PodView& pod) { pod.active_deadline_seconds = std::numeric_limits<std::int64_t>::max(); };
  EXPECT_EQ(ends_by(a_slice("x").deadline(1min).host(1, huge).slice(), after(0s)), std::nullopt);
}

TEST(EndsBy, OfAGangIsThatOfItsLastSlice) {
  const std::vector<Slice> bounded = slices_of({a_slice("x").deadline(5min), a_slice("y").deadline(3min)});
  EXPECT_EQ(gang_of(bounded).ends_by(after(0s)), after(7min));
  const std::vector<Slice> open = slices_of({a_slice("x").deadline(5min), a_slice("y")});
  EXPECT_EQ(gang_of(open).ends_by(after(0s)), std::nullopt);
}

}  // namespace
}  // namespace tpuslice::placement
