// Each kind of cmd/tpu-slice-operator/kinds.cpp is in all manifests that list kinds. A failure says what is
// missing.
#include "tests/support/kind_manifests.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/kinds.h"

namespace tpuslice {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kChart = "deploy/helm/tpu-slice-operator/";

/// The objects of the manifests in `folders`.
std::vector<Json> objects_in(const std::vector<std::string>& folders) {
  std::vector<Json> out;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".yaml") continue;
      const auto documents = parse_yaml_documents(read_file(entry.path().string()).value());
      EXPECT_TRUE(documents.ok()) << entry.path();
      if (!documents) continue;
      for (const YamlDocument& document : *documents) out.push_back(document.value);
    }
  }
  return out;
}

Json chart_schema() {
  return parse_json(read_file(fmt::format("{}values.schema.json", kChart)).value()).value().at("properties");
}

TEST(Kinds, HaveACrdAWebhookAndTheirPermissions) {
  const std::vector<Json> manifests = objects_in({"deploy/crds", "deploy/rbac", "deploy/webhook"});
  for (const kind::Kind* each : kinds()) EXPECT_THAT(kind::missing_manifests(*each, manifests), IsEmpty());
}

TEST(Kinds, WithAFinalizerAreDrained) {
  const std::vector<Json> manifests = objects_in({"deploy/drain"});
  for (const kind::Kind* each : kinds()) {
    if (each->finalizer.name.empty()) continue;
    for (const char* verb : {"list", "patch"}) {
      EXPECT_TRUE(kind::grants(each->type.group, each->type.plural, verb, manifests))
          << "deploy/drain/drain.yaml: the drain may not " << verb << " " << each->type.plural;
    }
  }
}

TEST(Kinds, CanBeLeftOutOfTheChart) {
  const Json schema = chart_schema();
  const RE2 known(string_at(schema, {"controllers", "items", "pattern"}));
  const Json& upstream = array_at(schema, {"config", "properties", "takeOver", "items", "enum"});
  const std::string crds = read_file(fmt::format("{}templates/crds.yaml", kChart)).value();
  const std::string rbac = read_file(fmt::format("{}templates/rbac.yaml", kChart)).value();
  for (const kind::Kind* each : kinds()) {
    const std::string name(each->controller);
    EXPECT_TRUE(RE2::FullMatch(name, known)) << "values.schema.json: controllers do not have " << name;
    EXPECT_EQ(std::ranges::count(upstream, Json(name)), each->upstream.exists() ? 1 : 0)
        << "values.schema.json: config.takeOver, " << name;
    EXPECT_THAT(crds, HasSubstr(fmt::format("\"{}_{}\" \"{}\"", each->type.group, each->type.plural, name)));
    EXPECT_THAT(rbac, HasSubstr(fmt::format("\"{0}\" (list \"{0}\"", name)));
  }
}

TEST(Kinds, CanBeLeftOutOfTheOverlays) {
  std::string overlays;
  for (const auto& entry : fs::directory_iterator("deploy/overlays")) {
    if (!entry.path().filename().string().starts_with("without-")) continue;
    overlays += read_file((entry.path() / "kustomization.yaml").string()).value();
  }
  for (const kind::Kind* each : kinds()) {
    EXPECT_THAT(overlays, HasSubstr(fmt::format("{{name: {}}}", each->type.resource())));
    EXPECT_THAT(overlays, HasSubstr(fmt::format("{{name: tpu-slice-operator-{}}}", each->controller)));
    EXPECT_THAT(overlays, HasSubstr(fmt::format("{{name: {}.tpuslice.dev, $patch: delete}}", each->type.plural)));
  }
}

TEST(Kinds, HaveASampleAndAPage) {
  std::string samples;
  for (const auto& entry : fs::directory_iterator("deploy/samples"))
    samples += read_file(entry.path().string()).value();
  for (const kind::Kind* each : kinds()) {
    EXPECT_THAT(samples, HasSubstr(fmt::format("kind: {}\n", each->type.kind)));
    EXPECT_TRUE(fs::exists(fmt::format("docs/api/{}.md", each->controller))) << "run `make api-docs`";
  }
}

}  // namespace
}  // namespace tpuslice
