// What every CRD in deploy/crds promises; see docs/api.md. tests/e2e/crds shows it on a real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/crds.h"

namespace tpuslice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Calls `visit` for each field of each version of each CRD, with a name for messages.
void each_field_of_crds(const std::function<void(const std::string& name, const Json& field)>& visit) {
  for (const Json& crd : read_crds()) {
    for (const Json& version : array_at(crd, {"spec", "versions"})) {
      const std::string prefix = string_at(crd, {"spec", "names", "kind"}) + " " + string_at(version, {"name"}) + " ";
      each_field(version.at("schema").at("openAPIV3Schema"), [&](const std::string& path, const Json& field, bool) {
        visit(prefix + path, field);
        return true;
      });
    }
  }
}

/// Path and schema of each pod specification of a CRD.
std::vector<std::pair<std::string, Json>> pod_specs(const Json& crd) {
  std::vector<std::pair<std::string, Json>> found;
  each_field(stored_schema(crd), [&](const std::string& path, const Json& field, bool) {
    if (is_pod_spec(field)) found.emplace_back(path, field);
    return true;
  });
  return found;
}

TEST(Crds, DescribeEveryField) {
  ASSERT_THAT(read_crds(), SizeIs(::testing::Ge(5U)));
  std::vector<std::string> without;
  each_field_of_crds([&](const std::string& name, const Json& field) {
    // The API server describes metadata, and refuses a definition that does.
    if (string_at(field, {"description"}).empty() && !name.ends_with(" metadata")) without.push_back(name);
  });
  EXPECT_THAT(without, IsEmpty());
}

TEST(Crds, TogetherAreSmallerThanOneOfUpstream) {
  std::size_t bytes = 0;
  for (const Json& crd : read_crds()) bytes += crd.dump().size();
  EXPECT_LT(bytes, 620U * 1024U) << "KubeRay's definition of RayJobs has 635 KB";
}

TEST(Crds, KeepUnknownFieldsOfPods) {
  std::vector<std::string> pruned;
  for (const Json& crd : read_crds()) {
    for (const auto& [path, spec] : pod_specs(crd)) {
      if (!bool_at(spec, {"x-kubernetes-preserve-unknown-fields"})) pruned.push_back(path);
      each_field(spec, [&, prefix = path](const std::string& below, const Json& field, bool) {
        const bool object = string_at(field, {"type"}) == "object" && !field.contains("additionalProperties");
        if (object && !bool_at(field, {"x-kubernetes-preserve-unknown-fields"})) pruned.push_back(prefix + below);
        return true;
      });
    }
  }
  EXPECT_THAT(pruned, IsEmpty());
}

// Another default would change the templates of objects that upstream's definitions stored, and so start an update of
// all their pods. Kueue does not find a template equal to that of its Workload without a protocol.
TEST(Crds, SetOnlyTheProtocolOfContainerPorts) {
  std::vector<std::string> set;
  for (const Json& crd : read_crds()) {
    for (const auto& [path, spec] : pod_specs(crd)) {
      each_field(spec, [&, prefix = path](const std::string& below, const Json& field, bool) {
        const bool is_protocol = below.ends_with("ports[].protocol") && string_at(field, {"default"}) == "TCP";
        if (field.contains("default") && !is_protocol) set.push_back(prefix + "." + below);
        return true;
      });
    }
  }
  // Upstream's webhook sets it at creation.
  EXPECT_THAT(set, ElementsAre("spec.replicatedJobs[].template.spec.template.spec.restartPolicy"));
}

// Published manifests have `args:` without a value, which server-side apply sends as null.
TEST(Crds, AcceptNullForListsOfContainers) {
  std::vector<std::string> refuse;
  for (const Json& crd : read_crds()) {
    for (const auto& [path, spec] : pod_specs(crd)) {
      const Json containers = spec.at("properties").at("containers").at("items");
      each_field(containers, [&, prefix = path](const std::string& below, const Json& field, bool) {
        const std::string type = string_at(field, {"type"});
        if ((type == "array" || type == "object") && !bool_at(field, {"nullable"})) {
          refuse.push_back(prefix + "." + below);
        }
        return true;
      });
    }
  }
  EXPECT_THAT(refuse, IsEmpty());
}

// Kueue's webhook decodes a cluster without them into KubeRay's Go type, and writes null.
TEST(Crds, AcceptNullForRayStartParams) {
  int found = 0;
  each_field_of_crds([&](const std::string& name, const Json& field) {
    if (!name.ends_with(".rayStartParams")) return;
    ++found;
    EXPECT_TRUE(bool_at(field, {"nullable"})) << name;
  });
  EXPECT_EQ(found, 14) << "head and workers, in three kinds and two versions, and in RayCronJobs";
}

TEST(Crds, HaveInRolesTheFieldsOfLeaderWorkerSets) {
  const auto names = [](const Json& schema) {
    std::set<std::string> out;
    const std::string path = "/properties/leaderWorkerTemplate/properties";
    for (const auto& [name, field] : schema.at(Json::json_pointer(path)).items()) out.insert(name);
    return out;
  };
  const Json set = stored_schema(read_crd("LeaderWorkerSet"));
  const Json roles = stored_schema(read_crd("DisaggregatedSet"));
  EXPECT_EQ(names(roles.at(Json::json_pointer("/properties/spec/properties/roles/items/properties/spec"))),
            names(set.at(Json::json_pointer("/properties/spec"))));
}

TEST(Crds, DescribeContainersAlike) {
  const Json expected = pod_specs(read_crd("RayCluster")).front().second.at("properties").at("containers").at("items");
  EXPECT_GT(expected.at("properties").size(), 20U);
  for (const Json& crd : read_crds()) {
    for (const auto& [path, spec] : pod_specs(crd)) {
      if (path.ends_with("submitterPodTemplate.spec")) continue;
      EXPECT_EQ(spec.at("properties").at("containers").at("items"), expected) << path;
    }
  }
}

TEST(Crds, ServeTheVersionsOfUpstream) {
  for (const Json& crd : read_crds()) {
    std::vector<std::string> served;
    for (const Json& version : array_at(crd, {"spec", "versions"})) {
      EXPECT_TRUE(bool_at(version, {"served"}));
      served.push_back(string_at(version, {"name"}) + (bool_at(version, {"storage"}) ? " stored" : "") +
                       (bool_at(version, {"deprecated"}) ? " deprecated" : ""));
    }
    const std::string group = string_at(crd, {"spec", "group"});
    if (string_at(crd, {"spec", "names", "kind"}) == "RayCronJob") {
      EXPECT_THAT(served, ElementsAre("v1 stored"));
    } else if (group == "ray.io") {
      EXPECT_THAT(served, ElementsAre("v1 stored", "v1alpha1 deprecated"));
    } else {
      EXPECT_THAT(served, ElementsAre(group == "jobset.x-k8s.io" ? "v1alpha2 stored" : "v1 stored"));
    }
  }
}

// Without a conversion webhook only apiVersion changes: another schema would lose fields.
TEST(Crds, HaveOneSchemaForAllVersions) {
  for (const Json& crd : read_crds()) {
    for (const Json& version : array_at(crd, {"spec", "versions"})) {
      EXPECT_EQ(version.at("schema").at("openAPIV3Schema"), stored_schema(crd)) << string_at(version, {"name"});
    }
  }
}

// Strategy None is the default. Written out, it makes the API server refuse an apply over upstream's CRD, if another
// field manager set its conversion webhook.
TEST(Crds, DoNotStateAConversion) {
  for (const Json& crd : read_crds()) EXPECT_FALSE(crd.at("spec").contains("conversion"));
}

}  // namespace
}  // namespace tpuslice::testing
