// The CRD is written by hand: that it says what its readers rely on is checked here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::ElementsAre;

std::string text() { return read_file("deploy/crds/ray.io_rayclusters.yaml").value(); }

Json version() { return parse_yaml(text()).value()["spec"]["versions"][0]; }
Json schema() { return version()["schema"]["openAPIV3Schema"]; }

// Members of `value` that the schema would prune, as paths.
void find_pruned(const Json& value, const Json& schema, const std::string& path, std::vector<std::string>& out) {
  if (schema.value("x-kubernetes-preserve-unknown-fields", false)) return;
  if (value.is_array()) {
    for (const Json& item : value) find_pruned(item, schema["items"], path + "[]", out);
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    const std::string below = path + "." + name;
    if (schema.contains("properties") && schema["properties"].contains(name)) {
      find_pruned(member, schema["properties"][name], below, out);
    } else if (!schema.contains("additionalProperties")) {
      out.push_back(below);
    }
  }
}

// Every schema node must have a type, or the API server refuses the CRD as not structural.
void find_untyped(const Json& schema, const std::string& path, std::vector<std::string>& out) {
  if (!schema.contains("type") && !schema.value("x-kubernetes-int-or-string", false)) out.push_back(path);
  if (schema.contains("properties")) {
    for (const auto& [name, member] : schema["properties"].items()) find_untyped(member, path + "." + name, out);
  }
  if (schema.contains("items")) find_untyped(schema["items"], path + "[]", out);
  if (schema.contains("additionalProperties")) find_untyped(schema["additionalProperties"], path + "{}", out);
}

TEST(RayClusterCrd, IsSmallEnoughForClientSideApply) { EXPECT_LT(text().size(), 64U * 1024U); }

TEST(RayClusterCrd, IsStructural) {
  std::vector<std::string> untyped;
  find_untyped(schema(), "", untyped);
  EXPECT_THAT(untyped, ElementsAre());
}

TEST(RayClusterCrd, KeepsEverythingTheTutorialSays) {
  std::vector<std::string> pruned;
  find_pruned(tutorial_cluster()["spec"], schema()["properties"]["spec"], "spec", pruned);
  EXPECT_THAT(pruned, ElementsAre());
}

TEST(RayClusterCrd, KeepsWhatAuthenticationAndFaultToleranceNeed) {
  const Json spec = Json::parse(R"({
    "authOptions": {"mode": "token", "enableK8sTokenAuth": true, "secretName": "s"},
    "gcsFaultToleranceOptions": {
      "backend": "redis", "redisAddress": "redis:6379", "externalStorageNamespace": "n", "storage": {"size": "1Gi"},
      "redisUsername": {"value": "ray"},
      "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "password"}}}}})");
  std::vector<std::string> pruned;
  find_pruned(spec, schema()["properties"]["spec"], "spec", pruned);
  EXPECT_THAT(pruned, ElementsAre());
}

TEST(RayClusterCrd, DefaultsAsUpstream) {
  const Json group = schema()["properties"]["spec"]["properties"]["workerGroupSpecs"]["items"];
  EXPECT_EQ(group["properties"]["replicas"]["default"], 0);
  EXPECT_EQ(group["properties"]["minReplicas"]["default"], 0);
  EXPECT_EQ(group["properties"]["maxReplicas"]["default"], 2147483647);
  EXPECT_EQ(group["properties"]["numOfHosts"]["default"], 1);
  EXPECT_EQ(group["required"], Json({"groupName", "maxReplicas", "minReplicas", "template"}));
}

TEST(RayClusterCrd, PrintsTheColumnsOfUpstream) {
  std::vector<std::string> names;
  const Json columns = version()["additionalPrinterColumns"];
  for (const Json& column : columns) names.push_back(column["name"]);
  EXPECT_THAT(names, ElementsAre("desired workers", "available workers", "cpus", "memory", "gpus", "tpus", "status",
                                 "age", "head pod IP", "head service IP", "slices", "waits"));
}

}  // namespace
}  // namespace tpuslice::raycluster
