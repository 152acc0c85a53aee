// The rules of the schemas: the API server refuses what they forbid, with their message, while no webhook is installed.
#include <fmt/format.h>

#include "tests/e2e/crds/crds_plane.h"
#include "tests/support/crds.h"

namespace tpuslice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Refusal {
  std::string kind;
  Json spec;            ///< Merged into the spec of a valid object.
  std::string message;  ///< Part of the API server's.
  Json before = {};     ///< Merged into the spec of the object that is updated. Null: the object is created.
};

class Rules : public CrdsPlane {
 protected:
  /// What kubectl prints when it creates the object, or updates it.
  std::string refusal_of(const Refusal& each) {
    const Json valid = valid_object(each.kind);
    Json object = valid;
    object["spec"].merge_patch(each.spec);
    if (each.before.is_null()) return run("kubectl create --dry-run=server -f " + write(object)).text;
    Json before = valid;
    before["spec"].merge_patch(each.before);
    const std::string name = fmt::format("{}/valid", each.kind);
    expect_run(fmt::format("kubectl delete {} --ignore-not-found", name));
    expect_run("kubectl create -f " + write(before));
    object = before;
    object["spec"].merge_patch(each.spec);
    return run("kubectl replace --dry-run=server -f " + write(object)).text;
  }
};

Json group(const Json& fields) {
  Json group = valid_object("RayCluster")["spec"]["workerGroupSpecs"][0];
  group.merge_patch(fields);
  return Json::array({group});
}

std::vector<Refusal> refusals_of_ray() {
  const std::string wrong_manager =
      "the managedBy field value must be either 'ray.io/kuberay-operator' or 'kueue.x-k8s.io/multikueue'";
  const Json deletion_rule = {{"policy", "DeleteCluster"}, {"condition", {{"jobStatus", "FAILED"}}}};
  return {
      {"RayCluster", {{"managedBy", "other"}}, wrong_manager},
      {"RayJob", {{"managedBy", "other"}}, wrong_manager},
      {"RayService", {{"managedBy", "other"}}, wrong_manager},
      {"RayCluster",
       {{"managedBy", "kueue.x-k8s.io/multikueue"}},
       "the managedBy field is immutable",
       {{"managedBy", "ray.io/kuberay-operator"}}},
      {"RayCluster",
       {{"gcsFaultToleranceOptions", {{"backend", "rocksdb"}}}},
       "gcsFaultToleranceOptions.backend is immutable",
       {{"gcsFaultToleranceOptions", {{"backend", "redis"}}}}},
      {"RayCluster",
       {{"gcsFaultToleranceOptions", {{"storage", {{"size", "1Gi"}}}}}},
       "spec.gcsFaultToleranceOptions.storage: Invalid value: is for the backend rocksdb only"},
      {"RayCluster",
       {{"workerGroupSpecs", group({{"minReplicas", 3}, {"maxReplicas", 2}})}},
       "spec.workerGroupSpecs[0].minReplicas: Invalid value: must be less than or equal to maxReplicas"},
      {"RayCluster",
       {{"authOptions", {{"enableK8sTokenAuth", true}}}},
       "spec.authOptions.enableK8sTokenAuth: Invalid value: needs mode: token"},
      {"RayCluster",
       {{"authOptions", {{"mode", "token"}, {"enableK8sTokenAuth", true}, {"secretName", "s"}}}},
       "spec.authOptions.secretName: Invalid value: cannot be combined with enableK8sTokenAuth"},
      {"RayCluster", {{"networkPolicy", {{"mode", "Open"}}}}, "supported values: \"DenyAll\""},
      {"RayJob", {{"rayClusterSpec", nullptr}}, "set rayClusterSpec or clusterSelector"},
      {"RayJob",
       {{"clusterSelector", {{"ray.io/cluster", "c"}}}, {"backoffLimit", 1}},
       "spec.backoffLimit: Invalid value: cannot be combined with clusterSelector: a retry needs a new cluster"},
      {"RayJob",
       {{"submissionMode", "InteractiveMode"}, {"backoffLimit", 1}},
       "cannot be combined with submissionMode InteractiveMode: the user submits the job"},
      {"RayJob",
       {{"submissionMode", "SidecarMode"}, {"submitterConfig", {{"backoffLimit", 1}}}},
       "SidecarMode cannot be combined with submitterPodTemplate and submitterConfig"},
      {"RayJob",
       {{"deletionStrategy", {{"onSuccess", {{"policy", "DeleteSelf"}}}}}},
       "deletionStrategy requires either BOTH onSuccess and onFailure, OR the deletionRules field (cannot be empty)"},
      {"RayJob",
       {{"deletionStrategy",
         {{"onSuccess", {{"policy", "DeleteSelf"}}}, {"deletionRules", Json::array({deletion_rule})}}}},
       "legacy policies (onSuccess/onFailure) and deletionRules cannot be used together within the same "
       "deletionStrategy"},
      {"RayJob",
       {{"deletionStrategy",
         {{"deletionRules", Json::array({Json{{"policy", "DeleteSelf"}, {"condition", {{"ttlSeconds", 1}}}}})}}}},
       "the deletion condition requires either the JobStatus or the JobDeploymentStatus field."},
  };
}

std::vector<Refusal> refusals_of_sets() {
  const Json depends = {{"name", "workers"}, {"status", "Ready"}};
  Json dependent = valid_object("JobSet")["spec"]["replicatedJobs"][0];
  dependent["name"] = "second";
  dependent["dependsOn"] = Json::array({depends});
  const Json jobs = Json::array({valid_object("JobSet")["spec"]["replicatedJobs"][0], dependent});
  const auto groups = [](const Json& size, const Json& policy) {
    return Json{{"leaderWorkerTemplate", {{"size", size}, {"subGroupPolicy", policy}}}};
  };
  Json renamed = jobs[0];
  renamed["name"] = "renamed";
  return {
      {"JobSet", {{"replicatedJobs", jobs}}, "replicated jobs cannot be added, removed or renamed", Json::object()},
      {"JobSet",
       {{"replicatedJobs", Json::array({renamed})}},
       "replicated jobs cannot be added, removed or renamed",
       Json::object()},
      {"JobSet",
       {{"managedBy", "acme.io/b"}},
       "spec.managedBy: Invalid value: field is immutable",
       {{"managedBy", "acme.io/a"}}},
      {"JobSet", {{"managedBy", nullptr}}, "field is immutable", {{"managedBy", "acme.io/a"}}},
      {"JobSet",
       {{"successPolicy", {{"operator", "Any"}}}},
       "spec.successPolicy: Invalid value: ",
       {{"successPolicy", {{"operator", "All"}}}}},
      {"JobSet",
       {{"startupPolicy", {{"startupPolicyOrder", "InOrder"}}}, {"replicatedJobs", jobs}},
       "StartupPolicy and DependsOn APIs are mutually exclusive"},
      {"LeaderWorkerSet", groups(5, {{"subGroupSize", 3}}), "size or size - 1 must be divisible by subGroupSize"},
      {"LeaderWorkerSet", groups(2, {{"subGroupSize", 4}}), "subGroupSize cannot be larger than size"},
      {"LeaderWorkerSet", groups(4, {{"subGroupSize", 2}}),
       "cannot enable subGroupSize after the lws is already created", groups(4, nullptr)},
      {"LeaderWorkerSet",
       {{"rolloutStrategy", {{"rollingUpdateConfiguration", {{"maxUnavailable", 0}}}}}},
       "must not be 0 when `maxSurge` is 0"},
  };
}

TEST_F(Rules, AcceptValidObjects) {
  install();
  for (const Json& crd : read_crds()) {
    const std::string kind = string_at(crd, {"spec", "names", "kind"});
    expect_run("kubectl create --validate=strict --dry-run=server -f " + write(valid_object(kind)));
  }
  Json old = valid_object("RayCluster");
  old["apiVersion"] = "ray.io/v1alpha1";
  expect_run("kubectl create --validate=strict --dry-run=server -f " + write(old));
}

TEST_F(Rules, RefuseInvalidObjects) {
  install();
  std::vector<Refusal> refusals = refusals_of_ray();
  for (const Refusal& refusal : refusals_of_sets()) refusals.push_back(refusal);
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(refusal_of(refusal), HasSubstr(refusal.message)) << refusal.kind << " " << refusal.spec.dump();
  }
}

// The limits of docs/compatibility.md hold for both versions.
TEST_F(Rules, HoldForTheOldVersion) {
  install();
  Json object = valid_object("RayCluster");
  object["apiVersion"] = "ray.io/v1alpha1";
  object["spec"]["managedBy"] = "other";
  object["spec"]["workerGroupSpecs"][0]["numOfHosts"] = 100000000;
  const std::string text = run("kubectl create --dry-run=server -f " + write(object)).text;
  EXPECT_THAT(text, HasSubstr("numOfHosts in body should be less than or equal to 9216"));
  EXPECT_THAT(text, Not(HasSubstr("created")));
}

}  // namespace
}  // namespace tpuslice::testing
