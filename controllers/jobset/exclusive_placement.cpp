#include "controllers/jobset/exclusive_placement.h"

#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

Json term(Json expressions, const std::string& topology_key) {
  return {{"labelSelector", {{"matchExpressions", std::move(expressions)}}},
          {"topologyKey", topology_key},
          {"namespaceSelector", Json::object()}};
}

/// An affinity of another type is left as it is: the API server refuses the Job with a message.
void add_required_term(Json& affinity, const char* kind, Json term) {
  const auto is_malformed = [](const Json& json) { return !json.is_null() && !json.is_object(); };
  if (is_malformed(affinity) || is_malformed(affinity[kind])) return;
  Json& terms = affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (terms.is_null() || terms.is_array()) terms.push_back(std::move(term));
}

/// tpu/placement.h adds the affinities of multi-host slices.
bool is_multi_host_slice(const Json& pod) {
  const std::string hosts = string_at(pod, {"metadata", "annotations", tpu::kSliceHosts});
  return !hosts.empty() && hosts != "1";
}

}  // namespace

void add_job_node_selector(const StringMap& annotations, const std::string& namespace_name, const std::string& job,
                           Json& pod_spec) {
  if (!annotations.contains(kJobSetTopologyKey) || !annotations.contains(kJobSetNodeSelector)) return;
  pod_spec["nodeSelector"][std::string(kNamespacedJob)] = namespace_name + "_" + job;
  pod_spec["tolerations"].push_back({{"key", kNoSchedule}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
}

void add_exclusive_affinity(const StringMap& labels, Json& pod) {
  const StringMap annotations = string_map_at(pod, {"metadata", "annotations"});
  const auto topology = annotations.find(kJobSetTopologyKey);
  if (topology == annotations.end() || annotations.contains(kJobSetNodeSelector)) return;
  if (is_multi_host_slice(pod)) return;
  const Json own = Json::array({labels.find(kJobKey)->second});
  Json& affinity = pod["spec"]["affinity"];
  add_required_term(affinity, "podAffinity",
                    term(Json::array({{{"key", kJobKey}, {"operator", "In"}, {"values", own}}}), topology->second));
  add_required_term(affinity, "podAntiAffinity",
                    term(Json::array({{{"key", kJobKey}, {"operator", "Exists"}},
                                      {{"key", kJobKey}, {"operator", "NotIn"}, {"values", own}}}),
                         topology->second));
}

}  // namespace tpuslice::jobset
