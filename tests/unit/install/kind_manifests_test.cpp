// The kinds in the manifests that list kinds are those of cmd/tpu-slice-operator/kinds.cpp. A failure says what is
// missing of a kind, or what is left of a kind that was removed.
#include "tests/support/kind_manifests.h"

#include <filesystem>
#include <set>

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
using testing::ContainerEq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;

using Names = std::set<std::string>;

/// The name of each kind, and `others`.
template <typename NameOf>
Names names_of_kinds(const NameOf& name_of, Names others = {}) {
  for (const kind::Kind* each : kinds()) others.insert(name_of(*each));
  return others;
}

std::string controller_of(const kind::Kind& kind) { return std::string(kind.controller); }

/// Names of the files in `folder` with this extension, up to `end`.
Names files_in(const char* folder, const char* extension, std::string_view end) {
  Names names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() == extension) names.insert(name.substr(0, name.find(end)));
  }
  return names;
}

void append_documents(const std::string& yaml, std::vector<Json>& out) {
  const auto documents = parse_yaml_documents(yaml);
  ASSERT_TRUE(documents.ok()) << yaml;
  for (const YamlDocument& document : *documents) out.push_back(document.value);
}

/// The objects of the manifests in `folders`.
std::vector<Json> objects_in(const std::vector<std::string>& folders) {
  std::vector<Json> out;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") append_documents(read_file(entry.path().string()).value(), out);
    }
  }
  return out;
}

/// The patches of the components that leave something out.
std::vector<Json> patches_of_overlays() {
  std::vector<Json> components;
  for (const auto& entry : fs::directory_iterator("deploy/overlays")) {
    if (!entry.path().filename().string().starts_with("without-")) continue;
    append_documents(read_file((entry.path() / "kustomization.yaml").string()).value(), components);
  }
  std::vector<Json> out;
  for (const Json& component : components) {
    for (const Json& patch : array_at(component, {"patches"})) append_documents(string_at(patch, {"patch"}), out);
  }
  return out;
}

/// The objects and webhooks that have this directive of a patch: "ClusterRole tpu-slice-operator-slice", "webhook
/// pods.tpuslice.dev".
Names names_of(const std::vector<Json>& objects, std::string_view directive = {}) {
  Names names;
  const auto add = [&](std::string_view kind, const std::string& name, const Json& json) {
    if (string_at(json, {"$patch"}) == directive) names.insert(fmt::format("{} {}", kind, name));
  };
  for (const Json& object : objects) {
    add(string_at(object, {"kind"}), string_at(object, {"metadata", "name"}), object);
    for (const Json& webhook : array_at(object, {"webhooks"})) add("webhook", string_at(webhook, {"name"}), webhook);
  }
  return names;
}

/// The resources of CRDs that `roles` name: "jobsets.jobset.x-k8s.io". The API groups of Kubernetes have no dot, or end
/// with ".k8s.io".
Names custom_resources_of(const std::vector<Json>& roles) {
  Names names;
  for (const Json& role : roles) {
    for (const Json& rule : array_at(role, {"rules"})) {
      for (const std::string& group : array_at(rule, {"apiGroups"}).get<Names>()) {
        if (group.find('.') == std::string::npos || group.ends_with(".k8s.io")) continue;
        for (const std::string& resource : array_at(rule, {"resources"}).get<Names>()) {
          names.insert(fmt::format("{}.{}", resource.substr(0, resource.find('/')), group));
        }
      }
    }
  }
  return names;
}

TEST(Kinds, HaveACrdAWebhookAndTheirPermissions) {
  const std::vector<Json> manifests = objects_in({"deploy/crds", "deploy/rbac", "deploy/webhook"});
  for (const kind::Kind* each : kinds()) EXPECT_THAT(kind::missing_manifests(*each, manifests), IsEmpty());
}

// The chart finds the files of a kind by these names.
TEST(Kinds, AreThoseWithACrdAndARole) {
  EXPECT_THAT(files_in("deploy/crds", ".yaml", ".yaml"), ContainerEq(names_of_kinds([](const kind::Kind& kind) {
                return fmt::format("{}_{}s", kind.type.group, kind.controller);
              })));
  EXPECT_THAT(files_in("deploy/rbac", ".yaml", ".yaml"),
              ContainerEq(names_of_kinds(controller_of,
                                         {"core", "history", "metrics", "plugin", "preemption", "raycluster-autoscaler",
                                          "scale-up", "slice", "users", "webhook", "webhook-certificate"})));
}

TEST(Kinds, AreThoseWithAWebhook) {
  Names webhooks;
  for (const Json& object : objects_in({"deploy/webhook"})) {
    if (string_at(object, {"kind"}) != "ValidatingWebhookConfiguration") continue;
    for (const Json& webhook : array_at(object, {"webhooks"})) webhooks.insert(string_at(webhook, {"name"}));
  }
  EXPECT_THAT(webhooks, ContainerEq(names_of_kinds(
                            [](const kind::Kind& kind) { return fmt::format("{}.tpuslice.dev", kind.type.plural); })));
}

TEST(Kinds, AreThoseThatRolesName) {
  EXPECT_THAT(custom_resources_of(objects_in({"deploy/rbac", "deploy/drain"})),
              ContainerEq(names_of_kinds([](const kind::Kind& kind) { return kind.type.resource(); },
                                         {"disaggregatedsetrolescalers.disaggregatedset.x-k8s.io",
                                          "provisioningrequests.autoscaling.x-k8s.io"})));
}

TEST(Kinds, HaveAnEditorAndAViewer) {
  std::vector<Json> roles;
  append_documents(read_file("deploy/rbac/users.yaml").value(), roles);
  Names expected;
  for (const kind::Kind* each : kinds()) {
    expected.insert({fmt::format("ClusterRole tpu-slice-{}-editor", each->controller),
                     fmt::format("ClusterRole tpu-slice-{}-viewer", each->controller)});
  }
  EXPECT_THAT(names_of(roles), ContainerEq(expected));

  const Json editor_labels = {{"rbac.authorization.k8s.io/aggregate-to-admin", "true"},
                              {"rbac.authorization.k8s.io/aggregate-to-edit", "true"}};
  const Json viewer_labels = {{"rbac.authorization.k8s.io/aggregate-to-view", "true"}};
  for (const kind::Kind* each : kinds()) {
    const std::string status = fmt::format("{}/status", each->type.plural);
    for (const Json& role : roles) {
      const std::string name = string_at(role, {"metadata", "name"});
      if (!name.starts_with(fmt::format("tpu-slice-{}-", each->controller))) continue;
      const bool edits = name.ends_with("-editor");
      EXPECT_EQ(role.at("metadata").at("labels"), edits ? editor_labels : viewer_labels) << name;
      const auto may = [&](std::string_view verb, std::string_view resource) {
        return kind::allows(role, each->type.group, resource, verb);
      };
      for (const char* verb : {"get", "list", "watch"})
        EXPECT_TRUE(may(verb, each->type.plural)) << name << ": " << verb;
      for (const char* verb : {"create", "update", "patch", "delete"}) {
        EXPECT_EQ(may(verb, each->type.plural), edits) << name << ": " << verb;
        EXPECT_FALSE(may(verb, status)) << name << ": " << verb;
      }
      EXPECT_TRUE(may("get", status)) << name;
    }
  }
}

TEST(Kinds, AreReadByUsersOfThePlugin) {
  std::vector<Json> roles;
  append_documents(read_file("deploy/rbac/plugin.yaml").value(), roles);
  ASSERT_THAT(names_of(roles), ContainerEq(Names{"ClusterRole tpu-slice-fleet", "ClusterRole tpu-slice-view"}));
  const auto& view = *std::ranges::find(roles, "tpu-slice-view", [](const Json& role) {
    return string_at(role, {"metadata", "name"});
  });
  EXPECT_EQ(view.at("metadata").at("labels"), Json({{"rbac.authorization.k8s.io/aggregate-to-view", "true"}}));
  for (const kind::Kind* each : kinds()) {
    for (const char* verb : {"get", "list", "watch"}) {
      EXPECT_TRUE(kind::allows(view, each->type.group, each->type.plural, verb)) << each->type.plural << ": " << verb;
    }
  }
  for (const Json& role : roles) {
    for (const Json& rule : array_at(role, {"rules"})) {
      for (const Json& verb : array_at(rule, {"verbs"})) {
        EXPECT_TRUE(verb == "get" || verb == "list" || verb == "watch") << role.at("metadata") << verb;
      }
    }
  }
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

TEST(Kinds, AreThoseOfTheSchemaOfTheChart) {
  const Json schema = parse_json(read_file("deploy/helm/tpu-slice-operator/values.schema.json").value()).value();
  const Json& properties = schema.at("properties");
  const std::string pattern = string_at(properties, {"controllers", "items", "pattern"});
  Names controllers;
  re2::StringPiece rest(pattern);
  for (std::string name; RE2::FindAndConsume(&rest, "([a-z]+)", &name);) controllers.insert(name);
  EXPECT_THAT(controllers, ContainerEq(names_of_kinds(controller_of, {"slice"})));

  Names upstream;
  for (const kind::Kind* each : kinds()) {
    if (each->upstream.exists()) upstream.emplace(each->controller);
  }
  const Json& listed = array_at(properties, {"config", "properties", "takeOver", "items", "enum"});
  EXPECT_THAT(listed.get<Names>(), ContainerEq(upstream)) << "config.takeOver";
}

TEST(Kinds, CanBeLeftOutOfTheOverlays) {
  const Names deleted = names_of(patches_of_overlays(), "delete");
  Names of_kinds;
  for (const kind::Kind* each : kinds()) {
    of_kinds.insert({fmt::format("CustomResourceDefinition {}", each->type.resource()),
                     fmt::format("ClusterRole tpu-slice-operator-{}", each->controller),
                     fmt::format("ClusterRoleBinding tpu-slice-operator-{}", each->controller),
                     fmt::format("ClusterRole tpu-slice-{}-editor", each->controller),
                     fmt::format("ClusterRole tpu-slice-{}-viewer", each->controller),
                     fmt::format("webhook {}.tpuslice.dev", each->type.plural)});
  }
  EXPECT_THAT(of_kinds, IsSubsetOf(deleted));
  EXPECT_THAT(deleted,
              IsSubsetOf(names_of(objects_in({"deploy/crds", "deploy/operator", "deploy/rbac", "deploy/webhook"}))));
}

TEST(Kinds, AreThoseWithASampleAndAPage) {
  EXPECT_THAT(files_in("deploy/samples", ".yaml", "-"),
              ContainerEq(names_of_kinds(controller_of, {"job", "statefulset"})));
  std::string samples;
  for (const auto& entry : fs::directory_iterator("deploy/samples"))
    samples += read_file(entry.path().string()).value();
  for (const kind::Kind* each : kinds()) EXPECT_THAT(samples, HasSubstr(fmt::format("kind: {}\n", each->type.kind)));
  EXPECT_THAT(files_in("docs/api", ".md", ".md"),
              ContainerEq(names_of_kinds(controller_of, {"disaggregatedsetrolescaler", "pod-spec"})))
      << "run `make api-docs`";
}

}  // namespace
}  // namespace tpuslice
