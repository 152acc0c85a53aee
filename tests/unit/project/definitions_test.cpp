// The definitions in deploy/crds are written by hand (docs/adr/0009): that they say what their readers rely on is
// checked here, what an API server makes of them by tests/conformance.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/yaml.h"

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kJobSetDefinition = "deploy/crds/jobset.x-k8s.io_jobsets.yaml";
constexpr const char* kLwsDefinition = "deploy/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml";
constexpr const char* kRayClusterDefinition = "deploy/crds/ray.io_rayclusters.yaml";
constexpr const char* kRayJobDefinition = "deploy/crds/ray.io_rayjobs.yaml";
constexpr const char* kRayCronJobDefinition = "deploy/crds/ray.io_raycronjobs.yaml";
constexpr const char* kRayServiceDefinition = "deploy/crds/ray.io_rayservices.yaml";
constexpr const char* kDisaggregatedSetDefinition = "deploy/crds/disaggregatedset.x-k8s.io_disaggregatedsets.yaml";

/// The stored version of the first definition of the file.
Json only_version(const std::string& file) {
  return Json(parse_yaml_documents(read_file(file).value()).value().front().value["spec"]["versions"][0]);
}

/// The condition of which our columns print reason and message.
constexpr std::string_view kPlaced = R"(.status.conditions[?(@.type=="tpuslice.dev/SlicesPlaced")])";

bool is_ours(const Json& column) { return string_at(column, {"jsonPath"}).starts_with(kPlaced); }

/// Upstream's columns.
std::vector<std::string> columns_of(const std::string& file) {
  std::vector<std::string> columns;
  const Json version = only_version(file);
  for (const Json& column : array_at(version, {"additionalPrinterColumns"})) {
    if (!is_ours(column)) columns.push_back(string_at(column, {"name"}) + " " + string_at(column, {"jsonPath"}));
  }
  return columns;
}

/// The columns of the operator, in upper case as kubectl prints them.
std::vector<std::string> own_columns_of(const Json& version) {
  std::vector<std::string> columns;
  for (const Json& column : array_at(version, {"additionalPrinterColumns"})) {
    if (!is_ours(column)) {
      EXPECT_THAT(columns, IsEmpty()) << "upstream's columns come first";
      continue;
    }
    EXPECT_EQ(int_at(column, {"priority"}), 1) << "what kubectl get prints without -o wide is upstream's";
    std::string name = string_at(column, {"name"});
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    columns.push_back(name + string_at(column, {"jsonPath"}).substr(kPlaced.size()));
  }
  return columns;
}

/// Calls `visit(path, schema)` for every member of a schema and for what its lists and maps hold.
template <typename Visit>
void each_schema(const Json& schema, const std::string& path, const Visit& visit) {
  if (const Json* properties = find_path(schema, {"properties"})) {
    for (const auto& [name, member] : properties->items()) {
      visit(path + "." + name, member);
      each_schema(member, path + "." + name, visit);
    }
  }
  if (const Json* items = find_path(schema, {"items"})) each_schema(*items, path + "[]", visit);
  if (const Json* values = find_path(schema, {"additionalProperties"})) each_schema(*values, path + "{}", visit);
}

/// The schema of a field, such as "spec.rayClusterSpec", without the description that the field has of its own.
Json schema_at(const std::string& file, const std::vector<std::string>& field) {
  Json schema = only_version(file)["schema"]["openAPIV3Schema"];
  for (const std::string& name : field) schema = Json(schema["properties"][name]);
  schema.erase("description");
  return schema;
}

class Definition : public ::testing::TestWithParam<const char*> {};

TEST_P(Definition, IsSmallEnoughForClientSideApply) {
  // kubectl keeps what was applied, all versions, as JSON in an annotation; all annotations together have 256 KiB.
  EXPECT_LT(parse_yaml(read_file(GetParam()).value()).value().dump().size(), 160U * 1024U);
}

TEST_P(Definition, DescribesEveryFieldOfSpecAndStatus) {
  std::vector<std::string> silent;
  const Json schema = only_version(GetParam())["schema"]["openAPIV3Schema"];
  for (const char* part : {"spec", "status"}) {
    each_schema(schema["properties"][part], part, [&](const std::string& path, const Json& member) {
      if (string_at(member, {"description"}).empty()) silent.push_back(path);
    });
  }
  EXPECT_THAT(silent, IsEmpty());
}

TEST(Definitions, PrintWhySlicesWaitInColumnsOfTheirOwn) {
  for (const char* file : {kJobSetDefinition, kLwsDefinition, kRayClusterDefinition, kRayJobDefinition,
                           kRayServiceDefinition, kDisaggregatedSetDefinition}) {
    EXPECT_THAT(own_columns_of(only_version(file)), ElementsAre("SLICES.reason", "WAITS.message")) << file;
  }
  // Its pods are those of its RayJobs.
  EXPECT_THAT(own_columns_of(only_version(kRayCronJobDefinition)), IsEmpty());
}

TEST(DisaggregatedSetDefinition, PrintsTheAgeAsUpstreamWithoutColumns) {
  EXPECT_THAT(columns_of(kDisaggregatedSetDefinition), ElementsAre("Age .metadata.creationTimestamp"));
}

INSTANTIATE_TEST_SUITE_P(Ours, Definition,
                         ::testing::Values(kJobSetDefinition, kLwsDefinition, kRayClusterDefinition, kRayJobDefinition,
                                           kRayCronJobDefinition, kRayServiceDefinition),
                         [](const auto& file) {
                           const Json crd = parse_yaml(read_file(file.param).value()).value();
                           return string_at(crd, {"spec", "names", "kind"});
                         });

TEST(JobSetDefinition, PrintsTheColumnsOfUpstream) {
  EXPECT_THAT(columns_of(kJobSetDefinition),
              ElementsAre("TerminalState .status.terminalState", "Restarts .status.restarts",
                          R"(Completed .status.conditions[?(@.type=="Completed")].status)", "Suspended .spec.suspend",
                          "Age .metadata.creationTimestamp"));
}

TEST(LeaderWorkerSetDefinition, PrintsTheColumnsOfUpstream) {
  EXPECT_THAT(columns_of(kLwsDefinition),
              ElementsAre("Ready .status.readyReplicas", "Desired .spec.replicas", "Up-to-date .status.updatedReplicas",
                          "Age .metadata.creationTimestamp"));
}

TEST(RayJobDefinition, PrintsTheColumnsOfUpstream) {
  EXPECT_THAT(columns_of(kRayJobDefinition),
              ElementsAre("job status .status.jobStatus", "deployment status .status.jobDeploymentStatus",
                          "ray cluster name .status.rayClusterName", "start time .status.startTime",
                          "end time .status.endTime", "age .metadata.creationTimestamp"));
}

TEST(RayCronJobDefinition, PrintsTheColumnsOfUpstream) {
  EXPECT_THAT(
      columns_of(kRayCronJobDefinition),
      ElementsAre("schedule .spec.schedule", "timezone .spec.timeZone", "last schedule .status.lastScheduleTime",
                  "age .metadata.creationTimestamp", "suspend .spec.suspend"));
}

TEST(RayCronJobDefinition, EmbedsTheSpecOfRayJobs) {
  EXPECT_EQ(schema_at(kRayCronJobDefinition, {"spec", "jobTemplate"}), schema_at(kRayJobDefinition, {"spec"}));
}

TEST(RayServiceDefinition, PrintsTheColumnsOfUpstream) {
  EXPECT_THAT(columns_of(kRayServiceDefinition),
              ElementsAre("service status .status.serviceStatus", "num serve endpoints .status.numServeEndpoints"));
}

TEST(RayDefinitions, EmbedTheSchemaOfRayClusters) {
  const Json spec = schema_at(kRayClusterDefinition, {"spec"});
  const Json status = schema_at(kRayClusterDefinition, {"status"});
  ASSERT_TRUE(spec.contains("properties"));
  EXPECT_EQ(schema_at(kRayJobDefinition, {"spec", "rayClusterSpec"}), spec);
  EXPECT_EQ(schema_at(kRayServiceDefinition, {"spec", "rayClusterConfig"}), spec);
  EXPECT_EQ(schema_at(kRayJobDefinition, {"status", "rayClusterStatus"}), status);
  EXPECT_EQ(schema_at(kRayServiceDefinition, {"status", "activeServiceStatus", "rayClusterStatus"}), status);
  EXPECT_EQ(schema_at(kRayServiceDefinition, {"status", "pendingServiceStatus", "rayClusterStatus"}), status);
}

TEST(RayServiceDefinition, DescribesBothClustersAlike) {
  EXPECT_EQ(schema_at(kRayServiceDefinition, {"status", "activeServiceStatus"}),
            schema_at(kRayServiceDefinition, {"status", "pendingServiceStatus"}));
}

TEST(RayJobDefinition, DefaultsAsUpstream) {
  EXPECT_EQ(schema_at(kRayJobDefinition, {"spec", "backoffLimit"})["default"], 0);
  EXPECT_EQ(schema_at(kRayJobDefinition, {"spec", "submissionMode"})["default"], "K8sJobMode");
  EXPECT_EQ(schema_at(kRayJobDefinition, {"spec", "ttlSecondsAfterFinished"})["default"], 0);
  EXPECT_EQ(schema_at(kRayJobDefinition, {"status", "succeeded"})["default"], 0);
  EXPECT_EQ(schema_at(kRayJobDefinition, {"status", "failed"})["default"], 0);
}

TEST(LeaderWorkerSetDefinition, IsScaledByWhatUpstreamIs) {
  EXPECT_EQ(only_version(kLwsDefinition)["subresources"]["scale"],
            (Json{{"specReplicasPath", ".spec.replicas"},
                  {"statusReplicasPath", ".status.replicas"},
                  {"labelSelectorPath", ".status.hpaPodSelector"}}));
}

}  // namespace
}  // namespace tpuslice
