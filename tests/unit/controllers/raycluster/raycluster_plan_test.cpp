#include "controllers/raycluster/raycluster_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

using plan::Plan;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Plan plan(const RayClusterObserved& seen) { return plan_raycluster(seen, {}); }

Json accepted(const Plan& plan) {
  const Json* found = plan.status ? find_condition(plan.status->status["conditions"], plan::kAccepted) : nullptr;
  return found == nullptr ? Json() : *found;
}

/// A stage of so many writes that begin with `begin`.
auto stage_of(std::size_t writes, const char* begin) { return AllOf(SizeIs(writes), Each(StartsWith(begin))); }

TEST(RayClusterPlan, CreatesServicesBeforePodsAndHeadWithWorkers) {
  const Plan out = plan(nothing_yet(Object(tutorial_cluster())));
  EXPECT_THAT(stages_of(out), ElementsAre(stage_of(2, "create Service "), stage_of(5, "create Pod ")));
  EXPECT_THAT(out.reason, HasSubstr("replica 0 of group tpu-group is missing: creating its 4 pods"));
}

TEST(RayClusterPlan, DeletesABrokenReplicaBeforeItCreatesTheNextAttempt) {
  Options options;
  options.mutation.gate = true;
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change(seen.pods.back(), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(stages_of(plan_raycluster(seen, options)),
              ElementsAre(stage_of(4, "delete Pod "), stage_of(4, "create Pod ")));
}

/// Grace period of each deleted pod: -1 for its own.
std::vector<std::int64_t> graces_of_deletes(const RayClusterObserved& seen) {
  std::vector<std::int64_t> out;
  for (const plan::Stage& stage : plan(seen).stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.kind == plan::ActionKind::kDelete) out.push_back(action.grace_seconds.value_or(-1));
    }
  }
  return out;
}

TEST(RayClusterPlan, DeletesAReplicaThatLostAHostWithTheGracePeriodOfItsAnnotation) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  for (auto& pod : seen.pods) {
    change(pod, [](PodView& view) {
      view.node_name = "node-of-" + view.key.name;
      view.annotations[std::string(tpu::kTeardownGrace)] = "3";
    });
  }
  RayClusterObserved failed = seen;
  change(failed.pods.back(), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  EXPECT_THAT(graces_of_deletes(failed), ElementsAre(3, 3, 3, -1)) << "the failed one is deleted at once";
  RayClusterObserved deleted = seen;
  change(deleted.pods.back(), [](PodView& pod) { pod.deletion = a_time(); });
  EXPECT_THAT(graces_of_deletes(deleted), ElementsAre(-1, -1, -1)) << "a pod was deleted on purpose";
  RayClusterObserved scaled_down = seen;
  edit(scaled_down.cluster)["spec"]["workerGroupSpecs"][0]["replicas"] = 0;
  EXPECT_THAT(graces_of_deletes(scaled_down), ElementsAre(-1, -1, -1, -1));
}

TEST(RayClusterPlan, TriesARefusedAttemptAgainAfterHalfAMinute) {
  Options options;
  options.mutation.gate = true;
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change(seen.pods.back(), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  seen.last_failure = plan::Failure{"FailedCreateWorkerPod", "exceeded quota: pods=5", seen.now};
  seen.now += std::chrono::seconds(10);
  const Plan waiting = plan_raycluster(seen, options);
  EXPECT_THAT(stages_of(waiting), ElementsAre(stage_of(4, "delete Pod ")));
  EXPECT_TRUE(waiting.keeps_failure);
  EXPECT_EQ(waiting.requeue_after, std::chrono::seconds(20));
  seen.now += std::chrono::seconds(20);
  const Plan again = plan_raycluster(seen, options);
  EXPECT_THAT(stages_of(again), ElementsAre(stage_of(4, "delete Pod "), stage_of(4, "create Pod ")));
  EXPECT_FALSE(again.keeps_failure);
}

TEST(RayClusterPlan, ChecksThatTheClusterExistsBeforeItReplacesTerminatingPods) {
  Options options;
  options.mutation.gate = true;
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  edit(seen.cluster)["metadata"]["resourceVersion"] = "7";
  change(seen.pods.back(), [](PodView& pod) { pod.deletion = a_time(); });
  const Plan out = plan_raycluster(seen, options);
  EXPECT_THAT(stages_of(out), ElementsAre(ElementsAre("patch RayCluster maxtext-tpu-cluster status"),
                                          stage_of(3, "delete Pod "), stage_of(4, "create Pod ")));
  EXPECT_EQ(action_of(out, "patch RayCluster maxtext-tpu-cluster status").preconditions,
            (plan::Preconditions{seen.cluster.uid(), "7"}));
}

TEST(RayClusterPlan, IsEmptyForASettledCluster) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  edit(seen.cluster)["status"] = plan(seen).status->status;
  seen.now += std::chrono::hours(24);
  EXPECT_THAT(plan(seen), plan::IsEmptyPlan());
}

TEST(RayClusterPlan, IsEmptyForAClusterThatIsBeingDeletedOrManagedElsewhere) {
  Json deleted = tutorial_cluster();
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_THAT(plan(nothing_yet(Object(deleted))), plan::IsEmptyPlan());
  Json kueue = tutorial_cluster();
  kueue["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_THAT(plan(nothing_yet(Object(kueue))), plan::IsEmptyPlan());
}

TEST(RayClusterPlan, RefusesAnUnsupportedFieldAndKeepsThePods) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  edit(seen.cluster)["spec"]["networkPolicy"]["mode"] = "DenyAll";
  seen.pods.pop_back();
  Plan out = plan(seen);
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_EQ(accepted(out)["reason"], "UnsupportedField");
  EXPECT_THAT(accepted(out)["message"].get<std::string>(), HasSubstr("spec.networkPolicy"));
  ASSERT_THAT(out.events, SizeIs(1));
  EXPECT_EQ(out.events[0].reason, "InvalidRayClusterSpec");
  edit(seen.cluster)["status"] = out.status->status;
  EXPECT_THAT(plan(seen), plan::IsEmptyPlan()) << "the event is sent once";
}

TEST(RayClusterPlan, RefusesAnInvalidSpecWithAllItsErrors) {
  Json json = tutorial_cluster();
  json["spec"]["workerGroupSpecs"][0]["numOfHosts"] = 2;
  json["spec"]["workerGroupSpecs"][0]["minReplicas"] = 3;
  json["spec"]["workerGroupSpecs"][0]["maxReplicas"] = 1;
  const Plan out = plan(nothing_yet(Object(json)));
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_EQ(accepted(out)["reason"], "InvalidSpec");
  EXPECT_THAT(accepted(out)["message"].get<std::string>(), HasSubstr("numOfHosts"));
  EXPECT_THAT(accepted(out)["message"].get<std::string>(), HasSubstr("minReplicas"));
}

TEST(RayClusterPlan, AcceptsTheSpecOnceItIsCorrected) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  edit(seen.cluster)["spec"]["networkPolicy"]["mode"] = "DenyAll";
  edit(seen.cluster)["status"] = plan(seen).status->status;
  edit(seen.cluster)["spec"].erase("networkPolicy");
  const Plan out = plan(seen);
  ASSERT_TRUE(out.status.has_value());
  EXPECT_EQ(accepted(out)["status"], "True");
}

TEST(RayClusterPlan, CreatesNoPodsWhileAnotherOwnerHasTheService) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  seen.pods.clear();
  ObjectView other = *seen.services[0];
  other.controller.reset();
  seen.services[0] = std::make_shared<const ObjectView>(other);
  Plan out = plan(seen);
  EXPECT_THAT(out.stages, IsEmpty());
  EXPECT_THAT(out.reason, HasSubstr("has no controller"));
  ASSERT_THAT(out.events, SizeIs(1));
  EXPECT_EQ(out.events[0].reason, "FailedToCreateService");
  EXPECT_TRUE(out.requeue_after.has_value());
  edit(seen.cluster)["status"] = out.status->status;
  EXPECT_THAT(plan(seen).events, IsEmpty());
}

TEST(RayClusterPlan, ReportsAnErrorThatOnlyBuildingAPodShows) {
  Json json = tutorial_cluster();
  json["spec"]["workerGroupSpecs"][0]["template"]["spec"]["hostname"] = "mine";
  const Plan out = plan(nothing_yet(Object(json)));
  EXPECT_EQ(accepted(out)["status"], "False");
  EXPECT_THAT(accepted(out)["message"].get<std::string>(), HasSubstr("hostname"));
}

TEST(RayClusterPlan, ReportsEachWriteInAnEvent) {
  const Plan out = plan(nothing_yet(Object(tutorial_cluster())));
  for (const char* reason : {"CreatedService", "FailedToCreateService", "CreatedHeadPod", "FailedToCreateHeadPod",
                             "CreatedWorkerPod", "FailedToCreateWorkerPod"}) {
    EXPECT_THAT(out, plan::HasEvent(reason));
  }
  EXPECT_THAT(events_of(out), SizeIs(8));  // Two for each service, for the head and for the replica.
}

/// The events of the plan's pods, which must be the same for all of them.
std::shared_ptr<const plan::ActionEvents> events_of_all(const Plan& plan, plan::ActionKind kind, std::size_t pods) {
  std::vector<std::shared_ptr<const plan::ActionEvents>> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.type == kPods && action.kind == kind) out.push_back(action.events);
    }
  }
  EXPECT_THAT(out, SizeIs(pods));
  EXPECT_THAT(out, Each(out.at(0)));
  return out.at(0);
}

TEST(RayClusterPlan, ReportsThePodsOfAReplicaOnceWhenAllOfThemAreWritten) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  seen.pods.resize(1);  // The head.
  const auto created = events_of_all(plan(seen), plan::ActionKind::kCreate, 4);
  ASSERT_NE(created, nullptr);
  ASSERT_THAT(created->on_success, SizeIs(1));
  EXPECT_EQ(created->on_success[0].reason, "CreatedWorkerPod");
  ASSERT_THAT(created->on_failure, SizeIs(1));
  EXPECT_EQ(created->on_failure[0].reason, "FailedToCreateWorkerPod");

  seen = all_running(Object(tutorial_cluster()));
  change(seen.pods.back(), [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  const auto deleted = events_of_all(plan(seen), plan::ActionKind::kDelete, 4);
  ASSERT_NE(deleted, nullptr);
  ASSERT_THAT(deleted->on_success, SizeIs(1));
  EXPECT_EQ(deleted->on_success[0].reason, "DeletedWorkerPod");
  ASSERT_THAT(deleted->on_failure, SizeIs(1));
  EXPECT_EQ(deleted->on_failure[0].reason, "FailedToDeleteWorkerPod");
}

TEST(RayClusterPlan, KeepsTheWorkersWhenTheHeadFails) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change(seen.pods[0], [](PodView& pod) { pod.phase = PodPhase::kFailed; });
  const Plan out = plan(seen);
  const std::string deletion = "delete Pod " + seen.pods[0]->key.name;
  EXPECT_THAT(writes_of(out, "delete Pod"), ElementsAre(deletion));
  EXPECT_EQ(action_of(out, deletion).preconditions.uid, seen.pods[0]->uid);
}

TEST(RayClusterPlan, CreatesNoPodsForAMalformedObject) {
  for (const char* spec :
       {"null", "[]", "{}", R"({"headGroupSpec": 3})", R"({"headGroupSpec": {}, "workerGroupSpecs": [1]})",
        R"({"headGroupSpec": {"template": {"spec": {"containers": [null]}}}})"}) {
    Json json = tutorial_cluster();
    json["spec"] = Json::parse(spec);
    json["status"] = "text";
    const Plan out = plan(nothing_yet(Object(json)));
    EXPECT_THAT(writes_of(out), Each(HasSubstr(" Service "))) << spec;
    EXPECT_EQ(accepted(out)["status"], "False") << spec;
  }
}

}  // namespace
}  // namespace tpuslice::raycluster
