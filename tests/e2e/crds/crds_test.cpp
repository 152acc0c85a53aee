// Installing deploy/crds, and what becomes of the manifests of the documentation.
#include <fmt/format.h>

#include "tests/e2e/crds/crds_plane.h"
#include "tests/support/crds.h"

namespace tpuslice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// All annotations of an object together.
constexpr std::size_t kMaxAnnotations = 256U * 1024U;

using Crds = CrdsPlane;

/// Values of `written` that `stored` does not have, as paths. Null counts as absent.
void find_lost(const Json& written, const Json& stored, const std::string& path, std::vector<std::string>& lost) {
  if (written.is_object() && stored.is_object()) {
    for (const auto& [name, value] : written.items()) {
      if (value.is_null()) continue;
      const auto member = stored.find(name);
      if (member == stored.end()) {
        lost.push_back(path + "." + name);
      } else {
        find_lost(value, *member, path + "." + name, lost);
      }
    }
    return;
  }
  if (written.is_array() && stored.is_array() && written.size() == stored.size()) {
    for (std::size_t i = 0; i < written.size(); ++i) find_lost(written[i], stored[i], path + "[]", lost);
    return;
  }
  if (written != stored) lost.push_back(path);
}

bool is_ours(const Json& manifest) {
  const std::string version = string_at(manifest, {"apiVersion"});
  return version.starts_with("ray.io/") || version.starts_with("jobset.x-k8s.io/") ||
         version.starts_with("leaderworkerset.x-k8s.io/");
}

TEST_F(Crds, AreApplied) {
  for (const char* first : {"kubectl apply", "kubectl apply --server-side"}) {
    expect_run(fmt::format("{} -f deploy/crds", first));
    wait_established();
    const Json crds = expect_json("kubectl get crd -o json");
    for (const Json& crd : array_at(crds, {"items"})) {
      const std::string name = string_at(crd, {"metadata", "name"});
      EXPECT_LT(crd["metadata"].value("annotations", Json::object()).dump().size(), kMaxAnnotations) << name;
      for (const Json& condition : array_at(crd, {"status", "conditions"})) {
        EXPECT_NE(string_at(condition, {"type"}), "NonStructuralSchema") << name;
      }
    }
    // Over each other, as for an upgrade.
    expect_run("kubectl apply --server-side --force-conflicts -f deploy/crds");
    expect_run("kubectl apply -f deploy/crds");
    delete_crds("-f deploy/crds");
  }
}

TEST_F(Crds, KeepEveryFieldOfTheSamples) {
  install();
  std::vector<std::string> paths = yaml_files("deploy/samples");
  for (const std::string& path : yaml_files("tests/e2e/scenarios/objects", "google-")) paths.push_back(path);
  int objects = 0;
  for (const Json& manifest : read_documents(paths)) {
    if (!is_ours(manifest)) continue;
    ++objects;
    const std::string path = write(manifest);
    for (const char* command : {"create", "apply --server-side"}) {
      const Json stored =
          expect_json(fmt::format("kubectl {} --dry-run=server --validate=strict -o json -f {}", command, path));
      std::vector<std::string> lost;
      find_lost(manifest, stored, "", lost);
      EXPECT_THAT(lost, IsEmpty()) << command << " " << string_at(manifest, {"metadata", "name"});
    }
  }
  EXPECT_GT(objects, 15);
}

TEST_F(Crds, KeepUnknownFieldsOfPodTemplates) {
  install();
  for (const Json& crd : read_crds()) {
    const std::string kind = string_at(crd, {"spec", "names", "kind"});
    if (kind == "DisaggregatedSetRoleScaler") continue;  // It has no pods.
    Json object = valid_object(kind);
    std::vector<Json::json_pointer> specs;
    const Json flat = object.flatten();
    for (const auto& [path, value] : flat.items()) {
      const std::size_t found = path.find("/containers/0/name");
      if (found != std::string::npos) specs.emplace_back(path.substr(0, found));
    }
    ASSERT_THAT(specs, ::testing::Not(IsEmpty()));
    for (const auto& spec : specs) {
      object[spec]["fieldOfTheFuture"] = {{"a", 1}};
      object[spec]["containers"][0]["fieldOfTheFuture"] = {"x"};
      object[spec]["containers"][0]["args"] = nullptr;
      object[spec]["containers"][0]["resources"] = {{"limits", {{"google.com/tpu", 4}, {"cpu", "500m"}}}};
      object[spec]["containers"][0]["ports"] = Json::array({Json{{"containerPort", 80}, {"protocol", "TCP"}}});
      object[spec]["volumes"] = Json::array({Json{{"name", "v"}, {"flexVolume", {{"driver", "d"}}}}});
    }
    const std::string path = write(object);
    const Json stored = expect_json("kubectl apply --server-side --validate=strict -o json -f " + path);
    std::vector<std::string> lost;
    find_lost(object, stored, "", lost);
    EXPECT_THAT(lost, IsEmpty());
    for (const auto& spec : specs) {
      EXPECT_EQ(stored[spec]["containers"][0]["ports"], object[spec]["containers"][0]["ports"]) << "nothing is added";
    }
  }
}

// Kueue's webhook writes null where a cluster has none.
TEST_F(Crds, AcceptNullForRayStartParams) {
  install();
  for (const auto& [kind, config] : {std::pair("RayCluster", ""), std::pair("RayJob", "/rayClusterSpec"),
                                     std::pair("RayService", "/rayClusterConfig")}) {
    Json object = valid_object(kind);
    Json& cluster = object[Json::json_pointer(std::string("/spec") + config)];
    cluster["headGroupSpec"]["rayStartParams"] = nullptr;
    for (Json& group : cluster["workerGroupSpecs"]) group["rayStartParams"] = nullptr;
    for (const char* command : {"create", "apply --server-side"}) {
      expect_run(fmt::format("kubectl {} --dry-run=server --validate=strict -f {}", command, write(object)));
    }
  }
}

TEST_F(Crds, PrintTheColumnsOfBothVersions) {
  install();
  expect_run("kubectl apply -f " + write(valid_object("RayCluster")));
  const std::string table = expect_run("kubectl get rayclusters");
  EXPECT_THAT(table, HasSubstr("DESIRED WORKERS"));
  EXPECT_EQ(expect_run("kubectl get rayclusters.v1alpha1.ray.io 2>/dev/null | head -1"),
            table.substr(0, table.find('\n') + 1));
  EXPECT_THAT(expect_run("kubectl get rayclusters.v1alpha1.ray.io"),
              HasSubstr("ray.io/v1alpha1 RayCluster is deprecated; use ray.io/v1 RayCluster"));
}

}  // namespace
}  // namespace tpuslice::testing
