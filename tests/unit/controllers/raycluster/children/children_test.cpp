#include "controllers/raycluster/children/children.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/raycluster/decisions.h"
#include "controllers/raycluster/raycluster_status.h"
#include "controllers/raycluster/render.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using Kind = plan::ChildDecision::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Children : public testing::Test {
 protected:
  /// An object of `type` with the name of the cluster, whose controller is the cluster.
  [[nodiscard]] Object child(const ResourceType& type) const {
    return Object(Json{{"apiVersion", type.api_version()},
                       {"kind", type.kind},
                       {"metadata",
                        {{"name", "maxtext-tpu-cluster"},
                         {"namespace", "default"},
                         {"labels", {{"ray.io/cluster", "maxtext-tpu-cluster"}}},
                         {"ownerReferences", Json::array({spec_.owner.to_json()})}}}});
  }
  void add_live(const ResourceType& type, const std::string& owner = {}) {
    Json owners = child(type).json()["metadata"]["ownerReferences"];
    if (!owner.empty()) owners[0] = ControllerRef{"v1", "ConfigMap", owner, "u9"}.to_json();
    add_live_with_owners(type, std::move(owners));
  }
  void add_live_with_owners(const ResourceType& type, Json owners) {
    Json json = child(type).json();
    json["metadata"]["uid"] = "uid-of-child";
    json["metadata"]["ownerReferences"] = std::move(owners);
    seen_.children.objects.push_back({type, std::make_shared<const ObjectView>(decode_object(json))});
  }
  [[nodiscard]] std::vector<Child> decide(std::vector<Object> desired) const {
    return decide_children(spec_, std::move(desired), seen_);
  }
  [[nodiscard]] plan::Plan rendered(std::vector<Object> desired) const {
    Decisions decisions;
    decisions.children = decide(std::move(desired));
    return render(RayClusterState(seen_), decisions);
  }

  const Object cluster_{tutorial_cluster()};
  const RayClusterSpec spec_ = RayClusterSpec::read(cluster_);
  RayClusterObserved seen_ = all_running(cluster_);
};

TEST_F(Children, OfDifferentTypesMayHaveOneName) {
  add_live(kRoles);
  const std::vector<Child> out = decide({child(kServiceAccounts), child(kRoles)});
  EXPECT_EQ(out[0].decision.kind, Kind::kCreate);
  EXPECT_EQ(out[1].decision.kind, Kind::kNone);
  EXPECT_EQ(out[1].uid, "uid-of-child");
  EXPECT_TRUE(are_usable(out));
}

TEST_F(Children, AreWrittenAtTheSameTimeButRoleBindingsAfterRoles) {
  const plan::Plan plan = rendered({child(kRoleBindings), child(kServiceAccounts), child(kRoles)});
  EXPECT_THAT(stages_of(plan),
              ElementsAre(ElementsAre("create ServiceAccount maxtext-tpu-cluster", "create Role maxtext-tpu-cluster"),
                          ElementsAre("create RoleBinding maxtext-tpu-cluster")));
}

TEST_F(Children, HaveUpstreamsEventsAfterTheirWrite) {
  const plan::Plan plan = rendered({child(kServiceAccounts), child(kRoles)});
  EXPECT_THAT(plan.events, IsEmpty());
  EXPECT_THAT(writes_of(plan),
              ElementsAre("create ServiceAccount maxtext-tpu-cluster", "create Role maxtext-tpu-cluster"));
  const plan::Action creation = action_of(plan, "create Role maxtext-tpu-cluster");
  const plan::ActionEvents& events = *creation.events;
  ASSERT_THAT(events.on_success, SizeIs(1));
  EXPECT_EQ(events.on_success[0].reason, "CreatedRole");
  EXPECT_EQ(events.on_success[0].message, "Created role default/maxtext-tpu-cluster");
  ASSERT_THAT(events.on_failure, SizeIs(1));
  EXPECT_EQ(events.on_failure[0].reason, "FailedToCreateRole");
  EXPECT_EQ(events.on_failure[0].message, "Failed creating role default/maxtext-tpu-cluster");
}

TEST_F(Children, OfAnotherOwnerHoldBackThePodsAndAreReported) {
  add_live(kRoles, "other");
  EXPECT_FALSE(are_usable(decide({child(kRoles)})));
  const plan::Plan plan = rendered({child(kRoles)});
  EXPECT_THAT(plan.stages, IsEmpty());
  EXPECT_THAT(plan.reason, HasSubstr("role default/maxtext-tpu-cluster belongs to ConfigMap other"));
  EXPECT_EQ(plan.requeue_after, plan::kConflictRetry);
  ASSERT_THAT(plan.events, SizeIs(1));
  EXPECT_EQ(plan.events[0].reason, "FailedToCreateRole");
  EXPECT_EQ(string_at(plan.status->status, {"state"}), "");
  const Json* condition = find_condition(plan.status->status["conditions"], plan::kChildrenReady);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ((*condition)["reason"], kChildConflict);
}

TEST_F(Children, OfATypeThatIsNotWatchedAreWaitedFor) {
  seen_.children.unwatched = {kRoles};
  EXPECT_FALSE(are_usable(decide({child(kRoles)})));
  const plan::Plan plan = rendered({child(kRoles), child(kServiceAccounts)});
  EXPECT_THAT(writes_of(plan), ElementsAre("create ServiceAccount maxtext-tpu-cluster"));
  EXPECT_EQ(plan.requeue_after, kUnwatchedRetry);
  const Problem problem = child_problem(decide({child(kRoles)}), std::nullopt);
  EXPECT_EQ(problem.reason, "ChildrenPending");
  EXPECT_THAT(problem.message, HasSubstr("roles are not watched yet"));
}

TEST_F(Children, OfATypeThatIsNotWatchedCountAsPresentIfTheyWereJustNow) {
  add_live(kRoles);
  edit(seen_.cluster)["status"] = rendered({child(kRoles)}).status->status;
  seen_.children = {.unwatched = {kRoles}};
  EXPECT_TRUE(are_usable(decide({child(kRoles)})));
  const plan::Plan plan = rendered({child(kRoles)});
  EXPECT_TRUE(plan.empty()) << to_json(plan).dump();
  EXPECT_EQ(plan.requeue_after, kUnwatchedRetry);
  edit(seen_.cluster)["metadata"]["generation"] = 7;
  EXPECT_FALSE(are_usable(decide({child(kRoles)}))) << "the new spec may need other children";
}

TEST_F(Children, WithoutAnOwnerAreAdopted) {
  add_live_with_owners(kRoles, Json::array());
  const plan::Plan plan = rendered({child(kRoles)});
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch RayCluster maxtext-tpu-cluster status"),
                                           ElementsAre("patch Role maxtext-tpu-cluster")))
      << "the cluster must not be being deleted";
  const plan::Action adoption = action_of(plan, "patch Role maxtext-tpu-cluster");
  EXPECT_EQ(adoption.preconditions.uid, "uid-of-child");
  EXPECT_EQ(adoption.body.make().value()["metadata"]["ownerReferences"], Json::array({spec_.owner.to_json()}));
  EXPECT_EQ(plan.reason, "role maxtext-tpu-cluster has no owner: adopting it");
}

TEST_F(Children, ReportTheFailureOfTheirWrite) {
  const Problem problem = child_problem(decide({child(kRoles)}), plan::Failure{"FailedRole", "forbidden"});
  EXPECT_EQ(problem, (Problem{"FailedRole", "forbidden"}));
  EXPECT_EQ(child_problem(decide({child(kRoles)}), plan::Failure{"FailedCreateHeadPod", "quota"}).reason,
            "ChildrenPending");
}

TEST_F(Children, AreReadyIfNoneAreNeeded) {
  const plan::Plan without = rendered({});
  const Json* none = find_condition(without.status->status["conditions"], plan::kChildrenReady);
  ASSERT_NE(none, nullptr);
  EXPECT_EQ((*none)["message"], "only pods and services are needed");
  add_live(kRoles);
  const plan::Plan with = rendered({child(kRoles)});
  EXPECT_TRUE(is_condition_true(with.status->status["conditions"], plan::kChildrenReady));
}

TEST(ChildKeys, AreThoseOfTheDesiredChildren) {
  Json json = tutorial_cluster();
  json["spec"]["enableInTreeAutoscaling"] = true;
  json["spec"]["headGroupSpec"]["enableIngress"] = true;
  for (const char* account : {"", "mine"}) {
    json["spec"]["headGroupSpec"]["template"]["spec"]["serviceAccountName"] = account;
    const Object cluster(json);
    const RayClusterSpec spec = RayClusterSpec::read(cluster);
    std::vector<std::string> desired;
    for (const Object& child : desired_children(spec)) {
      desired.push_back(fmt::format("{} {}", child.kind(), child.key().to_string()));
    }
    std::vector<std::string> keys;
    for (const ChildKey& child : child_keys(spec)) {
      keys.push_back(fmt::format("{} {}", child.type.kind, child.key.to_string()));
    }
    EXPECT_EQ(keys, desired);
    EXPECT_THAT(keys, SizeIs(*account == '\0' ? 4 : 3));
  }
  const Json tutorial = tutorial_cluster();
  EXPECT_THAT(child_keys(RayClusterSpec::read(tutorial)), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::raycluster
