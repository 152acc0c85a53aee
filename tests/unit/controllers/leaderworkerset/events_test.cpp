// The events of plans: reasons, actions and messages as upstream's controller records them.
#include "controllers/leaderworkerset/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::leaderworkerset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const plan::EventIntent& event) {
  const char* type = event.type == plan::EventType::kNormal ? "Normal" : "Warning";
  return fmt::format("{} {} {}: {}", type, event.reason, event.action, event.message);
}

/// Events that are recorded if the plan succeeds.
std::vector<std::string> normal_events_of(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::EventIntent& event : plan::events_of(plan)) {
    EXPECT_FALSE(event.regarding) << "they are about the LeaderWorkerSet";
    if (event.type == plan::EventType::kNormal) out.push_back(text_of(event));
  }
  return out;
}

/// Events that are recorded if all writes fail.
std::vector<std::string> warnings_of(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::EventIntent& event : plan::events_of(plan)) {
    if (event.type == plan::EventType::kWarning) out.push_back(text_of(event));
  }
  return out;
}

std::string reasons_of(const std::vector<plan::EventIntent>& events) {
  std::vector<std::string> reasons;
  for (const plan::EventIntent& event : events) reasons.push_back(event.reason);
  return fmt::format("{}", fmt::join(reasons, ", "));
}

/// "create StatefulSet serve: GroupsProgressing / FailedCreate" for each action: the reasons of its events after
/// success and after failure.
std::vector<std::string> events_of_actions(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      out.push_back(write_of(action));
      if (action.events == nullptr) continue;
      out.back() +=
          fmt::format(": {} / {}", reasons_of(action.events->on_success), reasons_of(action.events->on_failure));
    }
  }
  return out;
}

/// "delete Pod serve-0 Foreground" for each action whose success is counted as a restart.
std::vector<std::string> counted_restarts(const plan::Plan& plan) {
  EXPECT_THAT(plan.measurements, IsEmpty()) << "they would be counted whatever becomes of the actions";
  std::vector<std::string> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.events == nullptr) continue;
      for (const plan::Measurement& measured : action.events->measurements) {
        EXPECT_EQ(measured.name, kGroupRestarts.name);
        out.push_back(write_of(action));
      }
    }
  }
  return out;
}

plan::Plan first_plan() { return World(a_set("serve").replicas(2).size(2).json()).plan(); }

/// Sets replicas and partition of the live leader set, and the revision that its groups are to have.
void set_rollout(World& world, int replicas, int partition, const std::string& key = {}) {
  Json& set = world.leader_set();
  set["spec"]["replicas"] = replicas;
  set["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = partition;
  if (!key.empty()) set["metadata"]["labels"][std::string(kRevisionKey)] = key;
}

TEST(LeaderWorkerSetEvents, NameWhatIsCreatedFirst) {
  const plan::Plan plan = first_plan();
  EXPECT_THAT(normal_events_of(plan),
              ElementsAre("Normal CreatingRevision Create: Creating revision with key 579d85486f for a newly created "
                          "LeaderWorkerSet",
                          "Normal GroupsProgressing Create: Created leader statefulset serve",
                          "Normal GroupsProgressing Update: Replicas are progressing, with 0 groups ready of total 2 "
                          "groups"));
  EXPECT_THAT(warnings_of(plan),
              ElementsAre("Warning FailedCreate Create: Failed to create ControllerRevision serve-579d85486f-1:",
                          "Warning FailedCreate Create: Failed to create headless service for error:",
                          "Warning FailedCreate Create: Failed to create leader statefulset serve:"));
  EXPECT_EQ(plan::events_of(plan).front().related->kind, "ControllerRevision");
}

TEST(LeaderWorkerSetEvents, NameTheLeaderOfANewWorkerSet) {
  World serve = stable_world();
  serve.stateful_sets().erase("serve-1");
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(normal_events_of(plan),
              Contains("Normal GroupsProgressing Create: Created worker statefulset for leader pod serve-1"));
  EXPECT_THAT(warnings_of(plan), ElementsAre("Warning FailedCreate Create: Failed to create worker statefulset for "
                                             "leader pod serve-1:"));
  ASSERT_THAT(events_of_actions(plan), ElementsAre("create StatefulSet serve-1: GroupsProgressing / FailedCreate"));
  const plan::Action creation = action_of(plan, "create StatefulSet serve-1");
  const std::string leader = plan::uid_of(serve.pods().at("serve-1"));
  EXPECT_EQ(creation.events->on_success[0].related->uid, leader);
  EXPECT_EQ(creation.events->on_failure[0].related->uid, leader);
}

TEST(LeaderWorkerSetEvents, AreOfTheWorkerSetAndNotOfTheServiceWithItsName) {
  World serve =
      stable_world(a_set("serve").replicas(1).size(2).set("/spec/networkConfig/subdomainPolicy", "UniquePerReplica"));
  serve.stateful_sets().erase("serve-0");
  serve.services().erase("serve-0");
  EXPECT_THAT(events_of_actions(serve.plan()),
              ElementsAre("create Service serve-0:  / FailedCreate",
                          "create StatefulSet serve-0: GroupsProgressing / FailedCreate"));
}

TEST(LeaderWorkerSetEvents, AreOfTheActionThatTheyAreAbout) {
  const plan::Plan first = first_plan();
  EXPECT_THAT(events_of_actions(first),
              ElementsAre("create ControllerRevision serve-579d85486f-1: CreatingRevision / FailedCreate",
                          "create Service serve:  / FailedCreate",
                          "create StatefulSet serve: GroupsProgressing / FailedCreate"));
  EXPECT_EQ(reasons_of(first.events), "GroupsProgressing") << "the condition, whatever becomes of the actions";
  World scaled_down = stable_world();
  set_rollout(scaled_down, 3, 0);
  EXPECT_THAT(events_of_actions(scaled_down.plan()),
              ElementsAre("patch StatefulSet serve: GroupsProgressing / FailedUpdate"));
}

TEST(LeaderWorkerSetEvents, CountARestartOnceTheLeaderIsDeleted) {
  World serve = stable_world();
  serve.restart_container("serve-0-1");
  const plan::Plan restart = serve.plan();
  EXPECT_THAT(
      events_of_actions(restart),
      ElementsAre("patch StatefulSet serve:  / FailedUpdate", "delete StatefulSet serve-0 Foreground:  / FailedUpdate",
                  "delete Pod serve-0 Foreground: RecreateGroup / FailedUpdate", "delete Pod serve-0-1"));
  EXPECT_THAT(counted_restarts(restart), ElementsAre("delete Pod serve-0 Foreground"));
}

TEST(LeaderWorkerSetEvents, DoNotCountAnUpdateAsARestart) {
  World serve = stable_world(a_set("serve").replicas(1).size(1));
  const std::string second = serve.add_update("second");
  set_rollout(serve, 1, 0, second);
  const plan::Plan update = serve.plan();
  EXPECT_THAT(events_of_actions(update), Contains("delete Pod serve-0 Foreground:  / FailedUpdate"));
  EXPECT_THAT(counted_restarts(update), IsEmpty());
}

TEST(LeaderWorkerSetEvents, FollowTheConditions) {
  World serve = stable_world();
  serve.set_ready("serve-0", false);
  EXPECT_THAT(normal_events_of(serve.step()),
              ElementsAre("Normal GroupsProgressing Update: Replicas are progressing, with 1 groups ready of total 2 "
                          "groups"));
  serve.set_ready("serve-1", false);
  EXPECT_THAT(normal_events_of(serve.step()), IsEmpty()) << "no condition changed";
  for (const char* leader : {"serve-0", "serve-1"}) serve.set_ready(leader, true);
  const char* ready = "Normal AllGroupsReady Update: All replicas are ready, with 2 groups ready of total 2 groups";
  EXPECT_THAT(normal_events_of(serve.step()), ElementsAre(ready));
  EXPECT_THAT(normal_events_of(serve.step()), IsEmpty());
  serve.change_set("/metadata/generation", 2);
  EXPECT_THAT(normal_events_of(serve.step()), ElementsAre(ready));
}

TEST(LeaderWorkerSetEvents, NameTheGroupsThatAreUpdated) {
  World serve = stable_world(a_set("serve").replicas(4).size(1).rollout(2, 0));
  serve.change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "second");
  EXPECT_THAT(normal_events_of(serve.step()),
              ElementsAre("Normal CreatingRevision Create: Creating revision with key 84c68db7b9 for updated LWS",
                          "Normal GroupsUpdating Update: Rolling Upgrade is in progress, with 4 groups ready of total "
                          "4 groups"));
  EXPECT_THAT(normal_events_of(serve.plan()),
              ElementsAre("Normal GroupsUpdating Update: Updating replicas 2 to 3 (inclusive)"));
  set_rollout(serve, 4, 3);
  EXPECT_THAT(normal_events_of(serve.plan()), ElementsAre("Normal GroupsUpdating Update: Updating replica 2"));
  set_rollout(serve, 4, 99);
  EXPECT_THAT(normal_events_of(serve.plan()),
              ElementsAre("Normal GroupsUpdating Update: Updating replicas 2 to 3 (inclusive)"))
      << "there are no others";
}

TEST(LeaderWorkerSetEvents, NameTheSurgeGroupsThatAreDeleted) {
  World serve = stable_world();
  set_rollout(serve, 3, 0);
  EXPECT_THAT(normal_events_of(serve.plan()),
              ElementsAre("Normal GroupsProgressing Delete: deleting surge replica serve-2"));
  set_rollout(serve, 5, 0);
  EXPECT_THAT(normal_events_of(serve.plan()),
              ElementsAre("Normal GroupsProgressing Delete: deleting surge replicas from serve-2 to serve-4"));
}

TEST(LeaderWorkerSetEvents, NameThePodThatFailedAndTheLeaderThatIsDeleted) {
  World serve = stable_world();
  serve.restart_container("serve-0-1");
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(normal_events_of(plan),
              ElementsAre("Normal RecreateGroup Delete: Worker pod serve-0-1 failed, deleted leader "
                          "pod serve-0 to recreate group 0"));
  EXPECT_THAT(warnings_of(plan), Contains("Warning FailedUpdate Delete: Failed to delete Pod serve-0:"));
  World replaced = stable_world();
  replaced.pods().at("serve-0-1")["metadata"]["uid"] = "uid-of-another";
  EXPECT_THAT(normal_events_of(replaced.plan()),
              ElementsAre("Normal RecreateGroup Delete: Deleted leader pod serve-0 to "
                          "recreate group 0: one of its pods was replaced"))
      << "upstream does not restart the group";
}

TEST(LeaderWorkerSetEvents, NameARevisionThatWasDeleted) {
  World serve = stable_world();
  serve.revisions().clear();
  EXPECT_THAT(normal_events_of(serve.plan()),
              ElementsAre("Normal CreatingRevision Create: Creating missing revision with key 579d85486f for existing "
                          "LeaderWorkerSet"));
}

TEST(LeaderWorkerSetEvents, NameTheWriteThatFailed) {
  World serve = stable_world();
  for (auto& [name, set] : serve.stateful_sets()) set["spec"]["replicas"] = 7;
  EXPECT_THAT(warnings_of(serve.plan()),
              ElementsAre("Warning FailedUpdate Update: Failed to update leader statefulset serve:",
                          "Warning FailedUpdate Update: Failed to update StatefulSet serve-0:",
                          "Warning FailedUpdate Update: Failed to update StatefulSet serve-1:"));
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
