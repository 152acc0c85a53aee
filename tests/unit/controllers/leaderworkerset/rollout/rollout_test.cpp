#include "controllers/leaderworkerset/rollout/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>

namespace tpuslice::leaderworkerset {
namespace {

/// Simulates groups: from the partition upwards they are recreated with the new revision.
class Groups {
 public:
  Groups(int replicas, Rollout policy) : replicas_(replicas), policy_(policy) {
    set_ = {replicas, 0, replicas};
    groups_.assign(static_cast<std::size_t>(replicas), {true, true});
  }

  /// New groups, which are not ready yet.
  static Groups created(int replicas, Rollout policy) {
    Groups groups(replicas, policy);
    groups.set_.partition = policy.partition;
    for (RolloutState::GroupState& group : groups.groups_) group.ready = false;
    return groups;
  }

  void update_template() {
    is_new_ = true;
    for (RolloutState::GroupState& group : groups_) {
      group.updated = false;
      group.outdated = true;
    }
  }
  void change(Rollout policy) { policy_ = policy; }
  void scale(int replicas) { replicas_ = replicas; }
  void make_unready(int index) { at(index).ready = false; }
  void make_stuck(int index) { at(index).stuck = true; }
  /// This group never becomes ready again.
  void break_group(int index) { broken_ = index; }

  /// One plan; returns whether it changed anything.
  bool pass() {
    const RolloutStep step = next_step({replicas_, policy_, set_, is_new_, groups_});
    const bool moved = is_new_ || step.partition != set_.partition || step.replicas != set_.replicas ||
                       set_.replicas_without_surge != replicas_;
    is_new_ = false;
    set_ = {step.replicas, step.partition, replicas_};
    const auto before = static_cast<int>(groups_.size());
    groups_.resize(static_cast<std::size_t>(step.replicas));
    for (int i = before; i < step.replicas; ++i) at(i) = {false, i >= step.partition, i < step.partition};
    for (int i = step.partition; i < step.replicas; ++i) {
      if (!at(i).updated) at(i) = {false, true};
    }
    if (moved) steps_.push_back(step);
    return moved;
  }
  void make_ready(int index) {
    if (index != broken_) at(index).ready = true;
  }
  void make_all_ready() {
    for (int i = 0; i < static_cast<int>(groups_.size()); ++i) make_ready(i);
  }
  /// Plans until nothing changes; all groups become ready between two plans.
  void roll() {
    for (int i = 0; i < 100 && pass(); ++i) make_all_ready();
  }

  [[nodiscard]] int ready() const {
    return static_cast<int>(std::ranges::count_if(groups_, [](const auto& group) { return group.ready; }));
  }
  [[nodiscard]] int count() const { return static_cast<int>(groups_.size()); }
  [[nodiscard]] std::string steps() const {
    std::string out;
    for (const RolloutStep& step : steps_) out += fmt::format("{}/{} ", step.partition, step.replicas);
    return out;
  }
  [[nodiscard]] std::string picture() const {
    std::string out;
    for (const auto& group : groups_) out += group.updated ? (group.ready ? "N" : "n") : (group.ready ? "O" : "o");
    return out;
  }

 private:
  RolloutState::GroupState& at(int index) { return groups_[static_cast<std::size_t>(index)]; }

  int replicas_;
  Rollout policy_;
  RolloutState::LeaderSet set_;
  bool is_new_ = false;
  int broken_ = -1;
  std::vector<RolloutState::GroupState> groups_;
  std::vector<RolloutStep> steps_;
};

struct Sequence {
  int replicas;
  Rollout policy;
  const char* steps;  ///< "partition/replicas" of each step.
};
class Sequences : public ::testing::TestWithParam<Sequence> {};

TEST_P(Sequences, AreUpstreams) {
  Groups groups(GetParam().replicas, GetParam().policy);
  groups.update_template();
  groups.roll();
  EXPECT_EQ(groups.steps(), GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(Rollout, Sequences,
                         ::testing::Values(Sequence{4, {1, 0, 0}, "4/4 3/4 2/4 1/4 0/4 "},
                                           Sequence{4, {2, 2, 0}, "4/6 0/6 0/4 "},
                                           Sequence{3, {0, 1, 0}, "3/4 2/4 1/4 0/4 0/3 "},
                                           Sequence{4, {2, 0, 1}, "4/4 2/4 1/4 "}, Sequence{3, {1, 1, 2}, "3/4 2/4 "},
                                           Sequence{4, {0, 2, 1}, "4/6 2/6 1/6 1/5 "},
                                           Sequence{4, {1, 2, 1}, "4/6 1/6 1/4 "}));

TEST(RolloutStep, CreatesAllGroupsAtOnce) {
  EXPECT_EQ(next_step({3, {1, 0, 0}, std::nullopt, false, {}}), (RolloutStep{0, 3}));
  EXPECT_EQ(next_step({3, {1, 2, 0}, std::nullopt, false, {}}), (RolloutStep{0, 3})) << "only updates surge";
}

TEST(RolloutStep, ChangesNothingWithoutAnUpdate) {
  Groups groups(3, {1, 1, 0});
  EXPECT_FALSE(groups.pass());
}

TEST(Rollout, UsesMaxUnavailableBeforeTheSurgeIsReady) {
  Groups groups(4, {2, 2, 0});
  groups.update_template();
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.steps(), "4/6 2/6 ");
  EXPECT_EQ(groups.picture(), "OOnnnn");
  groups.pass();
  EXPECT_EQ(groups.steps(), "4/6 2/6 ");
  groups.make_all_ready();
  groups.roll();
  EXPECT_EQ(groups.steps(), "4/6 2/6 0/4 ");
}

TEST(Rollout, KeepsTheSurgeUntilThePartitionIsLowered) {
  Groups groups(4, {0, 1, 2});
  groups.update_template();
  groups.roll();
  EXPECT_EQ(groups.picture(), "OONNN");
  EXPECT_FALSE(groups.pass());
  groups.change({0, 1, 0});
  groups.roll();
  EXPECT_EQ(groups.steps(), "4/5 3/5 2/5 1/5 0/5 0/4 ") << "the update continues with the same surge group";
}

TEST(Rollout, GivesUpTheSurgeIfMaxSurgeIsSetToZero) {
  Groups groups(4, {1, 1, 2});
  groups.update_template();
  groups.roll();
  EXPECT_EQ(groups.picture(), "OONNN");
  groups.change({1, 0, 2});
  groups.roll();
  EXPECT_EQ(groups.picture(), "OONN");
}

// Upstream creates surge groups in these cases (kubernetes-sigs/lws#614).
TEST(Rollout, CreatesNoSurgeBesideAPartitionWithoutAnUpdate) {
  for (const int partition : {1, 3, 9}) {
    Groups created = Groups::created(4, {0, 2, partition});
    EXPECT_FALSE(created.pass()) << partition;
    created.make_all_ready();
    created.make_unready(3);
    EXPECT_FALSE(created.pass()) << partition;
  }
  Groups groups(4, {1, 2, 9});
  groups.update_template();
  groups.roll();
  EXPECT_EQ(groups.picture(), "OOOO") << "no group is above the partition";
}

TEST(Rollout, StopsAtAGroupThatNeverBecomesReady) {
  Groups groups(4, {1, 0, 0});
  groups.break_group(2);
  groups.update_template();
  groups.roll();
  EXPECT_EQ(groups.steps(), "4/4 3/4 2/4 ");
  EXPECT_EQ(groups.picture(), "OOnN");
  groups.break_group(-1);
  groups.make_all_ready();
  groups.roll();
  EXPECT_EQ(groups.picture(), "NNNN");
}

TEST(Rollout, CanBeScaled) {
  Groups groups(4, {1, 0, 0});
  groups.update_template();
  groups.pass();
  groups.make_all_ready();
  groups.pass();
  EXPECT_EQ(groups.picture(), "OOOn");
  groups.scale(6);
  groups.roll();
  EXPECT_EQ(groups.picture(), "NNNNNN");
  groups.update_template();
  groups.pass();
  groups.scale(2);
  groups.roll();
  EXPECT_EQ(groups.picture(), "NN");
}

/// One group of the old revision, three updated but not ready, and two ready surge groups.
Groups half_updated() {
  Groups groups(4, {1, 2, 0});
  groups.update_template();
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.picture(), "OOOnnn");
  groups.make_ready(4);
  groups.make_ready(5);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OnnnNN");
  return groups;
}

TEST(Rollout, ToAnotherRevisionKeepsReadySurgeGroups) {
  Groups groups = half_updated();
  groups.update_template();
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.picture(), "OoooOO") << "upstream deletes both surge groups, so only one group is ready";
  groups.make_ready(1);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OOooOn");
  groups.make_all_ready();
  groups.roll();
  EXPECT_EQ(groups.picture(), "NNNN");
}

TEST(Rollout, UpdatesReadyGroupsOneByOneAboveStuckOnes) {
  Groups groups = half_updated();
  groups.update_template();
  for (int index = 1; index < 4; ++index) groups.make_stuck(index);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OoooOO");
  groups.pass();
  EXPECT_EQ(groups.picture(), "OoooOn");
  groups.pass();
  EXPECT_EQ(groups.picture(), "OoooOn");
  groups.make_ready(5);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OooonN");
  groups.make_ready(4);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OnnnNN");
}

TEST(Rollout, UsesMaxUnavailableBeforeItUpdatesOneByOneAboveAStuckGroup) {
  Groups groups(4, {2, 0, 0});
  groups.make_unready(0);
  groups.make_stuck(0);
  groups.update_template();
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.picture(), "oOOn");
  groups.pass();
  EXPECT_EQ(groups.picture(), "oOOn");
  groups.make_ready(3);
  groups.pass();
  EXPECT_EQ(groups.picture(), "oOnN");
  groups.make_ready(2);
  groups.pass();
  EXPECT_EQ(groups.picture(), "nnNN");
}

TEST(Rollout, KeepsSurgeGroupsAfterMaxSurgeIsLoweredWhileOthersAreNotReady) {
  Groups groups(4, {1, 2, 0});
  groups.update_template();
  groups.pass();
  groups.pass();
  groups.make_ready(4);
  groups.make_ready(5);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OnnnNN");
  groups.change({1, 0, 0});
  groups.pass();
  EXPECT_EQ(groups.picture(), "OnnnNN");
  groups.make_ready(1);
  groups.make_ready(2);
  groups.pass();
  EXPECT_EQ(groups.picture(), "ONNn");
  groups.make_all_ready();
  groups.roll();
  EXPECT_EQ(groups.picture(), "NNNN");
}

TEST(Rollout, ScalesDownOnlyAsFarAsEnoughGroupsAreReady) {
  Groups groups(5, {1, 0, 0});
  groups.update_template();
  groups.roll();
  groups.make_unready(0);
  groups.make_unready(1);
  groups.scale(3);
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.picture(), "nnNN") << "with three groups, one would be ready, but two are required";
  groups.make_ready(0);
  groups.pass();
  EXPECT_EQ(groups.picture(), "NnN");
}

// Groups become ready in random order.
TEST(Rollout, RespectsMaxUnavailableAndMaxSurgeAndFinishes) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int last) { return static_cast<int>(random() % static_cast<unsigned>(last + 1)); };
    const int replicas = 1 + pick(6);
    Rollout policy{pick(3), std::min(pick(3), replicas), 0};
    if (policy.max_unavailable + policy.max_surge == 0) policy.max_unavailable = 1;
    if (pick(3) == 0) policy.partition = pick(replicas);
    Groups groups(replicas, policy);
    groups.update_template();
    for (int step = 0; step < 400; ++step) {
      groups.pass();
      ASSERT_GE(groups.ready(), replicas - policy.max_unavailable)
          << seed << ": " << groups.steps() << groups.picture();
      ASSERT_LE(groups.count(), replicas + policy.max_surge) << seed << ": " << groups.steps();
      groups.make_ready(pick(groups.count() - 1));
      if (pick(60) == 0) groups.update_template();
    }
    groups.make_all_ready();
    groups.roll();
    const std::string done = groups.picture();
    const int old = std::min(policy.partition, replicas);
    EXPECT_EQ(done.substr(static_cast<std::size_t>(old), static_cast<std::size_t>(replicas - old)),
              std::string(static_cast<std::size_t>(replicas - old), 'N'))
        << seed << ": " << groups.steps();
    // Groups below the partition keep the surge.
    const int kept = old > policy.max_surge ? policy.max_surge : std::max(0, old - policy.max_unavailable);
    const int surge = policy.partition < replicas ? kept : 0;
    EXPECT_EQ(groups.count(), replicas + surge) << seed << ": " << groups.steps() << done;
  }
}

// Users may edit the leader set.
TEST(Rollout, TakesNoLongerForAPartitionBeyondAllGroups) {
  RolloutState state{3, {1, 0, 0}, std::nullopt, false, {}};
  state.leader_set = {3, std::numeric_limits<int>::max(), 3};
  state.groups.assign(3, {false, false, false});
  EXPECT_EQ(next_step(state).replicas, 3);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
