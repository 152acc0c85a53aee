// `kubectl explain` has an answer for every field.
#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "tests/e2e/crds/crds_plane.h"
#include "tests/support/crds.h"

namespace tpuslice::testing {
namespace {

constexpr unsigned kSeed = 24;
constexpr std::size_t kFields = 100;

using Explain = CrdsPlane;

/// The schema of a kind in a document of /openapi/v3.
Json schema_of_kind(const Json& openapi, const std::string& kind) {
  for (const Json& schema : openapi.at("components").at("schemas")) {
    for (const Json& type : array_at(schema, {"x-kubernetes-group-version-kind"})) {
      if (string_at(type, {"kind"}) == kind) return schema;
    }
  }
  return {};
}

/// Appends the fields without members as arguments of kubectl explain.
void add_leaves(const Json& schema, const std::string& path, std::vector<std::string>& leaves) {
  if (const Json* items = find_path(schema, {"items"})) return add_leaves(*items, path, leaves);
  if (const Json* values = find_path(schema, {"additionalProperties"})) return add_leaves(*values, path, leaves);
  const Json* properties = find_path(schema, {"properties"});
  if (properties == nullptr) return leaves.push_back(path);
  for (const auto& [name, field] : properties->items()) {
    // metadata is Kubernetes' own.
    if (name != "metadata" || path.find('.') != std::string::npos) add_leaves(field, path + "." + name, leaves);
  }
}

/// What is printed below "DESCRIPTION:".
std::string description_of(const std::string& text) {
  constexpr std::string_view kHeading = "DESCRIPTION:\n";
  const std::size_t found = text.find(kHeading);
  if (found == std::string::npos) return {};
  std::string description = text.substr(found + kHeading.size());
  description.erase(0, description.find_first_not_of(" \n"));
  return description.starts_with("<empty>") || description.starts_with("FIELDS:") ? "" : description;
}

TEST_F(Explain, AnswersForAHundredRandomFields) {
  install();
  std::vector<std::string> leaves;
  for (const Json& crd : read_crds()) {
    const std::string version = string_at(crd, {"spec", "versions", "0", "name"});
    const std::string group = string_at(crd, {"spec", "group"});
    const Json openapi = expect_json(fmt::format("kubectl get --raw /openapi/v3/apis/{}/{}", group, version));
    const Json schema = schema_of_kind(openapi, string_at(crd, {"spec", "names", "kind"}));
    ASSERT_TRUE(schema.is_object());
    add_leaves(schema, string_at(crd, {"spec", "names", "singular"}), leaves);
  }
  ASSERT_GT(leaves.size(), 1000U);
  std::mt19937 random(kSeed);
  std::vector<std::string> chosen = {"raycluster.spec.workerGroupSpecs.template.spec.containers.resources",
                                     "raycluster.spec.headGroupSpec.template.spec.tolerations.operator"};
  while (chosen.size() < kFields) chosen.push_back(leaves[random() % leaves.size()]);
  for (const std::string& field : chosen) {
    const std::string text = expect_run("kubectl explain " + field);
    EXPECT_NE(description_of(text), "") << field << "\n" << text;
  }
  std::cout << leaves.size() << " fields, " << chosen.size() << " explained\n";
}

TEST_F(Explain, AnswersForTheOldVersion) {
  install();
  const std::string text = expect_run(
      "kubectl explain --api-version=ray.io/v1alpha1 rayjob.spec.rayClusterSpec.workerGroupSpecs.numOfHosts");
  EXPECT_THAT(description_of(text), ::testing::StartsWith("Number of pods of a replica"));
}

}  // namespace
}  // namespace tpuslice::testing
