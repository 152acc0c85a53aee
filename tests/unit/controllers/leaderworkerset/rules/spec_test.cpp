#include "controllers/leaderworkerset/rules/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LeaderWorkerSetSpec, HasUpstreamsDefaults) {
  const Object object = a_set("serve").object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(spec.key, (ObjectKey{"default", "serve"}));
  EXPECT_EQ(spec.uid, "uid-of-serve");
  EXPECT_EQ(spec.owner.kind, "LeaderWorkerSet");
  EXPECT_EQ(spec.replicas, 1);
  EXPECT_EQ(spec.group.size, 1);
  EXPECT_EQ(spec.group.workers(), 0);
  EXPECT_EQ(spec.group.leader, spec.group.worker) << "leaders use the worker template";
  EXPECT_FALSE(spec.group.subgroups.has_value());
  EXPECT_FALSE(spec.group.service_per_group);
  EXPECT_EQ(spec.group.volume_claims, nullptr);
  EXPECT_EQ(spec.group.claim_retention, nullptr);
  EXPECT_EQ(spec.restarts, RestartPolicy::kRecreateGroupOnPodRestart);
  EXPECT_EQ(spec.startup, StartupPolicy::kLeaderCreated);
  EXPECT_EQ(spec.rollout.max_unavailable, 1);
  EXPECT_EQ(spec.rollout.max_surge, 0);
  EXPECT_EQ(spec.rollout.partition, 0);
  EXPECT_EQ(spec.topology_key, "");
  EXPECT_EQ(spec.subgroup_topology_key, "");
}

TEST(LeaderWorkerSetSpec, ReadsAllFields) {
  const Object object = a_set("serve")
                            .replicas(4)
                            .size(5)
                            .leader()
                            .subgroups(2)
                            .rollout(2, 3, 1)
                            .set("/spec/startupPolicy", "LeaderReady")
                            .set("/spec/networkConfig/subdomainPolicy", "UniquePerReplica")
                            .of_template("/restartPolicy", "RecreateGroupAfterStart")
                            .of_template("/volumeClaimTemplates", Json::array({{{"metadata", {{"name", "data"}}}}}))
                            .of_template("/persistentVolumeClaimRetentionPolicy", {{"whenDeleted", "Delete"}})
                            .label("team", "a")
                            .annotation("leaderworkerset.sigs.k8s.io/exclusive-topology", "rack")
                            .annotation("leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "pool")
                            .object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(spec.replicas, 4);
  EXPECT_EQ(spec.group.size, 5);
  EXPECT_EQ(spec.group.workers(), 4);
  EXPECT_EQ(string_at(*spec.group.leader, {"spec", "containers", "0", "name"}), "leader");
  EXPECT_EQ(string_at(*spec.group.worker, {"spec", "containers", "0", "name"}), "worker");
  ASSERT_TRUE(spec.group.subgroups.has_value());
  EXPECT_EQ(spec.group.subgroups->size, 2);
  EXPECT_FALSE(spec.group.subgroups->leader_excluded);
  EXPECT_TRUE(spec.group.service_per_group);
  EXPECT_EQ(spec.group.volume_claims->size(), 1U);
  EXPECT_EQ(string_at(*spec.group.claim_retention, {"whenDeleted"}), "Delete");
  EXPECT_EQ(spec.restarts, RestartPolicy::kRecreateGroupAfterStart);
  EXPECT_EQ(spec.startup, StartupPolicy::kLeaderReady);
  EXPECT_EQ(spec.rollout.max_unavailable, 2);
  EXPECT_EQ(spec.rollout.max_surge, 3);
  EXPECT_EQ(spec.rollout.partition, 1);
  EXPECT_THAT(spec.labels, ElementsAre(testing::Pair("team", "a")));
  EXPECT_EQ(spec.topology_key, "rack");
  EXPECT_EQ(spec.subgroup_topology_key, "pool");
}

TEST(LeaderWorkerSetSpec, ReadsNullAsAbsent) {
  Json set = a_set("serve").json();
  set["spec"]["replicas"] = nullptr;
  set["spec"]["networkConfig"] = nullptr;
  set["spec"]["rolloutStrategy"] = nullptr;
  for (const char* field : {"leaderTemplate", "size", "restartPolicy", "subGroupPolicy", "volumeClaimTemplates",
                            "persistentVolumeClaimRetentionPolicy"}) {
    set["spec"]["leaderWorkerTemplate"][field] = nullptr;
  }
  set["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["args"] = nullptr;
  const Object object(set);
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(spec.replicas, 1);
  EXPECT_EQ(spec.group.size, 1);
  EXPECT_EQ(spec.group.leader, spec.group.worker);
  EXPECT_EQ(spec.group.claim_retention, nullptr);
  EXPECT_EQ(spec.rollout.max_unavailable, 1);
  EXPECT_THAT(rules::validate_leaderworkerset(set, nullptr), IsEmpty());
}

TEST(LeaderWorkerSetSpec, RoundsMaxUnavailableDownAndMaxSurgeUp) {
  const Object object = a_set("serve").replicas(5).rollout("30%", "30%").object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(spec.rollout.max_unavailable, 1);
  EXPECT_EQ(spec.rollout.max_surge, 2);
}

TEST(LeaderWorkerSetSpec, LimitsMaxSurgeToReplicas) {
  const Object object = a_set("serve").replicas(2).rollout(1, 7).object();
  EXPECT_EQ(LeaderWorkerSetSpec::read(object).rollout.max_surge, 2);
}

TEST(LeaderWorkerSetSpec, ReadsTheDeprecatedRestartPolicyDefaultAsNone) {
  for (const char* policy : {"None", "Default"}) {
    const Object object = a_set("serve").of_template("/restartPolicy", policy).object();
    EXPECT_EQ(LeaderWorkerSetSpec::read(object).restarts, RestartPolicy::kNone) << policy;
  }
}

TEST(LeaderWorkerSetSpec, ReadsRecreateGroupAfterStartFromTheAnnotation) {
  SetBuilder set = a_set("serve").annotation("leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start", "");
  const Object object = set.object();
  EXPECT_EQ(LeaderWorkerSetSpec::read(object).restarts, RestartPolicy::kRecreateGroupAfterStart);
  const Object none = set.of_template("/restartPolicy", "None").object();
  EXPECT_EQ(LeaderWorkerSetSpec::read(none).restarts, RestartPolicy::kNone);
}

TEST(LeaderWorkerSetSpec, ReadsLeaderExcluded) {
  const Object object = a_set("serve").size(5).subgroups(2, true).object();
  EXPECT_TRUE(LeaderWorkerSetSpec::read(object).group.subgroups->leader_excluded);
}

TEST(LeaderWorkerSetSpec, NamesGroupsByIndex) {
  const Object object = a_set("serve-1").object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  EXPECT_EQ(group_name(spec, 12), "serve-1-12");
  EXPECT_EQ(parse_group_index(spec, "serve-1-12"), 12);
  EXPECT_EQ(parse_group_index(spec, "serve-1-0"), 0);
  for (const char* other : {"serve-1", "serve-1-", "serve-2-0", "serve-1-01", "serve-1--1", "serve-1-+1", "serve-1-0-1",
                            "serve-1-x", "serve-1-99999999999", "other"}) {
    EXPECT_EQ(parse_group_index(spec, other), std::nullopt) << other;
  }
}

class MalformedSets : public testing::TestWithParam<const char*> {};

TEST_P(MalformedSets, DoNotThrow) {
  const Object object(Json::parse(GetParam()));
  EXPECT_NO_THROW((void)LeaderWorkerSetSpec::read(object));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, MalformedSets,
    testing::Values(R"({})", R"({"spec": null})", R"({"spec": 1, "metadata": []})",
                    R"({"spec": {"leaderWorkerTemplate": []}})",
                    R"({"spec": {"leaderWorkerTemplate": {"size": -1, "workerTemplate": 1, "leaderTemplate": "x"}}})",
                    R"({"spec": {"leaderWorkerTemplate": {"subGroupPolicy": 1, "volumeClaimTemplates": {}}}})",
                    R"({"spec": {"replicas": "x", "networkConfig": [], "startupPolicy": 3}})",
                    R"({"spec": {"rolloutStrategy": {"rollingUpdateConfiguration":
                        {"maxUnavailable": "x", "maxSurge": -1, "partition": "1"}}}})"));

}  // namespace
}  // namespace tpuslice::leaderworkerset
