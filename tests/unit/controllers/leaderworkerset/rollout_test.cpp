#include "controllers/leaderworkerset/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include <fmt/format.h>

namespace tpuslice::leaderworkerset {
namespace {

/// Groups as StatefulSets make them: what is gone comes back, of the new revision from the partition on.
class Groups {
 public:
  Groups(int replicas, Rollout policy) : replicas_(replicas), policy_(policy) {
    set_ = {replicas, 0, replicas};
    groups_.assign(static_cast<std::size_t>(replicas), {true, false});
  }

  void update_template() {
    is_new_ = true;
    for (RolloutState::GroupState& group : groups_) group.updated = false;
  }
  void change(Rollout policy) { policy_ = policy; }
  void scale(int replicas) { replicas_ = replicas; }
  void be_unready(int index) { at(index).ready = false; }
  /// This one never becomes ready as it is.
  void be_stuck(int index) { at(index).stuck = true; }
  /// Groups of this index never become ready.
  void break_group(int index) { broken_ = index; }

  /// One pass of the controllers; false if nothing is left to be done.
  bool pass() {
    const RolloutStep step = next_step({replicas_, policy_, set_, is_new_, groups_});
    const bool moved = is_new_ || step.partition != set_.partition || step.replicas != set_.replicas ||
                       set_.replicas_without_surge != replicas_;
    is_new_ = false;
    set_ = {step.replicas, step.partition, replicas_};
    const auto before = static_cast<int>(groups_.size());
    groups_.resize(static_cast<std::size_t>(step.replicas));
    for (int i = before; i < step.replicas; ++i) at(i) = {false, i >= step.partition};
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
  /// As if all become ready between two passes.
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
  const char* steps;  ///< "partition/replicas", one after the other.
};
class Sequences : public ::testing::TestWithParam<Sequence> {};

TEST_P(Sequences, AreThoseOfUpstream) {
  Groups groups(GetParam().replicas, GetParam().policy);
  groups.update_template();
  groups.roll();
  EXPECT_EQ(groups.steps(), GetParam().steps);
}

INSTANTIATE_TEST_SUITE_P(Rollout, Sequences,
                         ::testing::Values(Sequence{4, {1, 0, 0}, "4/4 3/4 2/4 1/4 0/4 "},
                                           Sequence{4, {2, 2, 0}, "4/6 0/6 0/4 "},
                                           Sequence{3, {0, 1, 0}, "3/4 2/4 1/4 0/4 0/3 "},
                                           Sequence{4, {2, 0, 1}, "4/4 2/4 1/4 "}));

TEST(RolloutStep, CreatesAllGroupsAtOnce) {
  EXPECT_EQ(next_step({3, {1, 0, 0}, std::nullopt, false, {}}), (RolloutStep{0, 3}));
  EXPECT_EQ(next_step({3, {1, 2, 0}, std::nullopt, false, {}}), (RolloutStep{0, 3})) << "a surge is for updates";
}

TEST(RolloutStep, StaysWhereItIsAtRest) {
  Groups groups(3, {1, 1, 0});
  EXPECT_FALSE(groups.pass());
}

TEST(Rollout, NeedsNoReadySurgeForWhatMayBeUnavailable) {
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

TEST(Rollout, IsScaledOnItsWay) {
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

/// One of the old revision, three that are not ready and a surge of two that are.
Groups in_the_middle() {
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

TEST(Rollout, OfAnotherRevisionOnItsWayKeepsTheSurgeThatIsReady) {
  Groups groups = in_the_middle();
  groups.update_template();
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.picture(), "OoooOO") << "upstream ends both groups of the surge, and one is left";
  groups.make_ready(1);
  groups.pass();
  EXPECT_EQ(groups.picture(), "OOooOn");
  groups.make_all_ready();
  groups.roll();
  EXPECT_EQ(groups.picture(), "NNNN");
}

TEST(Rollout, EndsReadyGroupsOneByOneWhereOthersAreStuckBelowThem) {
  Groups groups = in_the_middle();
  groups.update_template();
  for (int index = 1; index < 4; ++index) groups.be_stuck(index);
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

TEST(Rollout, DoesFirstWhatItMayAnyhowWhereAGroupIsStuck) {
  Groups groups(4, {2, 0, 0});
  groups.be_unready(0);
  groups.be_stuck(0);
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

TEST(Rollout, OfASurgeThatIsTakenBackKeepsItWhileOthersAreNotReady) {
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

TEST(Rollout, ScalesDownToWhatIsReady) {
  Groups groups(5, {1, 0, 0});
  groups.update_template();
  groups.roll();
  groups.be_unready(0);
  groups.be_unready(1);
  groups.scale(3);
  groups.pass();
  groups.pass();
  EXPECT_EQ(groups.picture(), "nnNN") << "with three of them, one would be ready of the two that are promised";
  groups.make_ready(0);
  groups.pass();
  EXPECT_EQ(groups.picture(), "NnN");
}

// Whatever becomes ready when: never fewer groups than promised, never more than allowed, and it comes to an end.
TEST(Rollout, KeepsItsPromises) {
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
    EXPECT_EQ(done.substr(static_cast<std::size_t>(std::min(policy.partition, replicas))),
              std::string(static_cast<std::size_t>(std::max(0, replicas - policy.partition)), 'N'))
        << seed << ": " << groups.steps();
    EXPECT_EQ(groups.count(), replicas) << seed;
  }
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
