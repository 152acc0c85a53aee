// The pods and other children of kuberay/specs.yaml are those that KubeRay makes (kuberay/pods.json), but for names and
// what the operator adds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "api/base/file.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "tests/golden/cases.h"

namespace tpuslice::raycluster {
namespace {

using ::testing::IsEmpty;

void erase_if_name(Json& list, const auto& condition) {
  if (!list.is_array()) return;
  list.erase(
      std::remove_if(list.begin(), list.end(), [&](const Json& each) { return condition(string_at(each, {"name"})); }),
      list.end());
}

void erase_keys(Json& map, const auto& condition) {
  for (auto it = map.begin(); it != map.end();) it = condition(it.key()) ? map.erase(it) : std::next(it);
}

/// Without empty members, as Go's omitempty leaves them out.
void erase_empty(Json& json) {
  if (!json.is_structured()) return;
  for (Json& member : json) erase_empty(member);
  if (!json.is_object()) return;
  for (auto it = json.begin(); it != json.end();) {
    const bool empty = it->is_null() || (it->is_structured() && it->empty());
    it = empty ? json.erase(it) : std::next(it);
  }
}

/// What both make in the same way.
Json comparable(Json pod) {
  Json& metadata = pod["metadata"];
  for (const char* field : {"name", "generateName", "creationTimestamp", "ownerReferences", "namespace"})
    metadata.erase(field);
  // Names of replicas are random upstream and derived here (ADR 2).
  metadata["labels"].erase("ray.io/worker-group-replica-name");
  erase_keys(metadata["labels"], [](const std::string& key) { return key.starts_with("tpuslice.dev/"); });
  if (metadata.contains("annotations")) {
    // What the operator adds, and the hash of the spec with the program that made it.
    erase_keys(metadata["annotations"], [](const std::string& key) {
      return key.starts_with("tpuslice.dev/") || key == "ray.io/kuberay-version" ||
             key == "ray.io/upgrade-strategy-recreate-hash";
    });
  }
  Json& spec = pod["spec"];
  // Set by the operator for TPU pods; by the Ray TPU webhook beside KubeRay.
  for (const char* field : {"affinity", "schedulingGates", "hostname", "subdomain"}) spec.erase(field);
  if (spec.contains("tolerations")) {
    Json& tolerations = spec["tolerations"];
    tolerations.erase(std::remove_if(tolerations.begin(), tolerations.end(),
                                     [](const Json& each) { return string_at(each, {"key"}) == "google.com/tpu"; }),
                      tolerations.end());
  }
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    for (Json& container : spec[list]) {
      if (container.contains("env")) {
        erase_if_name(container["env"], [](const std::string& name) { return name.starts_with("TPU_"); });
        for (Json& variable : container["env"]) {
          if (string_at(variable, {"name"}) != "RAY_USAGE_STATS_EXTRA_TAGS") continue;
          const std::string tags = string_at(variable, {"value"});
          variable["value"] = tags.substr(tags.find(';'));  // "kuberay_version=v1.7.0;kuberay_crd=RayCluster"
        }
      }
      if (string_at(container, {"name"}) == "wait-gcs-ready") container.erase("args");  // Our own text.
    }
  }
  pod.erase("status");
  pod.erase("kind");
  pod.erase("apiVersion");
  erase_empty(pod);
  return pod;
}

std::vector<Json> pods_of(const Json& cluster) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  std::vector<Json> pods{build_head_pod(spec, {}).value().json()};
  for (const WorkerGroup& group : spec.groups) pods.push_back(build_worker_pod(spec, group, {0, 0}, {}).value().json());
  return pods;
}

/// By kind, as recorded.
Json children_of(const Json& cluster) {
  Json out = Json::object();
  for (const Object& child : desired_children(RayClusterSpec::read(cluster))) {
    out[child.kind()] = child.json();
    out[child.kind()]["metadata"].erase("ownerReferences");
    for (const char* field : {"apiVersion", "kind"}) out[child.kind()].erase(field);
  }
  return out;
}

TEST(KubeRayPods, AreMadeInTheSameWay) {
  const Json recorded = parse_json(read_file("tests/golden/kuberay/pods.json").value()).value();
  const auto documents = parse_yaml_documents(read_file("tests/golden/kuberay/specs.yaml").value());
  ASSERT_TRUE(documents.ok()) << documents.error().message();
  std::map<std::string, Json> upstream;
  for (const Json& cluster : recorded) upstream[string_at(cluster, {"name"})] = cluster;
  std::set<std::string> seen;
  for (const auto& document : *documents) {
    if (document.value.is_null()) continue;
    const std::string name = string_at(document.value, {"metadata", "name"});
    SCOPED_TRACE(name);
    seen.insert(name);
    Json children = upstream[name]["children"];
    for (Json& child : children) {
      child.erase("status");
      erase_empty(child);
    }
    EXPECT_THAT(json_diff(children, children_of(document.value)), IsEmpty());
    const std::vector<Json> pods = pods_of(document.value);
    ASSERT_EQ(pods.size(), upstream[name]["pods"].size());
    for (std::size_t i = 0; i < pods.size(); ++i) {
      const Json expected = comparable(upstream[name]["pods"][i]);
      const Json actual = comparable(pods[i]);
      EXPECT_THAT(json_diff(expected, actual), IsEmpty())
          << "expected " << expected.dump(1) << "\nactual " << actual.dump(1);
    }
  }
  EXPECT_EQ(seen.size(), recorded.size());
  EXPECT_GE(seen.size(), 40U);
}

}  // namespace
}  // namespace tpuslice::raycluster
