// deploy/crds applied over the definitions that KubeRay, JobSet and LeaderWorkerSet installed, by the commands of
// docs/upgrade.md. The definitions below have upstream's versions and conversions, with schemas that keep everything.
#include <fmt/format.h>

#include "tests/e2e/crds/crds_plane.h"
#include "tests/support/crds.h"
#include "tests/support/page_commands.h"

namespace tpuslice::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kPage = "docs/upgrade.md";
constexpr const char* kApply = "## From upstream's CRDs";
constexpr const char* kMigrate = "### Objects stored as v1alpha1";
constexpr const char* kConversion = "### A conversion webhook that is left";

using Upstream = CrdsPlane;

/// A CRD as upstream's. Of `versions`, the first one is stored.
Json upstream_crd(const std::string& kind, const std::vector<std::string>& versions) {
  Json crd = read_crd(kind);
  crd["spec"]["versions"] = Json::array();
  for (const std::string& version : versions) {
    crd["spec"]["versions"].push_back(
        {{"name", version},
         {"served", true},
         {"storage", version == versions.front()},
         {"subresources", {{"status", Json::object()}}},
         {"schema",
          {{"openAPIV3Schema",
            {{"type", "object"},
             {"properties",
              {{"spec", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}},
               {"status", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}}});
  }
  return crd;
}

std::string version_of(const Json& object) { return string_at(object, {"metadata", "resourceVersion"}); }

TEST_F(Upstream, ObjectsStoredAsV1alpha1AreKeptAndMigrated) {
  for (const char* kind : {"RayCluster", "RayJob", "RayService"}) {
    // KubeRay 0.6 stored v1alpha1; since 1.0 it stores v1.
    expect_run("kubectl apply --server-side -f " + write(upstream_crd(kind, {"v1alpha1"})));
    wait_established();
    Json old = valid_object(kind);
    old["apiVersion"] = "ray.io/v1alpha1";
    expect_run("kubectl create -f " + write(old));
    expect_run("kubectl apply --server-side -f " + write(upstream_crd(kind, {"v1", "v1alpha1"})));
  }
  const Json before = expect_json("kubectl get raycluster valid -o json");
  const auto apply = commands_of_section(kPage, kApply);
  ASSERT_THAT(apply, SizeIs(2));
  expect_run(apply.front());
  wait_established();
  EXPECT_THAT(expect_run(apply.back()), ContainsRegex("rayjobs.ray.io +\\[v1alpha1 v1\\]"));
  const std::string stored_versions = "kubectl get crd rayclusters.ray.io -o jsonpath='{.status.storedVersions}'";
  EXPECT_EQ(expect_run(stored_versions), R"(["v1alpha1","v1"])");

  const Json after = expect_json("kubectl get rayclusters.v1.ray.io valid -o json");
  EXPECT_EQ(string_at(after, {"apiVersion"}), "ray.io/v1");
  EXPECT_EQ(after["spec"]["rayVersion"], before["spec"]["rayVersion"]);
  EXPECT_EQ(after["spec"]["headGroupSpec"]["template"], before["spec"]["headGroupSpec"]["template"]);
  EXPECT_EQ(after["metadata"]["uid"], before["metadata"]["uid"]);
  EXPECT_EQ(after["metadata"]["generation"], before["metadata"]["generation"]);
  EXPECT_EQ(after["spec"]["workerGroupSpecs"][0]["numOfHosts"], 1) << "defaults are set when it is read";

  for (const std::string& command : commands_of_section(kPage, kMigrate)) expect_run(command);
  const Json migrated = expect_json("kubectl get raycluster valid -o json");
  EXPECT_NE(version_of(migrated), version_of(before)) << "written again, in the stored version";
  EXPECT_EQ(migrated["spec"], after["spec"]);
  for (const char* name : {"rayclusters", "rayjobs", "rayservices"}) {
    EXPECT_EQ(expect_run(fmt::format("kubectl get crd {}.ray.io -o jsonpath='{{.status.storedVersions}}'", name)),
              R"(["v1"])");
  }
  // Not written again: it is stored in v1.
  expect_run("kubectl get raycluster valid -o json | kubectl replace -f -");
  EXPECT_EQ(version_of(expect_json("kubectl get raycluster valid -o json")), version_of(migrated));
}

TEST_F(Upstream, ObjectsAreReadAndWrittenInBothVersions) {
  install();
  Json old = valid_object("RayJob");
  old["apiVersion"] = "ray.io/v1alpha1";
  old["spec"]["deletionStrategy"] = {
      {"deletionRules", Json::array({Json{{"policy", "DeleteSelf"}, {"condition", {{"jobStatus", "FAILED"}}}}})}};
  expect_run("kubectl apply -f " + write(old));
  const Json as_v1 = expect_json("kubectl get rayjob valid -o json");
  EXPECT_EQ(string_at(as_v1, {"spec", "deletionStrategy", "deletionRules", "0", "policy"}), "DeleteSelf");
  EXPECT_EQ(expect_json("kubectl get rayjobs.v1alpha1.ray.io valid -o json")["spec"], as_v1["spec"]);
}

TEST_F(Upstream, AConversionWebhookDoesNotPreventTheApply) {
  const Json conversion = {
      {"strategy", "Webhook"},
      {"webhook",
       {{"clientConfig", {{"service", {{"namespace", "away"}, {"name", "away"}, {"path", "/convert"}}}}},
        {"conversionReviewVersions", {"v1"}}}}};
  for (const auto& [kind, version] : {std::pair("JobSet", "v1alpha2"), std::pair("LeaderWorkerSet", "v1")}) {
    Json crd = upstream_crd(kind, {version});
    crd["spec"]["conversion"] = conversion;
    expect_run("kubectl create --field-manager=helm -f " + write(crd));
  }
  wait_established();
  expect_run("kubectl create -f " + write(valid_object("JobSet")));
  expect_run(commands_of_section(kPage, kApply).front());
  wait_established();
  expect_run("kubectl create -f " + write(valid_object("LeaderWorkerSet")));
  EXPECT_EQ(expect_json("kubectl get jobset valid -o json")["spec"]["replicatedJobs"][0]["replicas"], 1);
  for (const std::string& command : commands_of_section(kPage, kConversion)) expect_run(command);
  for (const char* name : {"jobsets.jobset.x-k8s.io", "leaderworkersets.leaderworkerset.x-k8s.io"}) {
    EXPECT_EQ(expect_run(fmt::format("kubectl get crd {} -o jsonpath='{{.spec.conversion}}'", name)),
              R"({"strategy":"None"})");
  }
}

// JobSet 0.1, whose v1alpha1 has another schema. Upstream's own definition is refused in the same way.
TEST_F(Upstream, JobSetsStoredAsV1alpha1AreNotLost) {
  expect_run("kubectl create -f " + write(upstream_crd("JobSet", {"v1alpha1"})));
  expect_run("kubectl wait --for=condition=Established --timeout=30s crd --all");
  const std::string text = run("kubectl apply --server-side --force-conflicts -f deploy/crds").text;
  EXPECT_THAT(text, HasSubstr("status.storedVersions[0]: Invalid value: \"v1alpha1\""));
}

}  // namespace
}  // namespace tpuslice::testing
