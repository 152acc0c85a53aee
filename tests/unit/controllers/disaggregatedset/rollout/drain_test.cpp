#include "controllers/disaggregatedset/rollout/drain.h"

#include <deque>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::disaggregatedset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Drain : public testing::Test {
 protected:
  /// A revision that was created after those before it.
  void add(const std::string& revision, const std::map<std::string, std::int64_t>& replicas) {
    RoleSets& of_revision = revisions_.emplace_back();
    for (const auto& [role, count] : replicas) {
      RoleSet& set = sets_.emplace_back();
      set.role = role;
      set.revision = revision;
      set.replicas = count;
      set.created = Timestamp(std::chrono::seconds(sets_.size()));
      of_revision[role] = &set;
    }
  }
  [[nodiscard]] RoleSet& last() { return sets_.back(); }

  /// "b prefill 1"
  [[nodiscard]] std::vector<std::string> drained(const std::map<std::string, std::int64_t>& budget) const {
    std::vector<std::string> out;
    for (const Scaling& scaling : drain(revisions_, budget)) {
      out.push_back(fmt::format("{} {} {}", scaling.set->revision, scaling.set->role, scaling.replicas));
    }
    return out;
  }

  std::deque<RoleSet> sets_;
  std::vector<RoleSets> revisions_;
};

TEST_F(Drain, TakesFromOneRevision) {
  add("a", {{"decode", 4}, {"prefill", 4}});
  EXPECT_THAT(drained({{"prefill", 1}, {"decode", 2}}), ElementsAre("a decode 2", "a prefill 3"));
}

TEST_F(Drain, TakesFromTheNewestFirst) {
  add("a", {{"decode", 2}, {"prefill", 2}});
  add("b", {{"decode", 3}, {"prefill", 3}});
  EXPECT_THAT(drained({{"prefill", 1}, {"decode", 1}}), ElementsAre("b decode 2", "b prefill 2"));
}

TEST_F(Drain, GoesOnWithTheNextOneWhenOneHasEnded) {
  add("a", {{"decode", 4}, {"prefill", 4}});
  add("b", {{"decode", 2}, {"prefill", 2}});
  EXPECT_THAT(drained({{"prefill", 3}, {"decode", 3}}),
              ElementsAre("b decode 0", "b prefill 0", "a decode 3", "a prefill 3"));
}

TEST_F(Drain, EndsAllRolesOfARevisionThatLosesOne) {
  add("a", {{"decode", 6}, {"prefill", 1}});
  EXPECT_THAT(drained({{"prefill", 1}, {"decode", 1}}), ElementsAre("a decode 0", "a prefill 0"));
}

TEST_F(Drain, DoesNotCountWhatARoleLosesBecauseAnotherEnds) {
  add("a", {{"decode", 4}, {"prefill", 4}});
  add("b", {{"decode", 4}, {"prefill", 1}});
  // Two of decode are still to be taken, from the older revision.
  EXPECT_THAT(drained({{"prefill", 1}, {"decode", 2}}), ElementsAre("b decode 0", "b prefill 0", "a decode 2"));
}

TEST_F(Drain, DoesNotEndARevisionThatLacksARole) {
  add("a", {{"decode", 4}});
  EXPECT_THAT(drained({{"prefill", 1}, {"decode", 1}}), ElementsAre("a decode 3"));
}

TEST_F(Drain, DoesNotEndARevisionForARoleThatNeverHadReplicas) {
  add("a", {{"decode", 4}, {"prefill", 0}});
  EXPECT_THAT(drained({{"decode", 1}}), ElementsAre("a decode 3"));
}

TEST_F(Drain, EndsTheOtherRolesOfARevisionThatLostOne) {
  add("a", {{"decode", 4}, {"prefill", 0}});
  last().initial_replicas = 2;
  EXPECT_THAT(drained({{"decode", 1}}), ElementsAre("a decode 0"));
}

TEST_F(Drain, LeavesOutWhatIsBeingDeleted) {
  add("a", {{"decode", 4}, {"prefill", 4}});
  last().terminating = true;
  EXPECT_THAT(drained({{"prefill", 1}, {"decode", 1}}), ElementsAre("a decode 3"));
}

TEST_F(Drain, TakesNothingWithoutABudget) {
  add("a", {{"decode", 4}, {"prefill", 0}});
  EXPECT_THAT(drained({{"prefill", 0}, {"decode", 0}}), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
