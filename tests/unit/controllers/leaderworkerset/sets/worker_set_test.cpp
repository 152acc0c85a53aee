#include "controllers/leaderworkerset/sets/worker_set.h"

#include <gtest/gtest.h>

#include "tests/support/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {
namespace {

PodView leader_pod(const std::string& name, Json labels) {
  const Json pod = {{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", "uid-1"}, {"labels", labels}}}};
  return *PodView::from_json(pod);
}

Json worker_set_of(const SetBuilder& set, int group = 3, const Domain& domain = {}) {
  const Object object = set.object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  const PodView pod =
      leader_pod(group_name(spec, group), {{"leaderworkerset.sigs.k8s.io/template-revision-hash", "key"}});
  return build_worker_set(spec, spec.group, Leader::read(spec, pod, group, spec.group), domain);
}

// The key: printf default/serve-3 | sha1sum
TEST(WorkerSet, IsByteEqualToUpstreams) {
  const SetBuilder set = a_set("serve").size(4).label("team", "a").annotation("note", "b");
  EXPECT_EQ(worker_set_of(set), Json::parse(R"({
    "apiVersion": "apps/v1", "kind": "StatefulSet",
    "metadata": {
      "name": "serve-3", "namespace": "default",
      "labels": {"team": "a", "leaderworkerset.sigs.k8s.io/name": "serve",
                 "leaderworkerset.sigs.k8s.io/group-index": "3",
                 "leaderworkerset.sigs.k8s.io/group-key": "ad85ca1bf39c344ede45ff4e17c8071819fffcae",
                 "leaderworkerset.sigs.k8s.io/template-revision-hash": "key"},
      "annotations": {"note": "b"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "serve-3", "uid": "uid-1", "controller": true,
                           "blockOwnerDeletion": true}]},
    "spec": {
      "replicas": 3, "serviceName": "serve", "podManagementPolicy": "Parallel", "ordinals": {"start": 1},
      "selector": {"matchLabels": {"leaderworkerset.sigs.k8s.io/name": "serve",
                                   "leaderworkerset.sigs.k8s.io/group-index": "3",
                                   "leaderworkerset.sigs.k8s.io/group-key": "ad85ca1bf39c344ede45ff4e17c8071819fffcae"}},
      "template": {
        "metadata": {
          "labels": {"leaderworkerset.sigs.k8s.io/name": "serve", "leaderworkerset.sigs.k8s.io/group-index": "3",
                     "leaderworkerset.sigs.k8s.io/group-key": "ad85ca1bf39c344ede45ff4e17c8071819fffcae",
                     "leaderworkerset.sigs.k8s.io/template-revision-hash": "key"},
          "annotations": {"leaderworkerset.sigs.k8s.io/size": "4",
                          "leaderworkerset.sigs.k8s.io/leader-name": "serve-3"}},
        "spec": {"containers": [{"name": "worker", "image": "worker:1", "resources": {}}]}}}})"));
}

TEST(WorkerSet, UsesTheWorkerTemplate) {
  const Json set = worker_set_of(a_set("serve").size(4).leader());
  EXPECT_EQ(string_at(set, {"spec", "template", "spec", "containers", "0", "name"}), "worker");
}

TEST(WorkerSet, UsesTheLeadersRevisionNotTheCurrentSpec) {
  const Object current = a_set("serve").size(9).object();
  const Object old = a_set("serve")
                         .size(5)
                         .subgroups(2)
                         .set("/spec/networkConfig/subdomainPolicy", "UniquePerReplica")
                         .of_template("/workerTemplate/spec/containers/0/image", "worker:0")
                         .object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(current);
  const GroupTemplate group = GroupTemplate::read(old.json());
  const Leader leader{.name = "serve-0", .uid = "u", .group = 0, .group_key = "k", .revision_key = "old"};
  const Json set = build_worker_set(spec, group, leader);
  EXPECT_EQ(set["spec"]["replicas"], 4);
  EXPECT_EQ(set["spec"]["serviceName"], "serve-0");
  EXPECT_EQ(string_at(set, {"spec", "template", "spec", "containers", "0", "image"}), "worker:0");
  const Json& annotations = set["spec"]["template"]["metadata"]["annotations"];
  EXPECT_EQ(annotations["leaderworkerset.sigs.k8s.io/size"], "5");
  EXPECT_EQ(annotations["leaderworkerset.sigs.k8s.io/subgroup-size"], "2");
  EXPECT_EQ(annotations["leaderworkerset.sigs.k8s.io/subgroup-policy-type"], "LeaderWorker");
  EXPECT_FALSE(annotations.contains("leaderworkerset.sigs.k8s.io/subdomainPolicy")) << "only leaders have it";
}

TEST(WorkerSet, AnnotatesWorkersWhoseLeaderHasTpus) {
  constexpr const char* kHasTpus = "leaderworkerset.sigs.k8s.io/leader-requests-tpus";
  const auto annotation = [&](const SetBuilder& set) {
    return string_at(worker_set_of(set), {"spec", "template", "metadata", "annotations", kHasTpus}, "<absent>");
  };
  EXPECT_EQ(annotation(a_set("serve").size(4).tpu("tpu-v6e-slice", "4x4")), "true");
  EXPECT_EQ(annotation(a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "4x4")), "<absent>");
  EXPECT_EQ(annotation(a_set("serve").size(4).of_template(
                "/workerTemplate/spec/initContainers",
                Json::parse(R"([{"name": "i", "resources": {"limits": {"google.com/tpu": "4"}}}])"))),
            "true");
}

TEST(WorkerSet, SelectsTheDomainOfItsLeader) {
  const SetBuilder set = a_set("serve").size(4).of_template("/workerTemplate/spec/nodeSelector", {{"disk", "ssd"}});
  EXPECT_EQ(worker_set_of(set, 0, {"rack", "r1"})["spec"]["template"]["spec"]["nodeSelector"],
            Json({{"disk", "ssd"}, {"rack", "r1"}}));
}

TEST(WorkerSet, UsesUidAndGroupKeyOfTheLiveLeader) {
  const Object object = a_set("serve").size(4).object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  const PodView pod = leader_pod("serve-1", {{"leaderworkerset.sigs.k8s.io/group-key", "as-admitted"},
                                             {"leaderworkerset.sigs.k8s.io/template-revision-hash", "key"}});
  const Leader leader = Leader::read(spec, pod, 1, spec.group);
  EXPECT_EQ(leader.name, "serve-1");
  EXPECT_EQ(leader.uid, "uid-1");
  EXPECT_EQ(leader.group_key, "as-admitted");
  EXPECT_EQ(leader.revision_key, "key");
  EXPECT_FALSE(leader.has_tpus);
}

TEST(WorkerSet, CopiesWholeVolumeClaims) {
  const Json claim = {{"metadata", {{"name", "data"}}}, {"spec", {{"volumeName", "pv"}}}};
  const Json set = worker_set_of(a_set("serve").size(2).of_template("/volumeClaimTemplates", Json::array({claim})));
  EXPECT_EQ(string_at(set, {"spec", "volumeClaimTemplates", "0", "spec", "volumeName"}), "pv");
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
