// The definitions in deploy/crds are written by hand (docs/adr/0009): that they say what their readers rely on is
// checked here, what an API server makes of them by tests/conformance.
#include <string>
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

Json only_version(const std::string& file) {
  return parse_yaml(read_file(file).value()).value()["spec"]["versions"][0];
}

std::vector<std::string> columns_of(const std::string& file) {
  std::vector<std::string> columns;
  const Json version = only_version(file);
  for (const Json& column : array_at(version, {"additionalPrinterColumns"})) {
    columns.push_back(string_at(column, {"name"}) + " " + string_at(column, {"jsonPath"}));
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
}

class Definition : public ::testing::TestWithParam<const char*> {};

TEST_P(Definition, IsSmallEnoughForClientSideApply) {
  // kubectl keeps what was applied as JSON in an annotation; all annotations together have 256 KiB.
  EXPECT_LT(only_version(GetParam()).dump().size(), 64U * 1024U);
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

INSTANTIATE_TEST_SUITE_P(Ours, Definition, ::testing::Values(kJobSetDefinition, kLwsDefinition), [](const auto& file) {
  return std::string(file.param == kJobSetDefinition ? "JobSet" : "LeaderWorkerSet");
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

TEST(LeaderWorkerSetDefinition, IsScaledByWhatUpstreamIs) {
  EXPECT_EQ(only_version(kLwsDefinition)["subresources"]["scale"],
            (Json{{"specReplicasPath", ".spec.replicas"},
                  {"statusReplicasPath", ".status.replicas"},
                  {"labelSelectorPath", ".status.hpaPodSelector"}}));
}

}  // namespace
}  // namespace tpuslice
