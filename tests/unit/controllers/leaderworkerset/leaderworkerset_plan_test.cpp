#include "controllers/leaderworkerset/leaderworkerset_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/leader_set.h"
#include "controllers/leaderworkerset/revisions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/plan/conditions.h"
#include "controllers/plan/waiting_conditions.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/leaderworkerset/world.h"
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
  LeaderWorkerSetObserved seen;
  seen.set = a_set("serve").replicas(2).size(2).object();
  seen.now = kToday;
  const plan::Plan plan = plan_leaderworkerset(seen).value();
  const std::vector<std::string> all = writes_of(plan);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], HasSubstr("create ControllerRevision serve-"));
  EXPECT_EQ(all[1], "create Service serve");
  EXPECT_EQ(all[2], "create StatefulSet serve");
  EXPECT_EQ(plan.stages.size(), 2U) << "the revision is created before the leader set refers to it";
  EXPECT_EQ(condition_status(plan.status->status["conditions"], kProgressing), "True");
}

TEST(LeaderWorkerSetPlan, IsProgressingButNotUpdatingForNewGroups) {
  World serve = world();
  for (const char* workers : {"serve-0", "serve-1"}) serve.drop_stateful_set(workers);
  const plan::Plan plan = serve.plan();
  const Json& conditions = plan.status->status["conditions"];
  EXPECT_EQ(condition_status(conditions, kProgressing), "True");
  EXPECT_EQ(condition_status(conditions, kUpdateInProgress), "");
  EXPECT_EQ(condition_status(conditions, kAvailable), "");
}

TEST(LeaderWorkerSetPlan, RecordsTheMembersOfCompleteGroupsAndIsThenEmpty) {
  World serve = world();
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("patch StatefulSet serve-0", "patch StatefulSet serve-1"));
  World stable = stable_world();
  for (int i = 0; i < 3; ++i) {
    const plan::Plan plan = stable.plan();
    EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
    EXPECT_FALSE(plan.requeue_after);
  }
}

TEST(LeaderWorkerSetPlan, CreatesTheWorkerSetOfALeader) {
  World serve = stable_world();
  serve.drop_stateful_set("serve-1");
  std::erase_if(serve.seen().pods, [](const PodPtr& pod) { return pod->key.name == "serve-1-1"; });
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-1"));
  serve.change_set("/spec/startupPolicy", "LeaderReady");
  serve.change_pod("serve-1", [](PodView& pod) { pod.ready = false; });
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty()) << "the leader is not ready";
  serve.change_pod("serve-1", [](PodView& pod) { pod.ready = true; });
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-1"));
}

TEST(LeaderWorkerSetPlan, CreatesTheWorkerSetOfALeaderBeyondTheReplicas) {
  World serve = stable_world();
  serve.add_group(2, serve.key());
  serve.drop_stateful_set("serve-2");
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-2"));
  serve.change_pod("serve-2", [](PodView& pod) { pod.restarted = true; });
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("create StatefulSet serve-2"))
      << "the StatefulSet controller deletes it, so it is not restarted";
  serve.change_pod("serve-2", [](PodView& pod) { pod.deletion = kToday; });
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(LeaderWorkerSetPlan, WaitsForTheWorkersOfAPreviousLeader) {
  World serve = stable_world();
  serve.change_pod("serve-1", [](PodView& pod) { pod.uid = "uid-of-another-leader"; });
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  EXPECT_EQ(condition_status(serve.seen().set.json()["status"]["conditions"], kGroupsHealthy), "True");
}

TEST(LeaderWorkerSetPlan, ReportsAStatefulSetOfAnotherOwnerWithTheNameOfAWorkerSet) {
  World serve = stable_world();
  serve.drop_stateful_set("serve-1");
  const Json other = {{"apiVersion", "apps/v1"},
                      {"kind", "StatefulSet"},
                      {"metadata", {{"name", "serve-1"}, {"namespace", "default"}}}};
  serve.seen().stateful_sets.push_back(stored<StatefulSetView>(other, "uid-of-other"));
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
  ServiceView service = *serve.seen().services.front();
  service.controller.reset();
  service.selector = {{"app", "other"}};
  serve.seen().services = {std::make_shared<const ServiceView>(service)};
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
  LeaderWorkerSetObserved seen;
  seen.set = a_set("serve").object();
  const Json other = {
      {"apiVersion", "apps/v1"}, {"kind", "StatefulSet"}, {"metadata", {{"name", "serve"}, {"namespace", "default"}}}};
  seen.stateful_sets = {stored<StatefulSetView>(other, "uid-of-other")};
  const plan::Plan plan = plan_leaderworkerset(seen).value();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  const Json& conditions = plan.status->status["conditions"];
  EXPECT_THAT(statuses(conditions),
              ElementsAre("Accepted=True", "GroupsHealthy=False", "SlicesPlaced=False", "ContainersStarted=False"));
  EXPECT_EQ(string_at(*find_condition(conditions, kGroupsHealthy), {"reason"}), "LeaderSetConflict");
}

TEST(LeaderWorkerSetPlan, WaitsForTheLeaderSetOfADeletedSetOfItsName) {
  LeaderWorkerSetObserved seen;
  seen.set = a_set("serve").object();
  Json earlier = build_leader_set(LeaderWorkerSetSpec::read(seen.set), {"a", 1, 0});
  earlier["metadata"]["ownerReferences"][0]["uid"] = "uid-of-deleted";
  seen.stateful_sets = {stored<StatefulSetView>(earlier, "uid-of-earlier")};
  const plan::Plan plan = plan_leaderworkerset(seen).value();
  EXPECT_THAT(writes_of(plan), IsEmpty()) << "the garbage collector deletes it";
  EXPECT_THAT(plan::events_of(plan), IsEmpty());
  EXPECT_EQ(string_at(*find_condition(plan.status->status["conditions"], kGroupsHealthy), {"reason"}),
            "LeaderSetTerminating");
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry);
}

TEST(LeaderWorkerSetPlan, IgnoresObjectsWithNamesOfGroupsThatCannotExist) {
  World serve = stable_world();
  const Json unowned = {
      {"apiVersion", "apps/v1"},
      {"kind", "StatefulSet"},
      {"metadata",
       {{"name", "serve-2147483647"}, {"namespace", "default"}, {"labels", {{std::string(kLwsName), "serve"}}}}}};
  serve.seen().stateful_sets.push_back(stored<StatefulSetView>(unowned, "uid-of-other"));
  PodView forged = *serve.seen().pods.front();
  forged.key.name = "serve-2147483646";
  serve.seen().pods.push_back(std::make_shared<const PodView>(forged));
  const plan::Plan plan = serve.plan();
  EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
}

TEST(LeaderWorkerSetPlan, ReconcilesASetThatWasScaledToWhereAPercentageIsZero) {
  World serve = stable_world();
  serve.change_set("/spec/rolloutStrategy", {{"rollingUpdateConfiguration", {{"maxUnavailable", "50%"}}}});
  serve.change_set("/spec/replicas", 1);
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("patch StatefulSet serve"));
  EXPECT_EQ(condition_status(serve.seen().set.json()["status"]["conditions"], plan::kAccepted), "True");
  EXPECT_EQ(serve.spec().rollout.max_unavailable, 1);
}

TEST(LeaderWorkerSetPlan, RecordsThatAGroupIsNotRestartedAgain) {
  World serve = stable_world();
  serve.change_set("/metadata/annotations", {{std::string(kMaxRestarts), "1"}});
  serve.change_leader_set([](StatefulSetView& set) {
    set.annotations[std::string(kRestarts)] = R"({"0":{"count":1,"last":"2027-01-15T07:59:00Z","leader":"earlier"}})";
  });
  serve.change_pod("serve-0-1", [](PodView& pod) { pod.restarted = true; });
  const plan::Plan plan = serve.plan();
  ASSERT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve"));
  const Json patch = action_of(plan, "patch StatefulSet serve").body.make().value();
  const std::string records = string_at(patch, {"metadata", "annotations", kRestarts});
  EXPECT_THAT(records, HasSubstr(R"("exhausted":"uid-of-serve-0")"));
  serve.change_leader_set([&](StatefulSetView& set) {
    set.annotations[std::string(kRestarts)] = records;
    for (const auto& [key, value] : serve.spec().annotations) set.annotations[key] = value;
  });
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty());
}

TEST(LeaderWorkerSetPlan, WaitsForAServiceThatIsBeingDeleted) {
  World serve = stable_world();
  ServiceView service = *serve.seen().services.front();
  service.deletion = kToday;
  service.controller.reset();
  serve.seen().services = {std::make_shared<const ServiceView>(service)};
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry) << "no event of it concerns this set";
}

TEST(LeaderWorkerSetPlan, SetsAllConditionsOfOurOwnFromTheFirstPlanOn) {
  LeaderWorkerSetObserved seen;
  seen.set = a_set("serve").object();
  seen.now = kToday;
  EXPECT_THAT(statuses(plan_leaderworkerset(seen).value().status->status["conditions"]),
              ElementsAre("Progressing=True", "Accepted=True", "GroupsHealthy=True", "SlicesPlaced=False",
                          "ContainersStarted=False"));
  seen.set = a_set("serve").size(-1).object();
  EXPECT_THAT(statuses(plan_leaderworkerset(seen).value().status->status["conditions"]),
              ElementsAre("Accepted=False", "GroupsHealthy=False", "SlicesPlaced=False", "ContainersStarted=False"));
}

// kubectl wait ignores conditions with an old observedGeneration, whatever their status.
TEST(LeaderWorkerSetPlan, SetsObservedGenerationOfTrueAndFalseConditions) {
  World serve = stable_world();
  serve.change_pod("serve-0", [](PodView& pod) { pod.ready = false; });
  static_cast<void>(serve.plan());
  serve.change_pod("serve-0", [](PodView& pod) { pod.ready = true; });
  static_cast<void>(serve.plan());
  serve.change_set("/spec/rolloutStrategy", {{"rollingUpdateConfiguration", {{"maxSurge", 1}}}});
  serve.change_set("/metadata/generation", 2);
  const Json status = serve.plan().status->status;
  EXPECT_THAT(statuses(status["conditions"]),
              ElementsAre("Available=True", "Progressing=False", "Accepted=True", "GroupsHealthy=True",
                          "SlicesPlaced=True", "ContainersStarted=True"));
  for (const Json& condition : status["conditions"]) EXPECT_EQ(condition["observedGeneration"], 2) << condition;
}

TEST(LeaderWorkerSetPlan, MarksAStatusOfWhichOnlyCountsOfGroupsChange) {
  World serve = stable_world();
  const auto lose = [&](const char* leader) {
    serve.change_pod(leader, [](PodView& pod) { pod.ready = false; });
    return serve.plan().status.value();
  };
  EXPECT_FALSE(lose("serve-0").counts_only) << "it is no longer Available";
  EXPECT_TRUE(lose("serve-1").counts_only);
}

TEST(LeaderWorkerSetPlan, ReportsWaitingReasonsOfSlices) {
  World serve = stable_world();
  serve.change_pod("serve-1", [](PodView& pod) {
    pod.labels[std::string(tpu::kSlice)] = "serve-1";
    pod.annotations[std::string(tpu::kWaiting)] = "1 node pool would match, a: node a-0 is cordoned";
  });
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  const Json conditions = serve.seen().set.json()["status"]["conditions"];
  const Json* placed = find_condition(conditions, plan::kSlicesPlaced);
  ASSERT_NE(placed, nullptr);
  EXPECT_EQ((*placed)["status"], "False");
  EXPECT_EQ((*placed)["reason"], "SlicesWaiting");
  EXPECT_THAT((*placed)["message"], HasSubstr("1 node pool would match, a: node a-0 is cordoned"));
  EXPECT_TRUE(serve.plan().empty());

  serve.change_pod("serve-1", [](PodView& pod) { pod.annotations.clear(); });
  static_cast<void>(serve.plan());
  EXPECT_TRUE(is_condition_true(serve.seen().set.json()["status"]["conditions"], plan::kSlicesPlaced));
}

TEST(LeaderWorkerSetPlan, ReportsWhyTheLastPlanFailed) {
  World serve = stable_world();
  serve.seen().last_failure = {"FailedCreate", "statefulsets.apps \"serve-1\" is forbidden: exceeded quota"};
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(string_at(*find_condition(plan.status->status["conditions"], kGroupsHealthy), {"message"}),
              HasSubstr("exceeded quota"));
  serve.seen().last_failure = {"", "the status cannot be written"};
  EXPECT_EQ(condition_status(serve.plan().status->status["conditions"], kGroupsHealthy), "True");
}

TEST(LeaderWorkerSetPlan, OnlyReportsAnInvalidSpec) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/size", -1);
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(writes_of(plan), IsEmpty());
  EXPECT_EQ(condition_status(plan.status->status["conditions"], plan::kAccepted), "False");
  EXPECT_TRUE(serve.plan().empty()) << "reported once";
  serve.change_set("/spec/leaderWorkerTemplate/size", 2);
  EXPECT_EQ(condition_status(serve.plan().status->status["conditions"], plan::kAccepted), "True");
}

TEST(LeaderWorkerSetPlan, ScalesDownASetWithAnInvalidSpec) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/size", -1);
  static_cast<void>(serve.plan());
  serve.change_set("/spec/replicas", 1);
  const plan::Plan plan = serve.plan();
  ASSERT_THAT(writes_of(plan), ElementsAre("patch StatefulSet serve"));
  const plan::Action patch = action_of(plan, "patch StatefulSet serve");
  EXPECT_EQ(patch.body.make().value()["spec"], Json({{"replicas", 1}})) << "the template stays";
  EXPECT_EQ(patch.preconditions.uid, "uid-of-leaders");
  serve.change_leader_set([](StatefulSetView& set) {
    set.settings["replicas"] = 1;
    set.annotations[std::string(kReplicas)] = "1";
  });
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
  surging.change_leader_set([](StatefulSetView& set) { set.settings["replicas"] = 3; });
  EXPECT_THAT(writes_of(surging.plan()), IsEmpty()) << "the third is a surge group of an update";
  World foreign = stable_world();
  foreign.change_set("/spec/leaderWorkerTemplate/size", -1);
  foreign.change_set("/spec/replicas", 0);
  foreign.change_leader_set([](StatefulSetView& set) { set.controller->uid = "another"; });
  EXPECT_THAT(writes_of(foreign.plan()), IsEmpty());
}

TEST(LeaderWorkerSetPlan, IsEmptyForATerminatingSet) {
  World serve = world();
  serve.change_set("/metadata/deletionTimestamp", "2026-01-01T00:00:00Z");
  EXPECT_TRUE(serve.plan().empty());
}

TEST(LeaderWorkerSetPlan, RecordsARestartBeforeItDeletesTheGroup) {
  World serve = stable_world();
  serve.change_pod("serve-0-1", [](PodView& pod) { pod.restarted = true; });
  const plan::Plan plan = serve.plan();
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("patch StatefulSet serve"), ElementsAre("delete StatefulSet serve-0 Foreground"),
                          ElementsAre("delete Pod serve-0 Foreground", "delete Pod serve-0-1")))
      << "the worker set is deleted before its pods, which it would recreate, and the next leader is created after the "
         "workers are deleted";
  EXPECT_EQ(action_of(plan, "delete Pod serve-0 Foreground").preconditions.uid, "uid-of-serve-0");
}

TEST(LeaderWorkerSetPlan, DeletesOutdatedGroupsOnceTheNewRevisionOfTheLeaderSetIsObserved) {
  World serve = stable_world();
  serve.change_set("/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "another");
  const plan::Plan first = serve.plan();
  ASSERT_EQ(writes_of(first).size(), 2U);
  EXPECT_THAT(writes_of(first)[0], HasSubstr("create ControllerRevision"));
  EXPECT_EQ(writes_of(first)[1], "patch StatefulSet serve");
  const Json revision = build_revision(serve.spec(), revision_data(serve.seen().set.json()), 2);
  serve.seen().revisions.push_back(stored(revision, "uid-of-second"));
  const std::string key = Revision::read(Object(revision)).key;
  Json leaders = build_leader_set(serve.spec(), {key, 2, 1});
  leaders["metadata"]["generation"] = 2;
  leaders["status"] = {{"replicas", 2}, {"observedGeneration", 1}};
  serve.seen().stateful_sets.front() = stored<StatefulSetView>(leaders, "uid-of-leaders");
  EXPECT_THAT(writes_of(serve.plan()), IsEmpty())
      << "the StatefulSet controller would create leaders with the old revision";
  leaders["status"]["observedGeneration"] = 2;
  serve.seen().stateful_sets.front() = stored<StatefulSetView>(leaders, "uid-of-leaders");
  EXPECT_THAT(writes_of(serve.plan()), ElementsAre("delete StatefulSet serve-1 Foreground",
                                                   "delete Pod serve-1 Foreground", "delete Pod serve-1-1"))
      << "the other is below the partition";
}

TEST(LeaderWorkerSetPlan, RecreatesADeletedRevisionWithItsKey) {
  World serve = stable_world();
  serve.seen().revisions.clear();
  const plan::Plan plan = serve.plan();
  const std::vector<std::string> all = writes_of(plan);
  ASSERT_THAT(all, ElementsAre(HasSubstr("create ControllerRevision serve-")));
  const Json created = action_of(plan, all[0]).body.make().value();
  EXPECT_EQ(created["metadata"]["labels"][std::string(kRevisionKey)], serve.key());
}

/// With different images.
void add_unused_revisions(World& serve, int count) {
  for (int i = 0; i < count; ++i) {
    Json other = serve.seen().set.json();
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = std::to_string(i);
    serve.seen().revisions.push_back(
        stored(build_revision(serve.spec(), revision_data(other), i + 2), fmt::format("uid-{}", i)));
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
  std::erase_if(serve.seen().pods, [](const PodPtr& pod) { return pod->key.name == "serve-0"; });
  serve.change_leader_set(
      [](StatefulSetView& set) { set.settings["updateStrategy"]["rollingUpdate"]["partition"] = 1; });
  EXPECT_THAT(deletes(), IsEmpty()) << "the next leader may have any of them";
  serve.change_leader_set(
      [](StatefulSetView& set) { set.settings["updateStrategy"]["rollingUpdate"]["partition"] = 0; });
  EXPECT_EQ(deletes().size(), 2U) << "the next leader has the revision of the leader set";
}

TEST(LeaderWorkerSetPlan, DeletesUnusedRevisionsWithTheDataOfOthers) {
  World serve = stable_world();
  const auto add_revision = [&](const std::string& image, int number) {
    Json other = serve.seen().set.json();
    other["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = image;
    const Json revision = build_revision(serve.spec(), revision_data(other), number, fmt::format("key-{}", number));
    serve.seen().revisions.push_back(stored(revision, fmt::format("uid-{}", number)));
  };
  for (int number = 2; number < 12; ++number) add_revision(std::to_string(number), number);
  add_revision("2", 12);
  add_revision("worker:1", 13);
  serve.seen().revisions.push_back(stored(build_revision(serve.spec(), Json::object(), 14, "key-14"), "uid-14"));
  const std::vector<std::string> all = writes_of(serve.plan());
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], AllOf(HasSubstr("delete ControllerRevision serve-"), EndsWith("-2"))) << "its data is that of 12";
  EXPECT_THAT(all[1], EndsWith("-3")) << "the eleventh of the others";
  EXPECT_THAT(all[2], EndsWith("-13")) << "its data is that of the revision in use";
}

TEST(LeaderWorkerSetPlan, RepairsDrift) {
  World serve = stable_world();
  for (StatefulSetPtr& set : serve.seen().stateful_sets) {
    StatefulSetView view = *set;
    view.settings["replicas"] = 7;
    set = std::make_shared<const StatefulSetView>(std::move(view));
  }
  EXPECT_THAT(writes_of(serve.plan()),
              ElementsAre("patch StatefulSet serve", "patch StatefulSet serve-0", "patch StatefulSet serve-1"));
}

TEST(LeaderWorkerSetPlan, IsDeterministic) {
  World serve = world();
  const LeaderWorkerSetObserved& seen = serve.seen();
  EXPECT_EQ(to_json(plan_leaderworkerset(seen).value()), to_json(plan_leaderworkerset(seen).value()));
}

TEST(LeaderWorkerSetPlan, RestoresALeaderSetThatWasScaledBeyondAllLimits) {
  World world(a_set("serve").replicas(2).size(2));
  for (StatefulSetPtr& set : world.seen().stateful_sets) {
    if (set->key.name != "serve") continue;
    StatefulSetView view = *set;
    view.settings["replicas"] = 2'000'000'000;
    set = std::make_shared<const StatefulSetView>(std::move(view));
  }
  const plan::Plan plan = world.plan();
  EXPECT_EQ(action_of(plan, "patch StatefulSet serve").body.make().value()["spec"]["replicas"], 2);
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
