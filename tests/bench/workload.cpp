#include "tests/bench/workload.h"

#include <map>

#include <fmt/format.h>

#include "api/types/yaml.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/control_plane_files.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

constexpr const char* kSample = "deploy/samples/raycluster-maxtext-v6e-4x4.yaml";

/// v5p has slices of all sizes; four chips are a host.
Result<std::string> topology_of(int hosts) {
  static const std::map<int, std::string> kTopologies = {{1, "2x2x1"},  {2, "2x2x2"},  {4, "2x2x4"},
                                                         {16, "4x4x4"}, {64, "4x8x8"}, {256, "8x8x16"}};
  const auto found = kTopologies.find(hosts);
  if (found == kTopologies.end()) return Error::invalid_argument("no v5p slice of {} hosts is known here", hosts);
  return found->second;
}

}  // namespace

std::string Shape::name() const {
  return fmt::format("{} x ({} slice{} x {} hosts)", clusters, slices, slices == 1 ? "" : "s", hosts);
}

Result<Json> read_sample() {
  ASSIGN_OR_RETURN(const std::string text, testing::read_text_file(kSample));
  ASSIGN_OR_RETURN(const std::vector<YamlDocument> documents, parse_yaml_documents(text));
  for (const YamlDocument& document : documents) {
    if (string_at(document.value, {"kind"}) == "RayCluster") return document.value;
  }
  return Error::invalid_argument("{}: has no RayCluster", kSample);
}

Result<Json> make_cluster(const Json& sample, const Shape& shape, int index, const std::string& namespace_name) {
  ASSIGN_OR_RETURN(const std::string topology, topology_of(shape.hosts));
  Json cluster = sample;
  try {
    cluster["metadata"]["name"] = fmt::format("maxtext-{}", index);
    cluster["metadata"]["namespace"] = namespace_name;
    // Its service account would have to be made in every namespace.
    cluster.at("/spec/headGroupSpec/template/spec"_json_pointer).erase("serviceAccountName");
    Json& group = cluster.at("/spec/workerGroupSpecs/0"_json_pointer);
    group["replicas"] = shape.slices;
    group["minReplicas"] = shape.slices;
    group["maxReplicas"] = shape.slices;
    group["numOfHosts"] = shape.hosts;
    Json& spec = group.at("/template/spec"_json_pointer);
    spec.erase("serviceAccountName");
    spec["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v5p-slice"},
                            {"cloud.google.com/gke-tpu-topology", topology}};
  } catch (const Json::exception& problem) {
    return Error::invalid_argument("{}: {}", kSample, problem.what());
  }
  return cluster;
}

Result<std::vector<BarePod>> pods_of(const Object& cluster) {
  raycluster::RayClusterObserved seen;
  seen.cluster = cluster;
  ASSIGN_OR_RETURN(const runtime::Plan plan, raycluster::plan_raycluster(seen, {}));
  std::vector<BarePod> pods;
  for (const runtime::Stage& stage : plan.stages) {
    for (const runtime::Action& action : stage.actions) {
      if (action.type != kPods || action.kind != runtime::ActionKind::kCreate) continue;
      ASSIGN_OR_RETURN(const Json pod, action.body.make());
      pods.push_back({action.key.name, string_at(pod, {"metadata", "labels", tpu::kSlice}), pod.dump()});
    }
  }
  return pods;
}

}  // namespace tpuslice::bench
