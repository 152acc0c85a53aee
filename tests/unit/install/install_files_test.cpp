// The manifests that others are made of: deploy/install.yaml is up to date, the kustomizations have every file, and the
// chart's schema has every setting.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/file.h"
#include "api/types/object.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/options.h"
#include "controllers/runtime/manager.h"

namespace tpuslice {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Json> documents_of(const std::string& path) {
  std::vector<Json> out;
  const auto text = read_file(path);
  EXPECT_TRUE(text.ok()) << path;
  const auto documents = parse_yaml_documents(text.ok() ? *text : "");
  EXPECT_TRUE(documents.ok()) << path;
  if (documents) {
    for (const YamlDocument& document : *documents) out.push_back(document.value);
  }
  return out;
}

std::string kustomization_of(const std::string& folder) {
  const std::string name = folder + "/kustomization.yaml";
  return fs::exists(name) ? name : folder + "/Kustomization";
}

std::set<std::string> resources_of(const std::string& folder) {
  std::set<std::string> names;
  for (const Json& kustomization : documents_of(kustomization_of(folder))) {
    for (const Json& name : array_at(kustomization, {"resources"})) names.insert(name.get<std::string>());
  }
  return names;
}

std::string id_of(const Json& object) {
  const Object typed(object);
  return typed.kind() + " " + typed.key().to_string();
}

/// The objects of a kustomization without transformers, by kind and name.
void add_objects(const std::string& folder, std::map<std::string, Json>& out) {
  for (const std::string& name : resources_of(folder)) {
    const std::string path = fs::path(folder + "/" + name).lexically_normal();
    if (fs::is_directory(path)) {
      add_objects(path, out);
      continue;
    }
    for (const Json& object : documents_of(path)) out[id_of(object)] = object;
  }
}

TEST(InstallFile, IsTheDefaultOverlay) {
  std::map<std::string, Json> overlay;
  add_objects("deploy/overlays/default", overlay);
  std::map<std::string, Json> file;
  for (const Json& object : documents_of("deploy/install.yaml")) file[id_of(object)] = object;
  EXPECT_GT(file.size(), 30U);
  for (const auto& [id, object] : overlay) {
    ASSERT_TRUE(file.contains(id)) << id << ": run `make manifests`";
    EXPECT_TRUE(file[id] == object) << id << " has changed: run `make manifests`";
  }
  EXPECT_EQ(file.size(), overlay.size()) << "run `make manifests`";
}

TEST(InstallFile, HasTheNamespaceAndTheCrdsFirst) {
  std::vector<std::string> kinds;
  for (const Json& object : documents_of("deploy/install.yaml")) {
    const std::string kind = string_at(object, {"kind"});
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
  }
  ASSERT_GT(kinds.size(), 2U);
  EXPECT_EQ(kinds[0], "Namespace");
  EXPECT_EQ(kinds[1], "CustomResourceDefinition");
}

TEST(Kustomizations, HaveEveryManifestOfTheirFolder) {
  for (const char* folder : {"deploy/crds", "deploy/operator", "deploy/rbac", "deploy/webhook"}) {
    std::set<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") files.insert(entry.path().filename());
    }
    EXPECT_EQ(resources_of(folder), files) << folder;
  }
}

TEST(Kustomizations, SetTheImageThatTheManifestsName) {
  const std::vector<Json> component = documents_of("deploy/overlays/image/kustomization.yaml");
  ASSERT_EQ(component.size(), 1U);
  const Json& image = component[0]["images"][0];
  const std::string name = string_at(image, {"newName"}) + ":" + string_at(image, {"newTag"});
  for (const char* file : {"deploy/operator/operator.yaml", "deploy/drain/drain.yaml"}) {
    EXPECT_THAT(read_file(file).value(), testing::HasSubstr("image: " + name + "\n")) << file;
  }
  const char* const version[] = {"tpu-slice-operator", "--version"};
  EXPECT_THAT(parse_command_line(2, version)->output, testing::HasSubstr(string_at(image, {"newTag"})));
  const std::vector<Json> chart = documents_of("deploy/helm/tpu-slice-operator/Chart.yaml");
  EXPECT_EQ(string_at(chart.at(0), {"appVersion"}), string_at(image, {"newTag"}));
}

TEST(Deployment, GivesAStopTheTimeThatItMayTake) {
  const std::vector<Json> documents = documents_of("deploy/operator/operator.yaml");
  const auto found =
      std::ranges::find(documents, "Deployment", [](const Json& each) { return string_at(each, {"kind"}); });
  ASSERT_NE(found, documents.end());
  const auto grace =
      std::chrono::seconds(int_at(*found, {"spec", "template", "spec", "terminationGracePeriodSeconds"}));
  const runtime::ManagerOptions manager;
  EXPECT_GE(grace, manager.stop_grace + 2 * manager.shutdown_timeout + std::chrono::seconds(5));
  EXPECT_GE(grace, std::chrono::seconds(OperatorOptions().shutdown_delay_seconds) + std::chrono::seconds(5));
}

/// "--leader-elect" -> "leaderElect"
std::string config_key(const std::string& flag) {
  std::string key;
  for (std::size_t i = 2; i < flag.size(); ++i) {
    key += flag[i] == '-' ? static_cast<char>(std::toupper(static_cast<unsigned char>(flag[++i]))) : flag[i];
  }
  return key;
}

TEST(ChartSchema, HasEverySettingThatNoOtherValueDecides) {
  const std::set<std::string> decided = {"kubeconfig",
                                         "context",
                                         "controllers",
                                         "config",
                                         "drain",
                                         "dryRun",
                                         "help",
                                         "version",
                                         "leaderElect",
                                         "leaderElectionNamespace",
                                         "leaderElectionId",
                                         "metricsBindAddress",
                                         "metricsSecure",
                                         "metricsCertDir",
                                         "healthProbeBindAddress",
                                         "webhookBindAddress",
                                         "webhookCertDir",
                                         "webhookClientCaFile",
                                         "webhookService"};
  const char* const help[] = {"tpu-slice-operator", "--help"};
  const std::string text = parse_command_line(2, help)->output;
  std::set<std::string> settings = {"rayCluster"};
  const re2::RE2 flag("(?m)^ +(?:-h,)?(--[a-z-]+)");
  re2::StringPiece rest(text);
  for (std::string name; re2::RE2::FindAndConsume(&rest, flag, &name);) {
    if (!decided.contains(config_key(name))) settings.insert(config_key(name));
  }
  ASSERT_GT(settings.size(), 20U) << text;
  const auto schema = parse_json(read_file("deploy/helm/tpu-slice-operator/values.schema.json").value());
  ASSERT_TRUE(schema.ok());
  std::set<std::string> keys;
  for (const auto& [key, value] : schema->at("properties").at("config").at("properties").items()) keys.insert(key);
  EXPECT_EQ(keys, settings);
}

TEST(ChartSchema, HasExactlyTheValuesOfTheChart) {
  const auto schema = parse_json(read_file("deploy/helm/tpu-slice-operator/values.schema.json").value());
  ASSERT_TRUE(schema.ok());
  std::set<std::string> keys;
  for (const auto& [key, value] : schema->at("properties").items()) keys.insert(key);
  EXPECT_EQ(keys.erase("global"), 1U);  // Helm's own.
  std::set<std::string> values;
  const std::vector<Json> documents = documents_of("deploy/helm/tpu-slice-operator/values.yaml");
  for (const auto& [key, value] : documents.at(0).items()) values.insert(key);
  EXPECT_EQ(keys, values);
}

}  // namespace
}  // namespace tpuslice
