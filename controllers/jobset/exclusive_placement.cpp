#include "controllers/jobset/exclusive_placement.h"

#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

Json term(Json expressions, const std::string& topology_key) {
  return {{"labelSelector", {{"matchExpressions", std::move(expressions)}}},
          {"topologyKey", topology_key},
          {"namespaceSelector", Json::object()}};
}

void require(Json& affinity, const char* kind, Json term) {
  affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"].push_back(std::move(term));
}

/// Its affinities are there already (tpu/placement.h).
bool is_slice_of_several_hosts(const Json& pod) {
  const std::string hosts = string_at(pod, {"metadata", "annotations", tpu::kSliceHosts});
  return !hosts.empty() && hosts != "1";
}

}  // namespace

void select_job_nodes(const StringMap& annotations, const std::string& namespace_name, const std::string& job,
                      Json& pod_spec) {
  if (!annotations.contains(tpu::kJobSetTopologyKey) || !annotations.contains(tpu::kJobSetNodeSelector)) return;
  pod_spec["nodeSelector"][std::string(kNamespacedJob)] = namespace_name + "_" + job;
  pod_spec["tolerations"].push_back({{"key", kNoSchedule}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
}

void keep_to_one_domain(const StringMap& marks, Json& pod) {
  const StringMap annotations = string_map_at(pod, {"metadata", "annotations"});
  const auto topology = annotations.find(tpu::kJobSetTopologyKey);
  if (topology == annotations.end() || annotations.contains(tpu::kJobSetNodeSelector)) return;
  if (is_slice_of_several_hosts(pod)) return;
  const Json own = Json::array({marks.find(kJobKey)->second});
  Json& affinity = pod["spec"]["affinity"];
  require(affinity, "podAffinity",
          term(Json::array({{{"key", kJobKey}, {"operator", "In"}, {"values", own}}}), topology->second));
  require(affinity, "podAntiAffinity",
          term(Json::array({{{"key", kJobKey}, {"operator", "Exists"}},
                            {{"key", kJobKey}, {"operator", "NotIn"}, {"values", own}}}),
               topology->second));
}

}  // namespace tpuslice::jobset
