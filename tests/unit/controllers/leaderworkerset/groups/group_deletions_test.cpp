#include "controllers/leaderworkerset/groups/group_deletions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Records a restart of group 0 that deletes the leader with that UID.
void record_restart(World& serve, const std::string& leader, Timestamp last) {
  serve.leader_set()["metadata"]["annotations"][std::string(kRestarts)] =
      format_restarts({{0, {leader, 1, last}}}, 2, last, {});
}

TEST(GroupRestarts, BackOffFromNowIfTheLastOneIsInTheFuture) {
  World serve = stable_world();
  record_restart(serve, "uid-of-earlier", serve.now() + 1h);
  serve.restart_container("serve-0-1");
  const plan::Plan first = serve.step();
  EXPECT_THAT(writes_of(first), ElementsAre("patch StatefulSet serve")) << "the record, so that the time counts";
  EXPECT_EQ(first.requeue_after, 10s);
  EXPECT_EQ(read_restarts(string_at(serve.leader_set(), {"metadata", "annotations", kRestarts})).at(0).last,
            serve.now());
  serve.now() += 9s;
  const plan::Plan waiting = serve.plan();
  EXPECT_THAT(writes_of(waiting), IsEmpty());
  EXPECT_EQ(waiting.requeue_after, 1s);
  serve.now() += 1s;
  EXPECT_THAT(writes_of(serve.plan(), "delete Pod"),
              ElementsAre("delete Pod serve-0 Foreground", "delete Pod serve-0-1"));
}

// The operator ended after it had deleted the workers, which are gone.
TEST(GroupRestarts, AreCompletedIfTheRecordedLeaderStillExists) {
  World serve = stable_world();
  record_restart(serve, plan::uid_of(serve.pods().at("serve-0")), serve.now());
  serve.stateful_sets().erase("serve-0");
  serve.pods().erase("serve-0-1");
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), ElementsAre("delete Pod serve-0 Foreground"))
      << "no worker set for a leader that is deleted; the restart is counted already";
  serve.change_set("/spec/leaderWorkerTemplate/restartPolicy", "None");
  EXPECT_THAT(writes_of(serve.plan(), "delete Pod"), IsEmpty());
}

TEST(GroupRestarts, AreNotPendingForAnotherLeader) {
  World serve = stable_world();
  record_restart(serve, "uid-of-earlier", serve.now());
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
