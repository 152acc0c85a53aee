#include "controllers/raycluster/head_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class HeadPlan : public testing::Test {
 protected:
  Changes plan() const { return plan_head(RayClusterSpec::read(cluster_), heads_, {}); }

  const Object cluster_ = Object(tutorial_cluster());
  std::vector<PodPtr> heads_{share(a_head(cluster_))};
};

TEST_F(HeadPlan, CreatesTheHead) {
  heads_.clear();
  const Changes out = plan();
  ASSERT_THAT(out.creates, SizeIs(1));
  EXPECT_EQ(out.creates[0].failure_reason, "FailedCreateHeadPod");
  EXPECT_EQ(out.events[0].reason, "CreatedHeadPod");
}

TEST_F(HeadPlan, LeavesALivingHeadAlone) {
  EXPECT_THAT(plan().creates, IsEmpty());
  EXPECT_THAT(plan().deletes, IsEmpty());
}

TEST_F(HeadPlan, DeletesADeadHeadAndRecreatesItWhenItIsGone) {
  change(heads_[0], [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(plan().deletes, SizeIs(1));
  EXPECT_THAT(plan().creates, IsEmpty());
  change(heads_[0], [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(plan().deletes, IsEmpty());
  EXPECT_THAT(plan().creates, IsEmpty());
}

TEST_F(HeadPlan, KeepsTheOldestOfSeveralHeads) {
  PodView younger = *heads_[0];
  younger.key.name = "younger";
  younger.created = a_time();
  heads_.insert(heads_.begin(), share(younger));
  const Changes out = plan();
  ASSERT_THAT(out.deletes, SizeIs(1));
  EXPECT_EQ(out.deletes[0].key.name, "younger");
}

TEST_F(HeadPlan, KeepsALivingHeadBesideAnOlderDeadOne) {
  PodView dead = *heads_[0];
  dead.key.name = "dead";
  dead.phase = PodPhase::kFailed;
  heads_.push_back(share(dead));
  const Changes out = plan();
  ASSERT_THAT(out.deletes, SizeIs(1));
  EXPECT_EQ(out.deletes[0].key.name, "dead");
}

}  // namespace
}  // namespace tpuslice::raycluster
