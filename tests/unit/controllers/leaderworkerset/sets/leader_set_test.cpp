#include "controllers/leaderworkerset/sets/leader_set.h"

#include <gtest/gtest.h>

#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

Json leader_set_of(const SetBuilder& set, const LeaderSetState& state = {.revision_key = "key"}) {
  const Object object = set.object();
  return build_leader_set(LeaderWorkerSetSpec::read(object), state);
}

std::string annotation_of(const Json& set, std::string_view name) {
  return string_at(set, {"spec", "template", "metadata", "annotations", name}, "<absent>");
}

TEST(LeaderSet, IsByteEqualToUpstreams) {
  const SetBuilder set = a_set("serve").replicas(3).size(4).rollout(1, 2).label("team", "a").annotation("note", "b");
  EXPECT_EQ(leader_set_of(set, {.revision_key = "key", .replicas = 5, .partition = 2}), Json::parse(R"({
    "apiVersion": "apps/v1", "kind": "StatefulSet",
    "metadata": {
      "name": "serve", "namespace": "default",
      "labels": {"team": "a", "leaderworkerset.sigs.k8s.io/name": "serve",
                 "leaderworkerset.sigs.k8s.io/template-revision-hash": "key"},
      "annotations": {"note": "b", "leaderworkerset.sigs.k8s.io/replicas": "3"},
      "ownerReferences": [{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "serve",
                           "uid": "uid-of-serve", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {
      "replicas": 5, "serviceName": "serve", "podManagementPolicy": "Parallel",
      "selector": {"matchLabels": {"leaderworkerset.sigs.k8s.io/name": "serve",
                                   "leaderworkerset.sigs.k8s.io/worker-index": "0"}},
      "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 3, "partition": 2}},
      "template": {
        "metadata": {
          "labels": {"leaderworkerset.sigs.k8s.io/name": "serve", "leaderworkerset.sigs.k8s.io/worker-index": "0",
                     "leaderworkerset.sigs.k8s.io/template-revision-hash": "key"},
          "annotations": {"leaderworkerset.sigs.k8s.io/size": "4"}},
        "spec": {"containers": [{"name": "worker", "image": "worker:1", "resources": {}}]}}}})"));
}

TEST(LeaderSet, UsesTheLeaderTemplateIfThereIsOne) {
  const Json set = leader_set_of(a_set("serve").size(4).leader());
  EXPECT_EQ(string_at(set, {"spec", "template", "spec", "containers", "0", "name"}), "leader");
  EXPECT_EQ(string_at(set, {"spec", "template", "metadata", "labels", "app"}), "leader");
}

TEST(LeaderSet, OverridesLabelsAndAnnotationsOfTheTemplate) {
  const Json set = leader_set_of(a_set("serve").of_template(
      "/workerTemplate/metadata",
      {{"labels", {{"leaderworkerset.sigs.k8s.io/worker-index", "7"}, {"leaderworkerset.sigs.k8s.io/name", "x"}}},
       {"annotations", {{"leaderworkerset.sigs.k8s.io/size", "9"}}}}));
  const Json& metadata = set["spec"]["template"]["metadata"];
  EXPECT_EQ(string_at(metadata, {"labels", "leaderworkerset.sigs.k8s.io/worker-index"}), "0");
  EXPECT_EQ(string_at(metadata, {"labels", "leaderworkerset.sigs.k8s.io/name"}), "serve");
  EXPECT_EQ(string_at(metadata, {"annotations", "leaderworkerset.sigs.k8s.io/size"}), "1");
}

TEST(LeaderSet, AnnotatesPodsWithSubgroupsPlacementAndSubdomainPolicy) {
  const Json set = leader_set_of(a_set("serve")
                                     .size(5)
                                     .subgroups(2, true)
                                     .set("/spec/networkConfig/subdomainPolicy", "UniquePerReplica")
                                     .annotation("leaderworkerset.sigs.k8s.io/exclusive-topology", "rack")
                                     .annotation("leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "pool"));
  EXPECT_EQ(set["spec"]["template"]["metadata"]["annotations"],
            Json({{"leaderworkerset.sigs.k8s.io/size", "5"},
                  {"leaderworkerset.sigs.k8s.io/exclusive-topology", "rack"},
                  {"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "pool"},
                  {"leaderworkerset.sigs.k8s.io/subgroup-policy-type", "LeaderExcluded"},
                  {"leaderworkerset.sigs.k8s.io/subgroup-size", "2"},
                  {"leaderworkerset.sigs.k8s.io/subdomainPolicy", "UniquePerReplica"}}));
  EXPECT_EQ(set["spec"]["serviceName"], "serve") << "as upstream; admission sets the subdomain of leaders";
}

TEST(LeaderSet, HasNoSubgroupTopologyWithoutSubgroups) {
  const Json set = leader_set_of(
      a_set("serve").size(4).annotation("leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "pool"));
  EXPECT_EQ(annotation_of(set, "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"), "<absent>");
}

TEST(LeaderSet, DoesNotInheritTheLastAppliedAnnotation) {
  const Json set = leader_set_of(a_set("serve").annotation("kubectl.kubernetes.io/last-applied-configuration", "{}"));
  EXPECT_EQ(set["metadata"]["annotations"], Json({{"leaderworkerset.sigs.k8s.io/replicas", "1"}}));
}

TEST(LeaderSet, UpdatesAtLeastOneLeaderAtATime) {
  const Json none = leader_set_of(a_set("serve").replicas(0).rollout("50%", "50%"));
  EXPECT_EQ(none["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], 1);
  const Json many = leader_set_of(a_set("serve").replicas(3).rollout(2, 9));
  EXPECT_EQ(many["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], 5);
}

TEST(LeaderSet, CopiesWholeVolumeClaims) {
  const Json claim = Json::parse(R"({"metadata": {"name": "data", "labels": {"a": "b"}, "creationTimestamp": null},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "selector": {"matchLabels": {"x": "y"}},
             "resources": {"requests": {"storage": "1024Mi"}}}, "status": {}})");
  const Json set =
      leader_set_of(a_set("serve")
                        .of_template("/volumeClaimTemplates", Json::array({claim}))
                        .of_template("/persistentVolumeClaimRetentionPolicy", {{"whenDeleted", "Delete"}}));
  EXPECT_EQ(set["spec"]["volumeClaimTemplates"], Json::parse(R"([{
    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default", "labels": {"a": "b"}},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "selector": {"matchLabels": {"x": "y"}},
             "resources": {"requests": {"storage": "1Gi"}}}}])"));
  EXPECT_EQ(set["spec"]["persistentVolumeClaimRetentionPolicy"], Json({{"whenDeleted", "Delete"}}));
}

TEST(LeaderSet, AnnotatesLeadersWithoutTpusThatFollowTheirSlice) {
  const SetBuilder set = a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "4x4");
  EXPECT_EQ(annotation_of(leader_set_of(set), "tpuslice.dev/slice-leader"), "<absent>") << "not exclusive";
  SetBuilder exclusive = set;
  exclusive.annotation("leaderworkerset.sigs.k8s.io/exclusive-topology", "pool");
  EXPECT_EQ(annotation_of(leader_set_of(exclusive), "tpuslice.dev/slice-leader"), "with-slice");
  exclusive.set("/spec/startupPolicy", "LeaderReady");
  EXPECT_EQ(annotation_of(leader_set_of(exclusive), "tpuslice.dev/slice-leader"), "anywhere");
  EXPECT_EQ(annotation_of(leader_set_of(exclusive), "tpuslice.dev/slice-start"), "<absent>");
}

TEST(LeaderSet, StartsALeaderHostBeforeItsWorkersIfTheyWaitForIt) {
  SetBuilder set = a_set("serve").size(4).tpu("tpu-v6e-slice", "4x4");
  EXPECT_EQ(annotation_of(leader_set_of(set), "tpuslice.dev/slice-start"), "<absent>");
  set.set("/spec/startupPolicy", "LeaderReady");
  EXPECT_EQ(annotation_of(leader_set_of(set), "tpuslice.dev/slice-start"), "others-follow-host-0");
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
