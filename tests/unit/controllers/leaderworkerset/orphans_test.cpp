// Children without an owner, as `kubectl delete --cascade=orphan` leaves them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void orphan(Json& object) { object["metadata"].erase("ownerReferences"); }

std::string owner_of(const Json& object) {
  const std::optional<ControllerRef> owner = Object(object).controller();
  return owner ? owner->uid : "";
}

std::vector<std::string> uids_of(const World& serve) {
  std::vector<std::string> out;
  for (const auto& [name, pod] : serve.pods()) out.push_back(plan::uid_of(pod));
  return out;
}

TEST(Orphans, LeaderSetAndRevisionsAreAdopted) {
  World serve = stable_world();
  const std::vector<std::string> pods = uids_of(serve);
  orphan(serve.leader_set());
  Json& revision = serve.revisions().begin()->second;
  orphan(revision);
  const plan::Plan plan = serve.step();
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("patch LeaderWorkerSet serve status"),
                          ElementsAre(HasSubstr("patch ControllerRevision serve-"), "patch StatefulSet serve")))
      << "the first fails if the set is being deleted";
  EXPECT_EQ(owner_of(serve.leader_set()), "uid-of-serve");
  EXPECT_EQ(owner_of(serve.revisions().begin()->second), "uid-of-serve");
  EXPECT_TRUE(serve.plan().empty()) << to_json(serve.plan()).dump(2);
  EXPECT_EQ(uids_of(serve), pods);
}

TEST(Orphans, AreNotAdoptedWithTheLabelOfAnotherSet) {
  World serve = stable_world();
  orphan(serve.leader_set());
  serve.leader_set()["metadata"]["labels"][std::string(kLwsName)] = "another";
  serve.step();
  EXPECT_EQ(string_at(*find_condition(serve.conditions(), kGroupsHealthy), {"reason"}), "LeaderSetConflict");
}

TEST(Orphans, RevisionsOfAnOwnedLeaderSetAreAdopted) {
  World serve = stable_world();
  orphan(serve.revisions().begin()->second);
  EXPECT_THAT(writes_of(serve.step()),
              ElementsAre("patch LeaderWorkerSet serve status", HasSubstr("patch ControllerRevision serve-")));
  EXPECT_TRUE(serve.plan().empty());
}

TEST(Orphans, WorkerSetIsAdoptedByTheNextLeader) {
  World serve = stable_world();
  orphan(serve.stateful_sets().at("serve-1"));
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve-1"));
  EXPECT_EQ(owner_of(serve.stateful_sets().at("serve-1")), plan::uid_of(serve.pods().at("serve-1")));
  EXPECT_EQ(condition_status(serve.conditions(), kGroupsHealthy), "True");
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(Orphans, WorkerSetOfAnotherRevisionIsAConflict) {
  World serve = stable_world();
  orphan(serve.stateful_sets().at("serve-1"));
  serve.stateful_sets().at("serve-1")["metadata"]["labels"][std::string(kRevisionKey)] = "another";
  EXPECT_THAT(writes_of(serve.step()), IsEmpty());
  EXPECT_EQ(string_at(*find_condition(serve.conditions(), kGroupsHealthy), {"reason"}), "WorkerSetConflict");
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
