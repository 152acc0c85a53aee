#include "controllers/leaderworkerset/leaderworkerset_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/rollout/revisions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/leader_set.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/support/leaderworkerset/world.h"
#include "tests/support/plan_matchers.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// "GroupsHealthy=True" of each condition, without prefixes.
std::vector<std::string> statuses(const Json& conditions) {
  std::vector<std::string> out;
  for (const Json& condition : conditions) {
    const std::string type = string_at(condition, {"type"});
    out.push_back(fmt::format("{}={}", type.substr(type.rfind('/') + 1), string_at(condition, {"status"})));
  }
  return out;
}

TEST(LeaderWorkerSetPlan, CreatesRevisionServiceAndLeaderSetFirst) {
  const plan::Plan plan = World(a_set("serve").replicas(2).size(2).json()).plan();
  const std::vector<std::string> all = writes_of(plan);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], HasSubstr("create ControllerRevision serve-"));
  EXPECT_EQ(all[1], "create Service serve");
  EXPECT_EQ(all[2], "create StatefulSet serve");
  EXPECT_EQ(plan.stages.size(), 2U) << "the revision is created before the leader set refers to it";
  EXPECT_EQ(condition_status(plan.status->status["conditions"], kProgressing), "True");
}

TEST(LeaderWorkerSetPlan, IsProgressingButNotUpdatingForNewGroups) {
  World serve(a_set("serve").replicas(2).size(2).json());
  serve.step();
  serve.advance();
  const plan::Plan plan = serve.plan();
  const Json& conditions = plan.status->status["conditions"];
  EXPECT_EQ(condition_status(conditions, kProgressing), "True");
  EXPECT_EQ(condition_status(conditions, kUpdateInProgress), "");
  EXPECT_EQ(condition_status(conditions, kAvailable), "");
}

TEST(LeaderWorkerSetPlan, RecordsTheMembersOfCompleteGroupsAndIsThenEmpty) {
  World serve(a_set("serve").replicas(2).size(2).json());
  for (int i = 0; i < 2; ++i) {
    serve.step();
    serve.advance();
  }
  EXPECT_THAT(writes_of(serve.step()), ElementsAre("patch StatefulSet serve-0", "patch StatefulSet serve-1"));
  for (int i = 0; i < 3; ++i) {
    const plan::Plan plan = serve.plan();
    EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
    EXPECT_FALSE(plan.requeue_after);
  }
}

TEST(LeaderWorkerSetPlan, CreatesTheWorkerSetOfALeader) {
  World serve = stable_world();
  serve.stateful_sets().erase("serve-1");
  serve.pods().erase("serve-1-1");
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-1"));
  serve.change_set("/spec/startupPolicy", "LeaderReady");
  serve.set_ready("serve-1", false);
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty()) << "the leader is not ready";
  serve.set_ready("serve-1", true);
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-1"));
}

TEST(LeaderWorkerSetPlan, CreatesTheWorkerSetOfALeaderBeyondTheReplicas) {
  World serve = stable_world();
  Json leader = serve.pods().at("serve-1");
  leader["metadata"]["name"] = "serve-2";
  serve.add(kPods, std::move(leader));
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-2"));
  serve.restart_container("serve-2");
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-2"))
      << "the StatefulSet controller deletes it, so it is not restarted";
  serve.terminate_pod("serve-2");
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(LeaderWorkerSetPlan, WaitsForTheWorkersOfAPreviousLeader) {
  World serve = stable_world();
  serve.pods().at("serve-1")["metadata"]["uid"] = "uid-of-another-leader";
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  EXPECT_EQ(condition_status(serve.conditions(), kGroupsHealthy), "True");
}

TEST(LeaderWorkerSetPlan, ReportsAStatefulSetOfAnotherOwnerWithTheNameOfAWorkerSet) {
  World serve = stable_world();
  serve.add(kStatefulSets, {{"apiVersion", "apps/v1"},
                            {"kind", "StatefulSet"},
                            {"metadata", {{"name", "serve-1"}, {"namespace", "default"}}}});
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  const Json* healthy = find_condition(plan.status->status["conditions"], kGroupsHealthy);
  ASSERT_NE(healthy, nullptr);
  EXPECT_EQ(string_at(*healthy, {"reason"}), "WorkerSetConflict");
  EXPECT_THAT(string_at(*healthy, {"message"}), HasSubstr("StatefulSet serve-1 does not belong to this set"));
  EXPECT_TRUE(plan.requeue_after);
}

TEST(LeaderWorkerSetPlan, ReportsAServiceOfAnotherOwnerThatDoesNotSelectThePods) {
  World serve = stable_world();
  Json& service = serve.services().at("serve");
  service["metadata"].erase("ownerReferences");
  service["spec"]["selector"] = {{"app", "other"}};
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  const Json* healthy = find_condition(plan.status->status["conditions"], kGroupsHealthy);
  ASSERT_NE(healthy, nullptr);
  EXPECT_EQ(string_at(*healthy, {"reason"}), "ServiceConflict");
  EXPECT_THAT(string_at(*healthy, {"message"}),
              AllOf(HasSubstr("service default/serve has no controller"), HasSubstr("delete or rename it")));
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry);
}

TEST(LeaderWorkerSetPlan, WritesNoChildrenIfTheLeaderSetHasAnotherOwner) {
  World serve(a_set("serve").json());
  serve.add(kStatefulSets, {{"apiVersion", "apps/v1"},
                            {"kind", "StatefulSet"},
                            {"metadata", {{"name", "serve"}, {"namespace", "default"}}}});
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  const Json& conditions = plan.status->status["conditions"];
  EXPECT_THAT(statuses(conditions),
              ElementsAre("Accepted=True", "GroupsHealthy=False", "SlicesPlaced=False", "ContainersStarted=False"));
  EXPECT_EQ(string_at(*find_condition(conditions, kGroupsHealthy), {"reason"}), "LeaderSetConflict");
}

TEST(LeaderWorkerSetPlan, WaitsForTheLeaderSetOfADeletedSetOfItsName) {
  World serve(a_set("serve").json());
  Json earlier = build_leader_set(serve.spec(), {"a", 1, 0});
  earlier["metadata"]["ownerReferences"][0]["uid"] = "uid-of-deleted";
  serve.add(kStatefulSets, std::move(earlier));
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty()) << "the garbage collector deletes it";
  EXPECT_THAT(plan::events_of(plan), IsEmpty());
  EXPECT_EQ(string_at(*find_condition(plan.status->status["conditions"], kGroupsHealthy), {"reason"}),
            "LeaderSetTerminating");
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry);
}

TEST(LeaderWorkerSetPlan, IgnoresObjectsWithNamesOfGroupsThatCannotExist) {
  World serve = stable_world();
  serve.add(
      kStatefulSets,
      {{"apiVersion", "apps/v1"},
       {"kind", "StatefulSet"},
       {"metadata",
        {{"name", "serve-2147483647"}, {"namespace", "default"}, {"labels", {{std::string(kLwsName), "serve"}}}}}});
  Json forged = serve.pods().at("serve-0");
  forged["metadata"]["name"] = "serve-2147483646";
  serve.add(kPods, std::move(forged));
  const plan::Plan plan = serve.plan();
  EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
}

TEST(LeaderWorkerSetPlan, ReconcilesASetThatWasScaledToWhereAPercentageIsZero) {
  World serve = stable_world();
  serve.change_set("/spec/rolloutStrategy", {{"rollingUpdateConfiguration", {{"maxUnavailable", "50%"}}}});
  serve.change_set("/spec/replicas", 1);
  EXPECT_THAT(writes_of(serve.step()), ElementsAre("patch StatefulSet serve"));
  EXPECT_EQ(condition_status(serve.conditions(), plan::kAccepted), "True");
  EXPECT_EQ(serve.spec().rollout.max_unavailable, 1);
}

TEST(LeaderWorkerSetPlan, RecordsThatAGroupIsNotRestartedAgain) {
  World serve = stable_world();
  serve.change_set("/metadata/annotations", {{std::string(kMaxRestarts), "1"}});
  serve.leader_set()["metadata"]["annotations"][std::string(kRestarts)] =
      R"({"0":{"count":1,"last":"2027-01-15T07:59:00Z","leader":"earlier"}})";
  serve.restart_container("serve-0-1");
  const plan::Plan plan = serve.step();
  ASSERT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve"));
  const Json patch = action_of(plan, "patch StatefulSet serve").body.make().value();
  EXPECT_THAT(string_at(patch, {"metadata", "annotations", kRestarts}),
              HasSubstr(fmt::format(R"("exhausted":"{}")", plan::uid_of(serve.pods().at("serve-0")))));
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(LeaderWorkerSetPlan, WaitsForAServiceThatIsBeingDeleted) {
  World serve = stable_world();
  Json& service = serve.services().at("serve")["metadata"];
  service["deletionTimestamp"] = format_rfc3339(serve.now());
  service.erase("ownerReferences");
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry) << "no event of it concerns this set";
}

TEST(LeaderWorkerSetPlan, SetsAllConditionsOfOurOwnFromTheFirstPlanOn) {
  const auto first = [](const SetBuilder& set) {
    return statuses(World(set.json()).plan().status->status["conditions"]);
  };
  EXPECT_THAT(first(a_set("serve")), ElementsAre("Progressing=True", "Accepted=True", "GroupsHealthy=True",
                                                 "SlicesPlaced=False", "ContainersStarted=False"));
  EXPECT_THAT(first(a_set("serve").size(-1)),
              ElementsAre("Accepted=False", "GroupsHealthy=False", "SlicesPlaced=False", "ContainersStarted=False"));
}

// kubectl wait ignores conditions with an old observedGeneration, whatever their status.
TEST(LeaderWorkerSetPlan, SetsObservedGenerationOfTrueAndFalseConditions) {
  World serve = stable_world();
  serve.set_ready("serve-0", false);
  serve.step();
  serve.set_ready("serve-0", true);
  serve.step();
  serve.change_set("/spec/rolloutStrategy", {{"rollingUpdateConfiguration", {{"maxSurge", 1}}}});
  serve.change_set("/metadata/generation", 2);
  const Json status = serve.plan().status->status;
  EXPECT_THAT(statuses(status["conditions"]),
              ElementsAre("Progressing=False", "Available=True", "Accepted=True", "GroupsHealthy=True",
                          "SlicesPlaced=True", "ContainersStarted=True"));
  for (const Json& condition : status["conditions"]) EXPECT_EQ(condition["observedGeneration"], 2) << condition;
}

TEST(LeaderWorkerSetPlan, MarksAStatusOfWhichOnlyCountsOfGroupsChange) {
  World serve = stable_world();
  const auto lose = [&](const char* leader) {
    serve.set_ready(leader, false);
    return serve.step().status.value();
  };
  EXPECT_FALSE(lose("serve-0").counts_only) << "it is no longer Available";
  EXPECT_TRUE(lose("serve-1").counts_only);
}

TEST(LeaderWorkerSetPlan, ReportsWaitingReasonsOfSlices) {
  World serve = stable_world();
  Json& pod = serve.pods().at("serve-1")["metadata"];
  pod["labels"][std::string(tpu::kSlice)] = "serve-1";
  pod["annotations"][std::string(tpu::kWaiting)] = "1 node pool matches, a: node a-0 is cordoned";
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  const Json conditions = serve.conditions();
  const Json* placed = find_condition(conditions, plan::kSlicesPlaced);
  ASSERT_NE(placed, nullptr);
  EXPECT_EQ((*placed)["status"], "False");
  EXPECT_EQ((*placed)["reason"], "SlicesWaiting");
  EXPECT_THAT((*placed)["message"], HasSubstr("1 node pool matches, a: node a-0 is cordoned"));
  EXPECT_TRUE(serve.plan().empty());

  pod["annotations"].erase(std::string(tpu::kWaiting));
  serve.step();
  EXPECT_TRUE(is_condition_true(serve.conditions(), plan::kSlicesPlaced));
}

TEST(LeaderWorkerSetPlan, ReportsWhyTheLastPlanFailed) {
  World serve = stable_world();
  serve.fail("FailedCreate", "statefulsets.apps \"serve-1\" is forbidden: exceeded quota");
  const plan::Plan plan = serve.step();
  EXPECT_THAT(string_at(*find_condition(plan.status->status["conditions"], kGroupsHealthy), {"message"}),
              HasSubstr("exceeded quota"));
  serve.fail("", "the status cannot be written");
  EXPECT_EQ(condition_status(serve.plan().status->status["conditions"], kGroupsHealthy), "True");
}

TEST(LeaderWorkerSetPlan, OnlyReportsAnInvalidSpec) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/size", -1);
  const plan::Plan plan = serve.step();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  EXPECT_EQ(condition_status(plan.status->status["conditions"], plan::kAccepted), "False");
  EXPECT_TRUE(serve.plan().empty()) << "reported once";
  serve.change_set("/spec/leaderWorkerTemplate/size", 2);
  EXPECT_EQ(condition_status(serve.plan().status->status["conditions"], plan::kAccepted), "True");
}

TEST(LeaderWorkerSetPlan, ScalesDownASetWithAnInvalidSpec) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/size", -1);
  serve.step();
  serve.change_set("/spec/replicas", 1);
  const plan::Plan plan = serve.step();
  ASSERT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve"));
  const plan::Action patch = action_of(plan, "patch StatefulSet serve");
  EXPECT_EQ(patch.body.make().value()["spec"], Json({{"replicas", 1}})) << "the template stays";
  EXPECT_EQ(patch.preconditions.uid, plan::uid_of(serve.leader_set()));
  EXPECT_TRUE(serve.plan().empty());
  serve.change_set("/spec/replicas", 2);
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty()) << "new groups would need the templates";
}

TEST(LeaderWorkerSetPlan, ScalesAnInvalidSetDownForAValidNumberOnly) {
  for (const Json& replicas : {Json(-1), Json("0"), Json(nullptr)}) {
    World serve = stable_world();
    serve.change_set("/spec/leaderWorkerTemplate/size", -1);
    serve.change_set("/spec/replicas", replicas);
    EXPECT_THAT(writes_of(serve.plan()), IsEmpty()) << replicas;
  }
  World surging = stable_world();
  surging.change_set("/spec/leaderWorkerTemplate/size", -1);
  surging.leader_set()["spec"]["replicas"] = 3;
  EXPECT_THAT(writes_of(surging.plan()), IsEmpty()) << "the third is a surge group of an update";
  World foreign = stable_world();
  foreign.change_set("/spec/leaderWorkerTemplate/size", -1);
  foreign.change_set("/spec/replicas", 0);
  foreign.leader_set()["metadata"]["ownerReferences"][0]["uid"] = "another";
  EXPECT_THAT(writes_of(foreign.plan()), IsEmpty());
}

TEST(LeaderWorkerSetPlan, IsEmptyForATerminatingSet) {
  World serve = stable_world();
  serve.change_set("/metadata/deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_TRUE(serve.plan().empty());
}

TEST(LeaderWorkerSetPlan, RecordsARestartBeforeItDeletesTheGroup) {
  World serve = stable_world();
  serve.restart_container("serve-0-1");
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("patch StatefulSet serve"), ElementsAre("delete StatefulSet serve-0 Foreground"),
                          ElementsAre("delete Pod serve-0 Foreground", "delete Pod serve-0-1")))
      << "the worker set is deleted before its pods, which it would recreate, and the next leader is created after the "
         "workers are deleted";
  EXPECT_EQ(action_of(plan, "delete Pod serve-0 Foreground").preconditions.uid,
            plan::uid_of(serve.pods().at("serve-0")));
}

TEST(LeaderWorkerSetPlan, DeletesOutdatedGroupsOnceTheNewRevisionOfTheLeaderSetIsObserved) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "another");
  const plan::Plan first = serve.step();
  ASSERT_EQ(writes_of(first).size(), 2U);
  EXPECT_THAT(writes_of(first)[0], HasSubstr("create ControllerRevision"));
  EXPECT_EQ(writes_of(first)[1], "patch StatefulSet serve");
  serve.leader_set()["spec"]["updateStrategy"]["rollingUpdate"]["partition"] = 1;
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("patch StatefulSet serve"))
      << "its template is recorded; the StatefulSet controller would create leaders with the old revision";
  serve.leader_set()["status"]["observedGeneration"] = 2;
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("patch StatefulSet serve", "delete StatefulSet serve-1 Foreground",
                                                   "delete Pod serve-1 Foreground", "delete Pod serve-1-1"))
      << "the other is below the partition";
}

TEST(LeaderWorkerSetPlan, RecreatesADeletedRevisionWithItsKey) {
  World serve = stable_world();
  serve.revisions().clear();
  const plan::Plan plan = serve.plan();
  const std::vector<std::string> all = writes_of(plan);
  ASSERT_THAT(all, ElementsAre(HasSubstr("create ControllerRevision serve-")));
  const Json created = action_of(plan, all[0]).body.make().value();
  const std::string key(kRevisionKey);
  EXPECT_EQ(created["metadata"]["labels"][key], serve.leader_set()["metadata"]["labels"][key]);
}

/// With different images.
void add_unused_revisions(World& serve, int count) {
  for (int i = 0; i < count; ++i) {
    Json other = serve.set();
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = std::to_string(i);
    serve.add(kControllerRevisions, build_revision(serve.spec(), revision_data(other), i + 2));
  }
}

TEST(LeaderWorkerSetPlan, KeepsTenUnusedRevisions) {
  World serve = stable_world();
  add_unused_revisions(serve, 12);
  const std::vector<std::string> all = writes_of(serve.plan());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0], HasSubstr("delete ControllerRevision serve-"));
  EXPECT_THAT(all[0], HasSubstr("-2"));
  EXPECT_THAT(all[1], HasSubstr("-3"));
}

TEST(LeaderWorkerSetPlan, KeepsAllRevisionsWhileALeaderBelowThePartitionIsMissing) {
  World serve = stable_world();
  add_unused_revisions(serve, 12);
  const auto deletes = [&] { return writes_of(serve.plan(), "delete ControllerRevision"); };
  serve.pods().erase("serve-0");
  Json& partition = serve.leader_set()["spec"]["updateStrategy"]["rollingUpdate"]["partition"];
  partition = 1;
  EXPECT_THAT(deletes(), IsEmpty()) << "the next leader may have any of them";
  partition = 0;
  EXPECT_EQ(deletes().size(), 2U) << "the next leader has the revision of the leader set";
}

TEST(LeaderWorkerSetPlan, DeletesUnusedRevisionsWithTheDataOfOthers) {
  World serve = stable_world();
  const auto add_revision = [&](const std::string& image, int number) {
    Json other = serve.set();
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = image;
    serve.add(kControllerRevisions,
              build_revision(serve.spec(), revision_data(other), number, fmt::format("key-{}", number)));
  };
  for (int number = 2; number < 12; ++number) add_revision(std::to_string(number), number);
  add_revision("2", 12);
  add_revision("worker:1", 13);
  serve.add(kControllerRevisions, build_revision(serve.spec(), Json::object(), 14, "key-14"));
  const std::vector<std::string> all = writes_of(serve.plan());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], AllOf(HasSubstr("delete ControllerRevision serve-"), EndsWith("-2"))) << "its data is that of 12";
  EXPECT_THAT(all[1], EndsWith("-3")) << "the eleventh of the others";
  EXPECT_THAT(all[2], EndsWith("-13")) << "its data is that of the revision in use";
}

TEST(LeaderWorkerSetPlan, RepairsDrift) {
  World serve = stable_world();
  for (auto& [name, set] : serve.stateful_sets()) set["spec"]["replicas"] = 7;
  EXPECT_THAT(writes_of(serve.plan()),
              ElementsAre("patch StatefulSet serve", "patch StatefulSet serve-0", "patch StatefulSet serve-1"));
}

TEST(LeaderWorkerSetPlan, IsDeterministic) {
  const World serve(a_set("serve").replicas(2).size(2).json());
  EXPECT_EQ(to_json(serve.plan()), to_json(serve.plan()));
}

TEST(LeaderWorkerSetPlan, RestoresALeaderSetThatWasScaledBeyondAllLimits) {
  World serve = stable_world();
  serve.leader_set()["spec"]["replicas"] = 2'000'000'000;
  const plan::Plan plan = serve.plan();
  EXPECT_EQ(action_of(plan, "patch StatefulSet serve").body.make().value()["spec"]["replicas"], 2);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
