#include "controllers/disaggregatedset/placement.h"

#include <string>
#include <utility>

#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"

namespace tpuslice::disaggregatedset {
namespace {

Json matches(std::string_view label, const char* comparison, std::string value) {
  return {{"key", label}, {"operator", comparison}, {"values", Json::array({std::move(value)})}};
}

Json exists(std::string_view label) { return {{"key", label}, {"operator", "Exists"}}; }

void add_term(Json& affinity, const char* kind, const std::string& topology, Json expressions) {
  Json& terms = affinity[kind]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (!terms.is_array()) terms = Json::array();
  terms.push_back({{"labelSelector", {{"matchExpressions", std::move(expressions)}}}, {"topologyKey", topology}});
}

}  // namespace

void add_placement(const DisaggregatedSetSpec& spec, std::int64_t slice, Json& pod_template) {
  if (!spec.placement.active()) return;
  const std::string& name = spec.key.name;
  const std::string& topology = spec.placement.topology;
  const std::string number = std::to_string(slice);
  Json& affinity = pod_template["spec"]["affinity"];
  add_term(affinity, "podAffinity", topology,
           Json::array({matches(kSetName, "In", name), matches(kSlice, "In", number)}));
  Json others = Json::array({matches(kSetName, "In", name)});
  // Pods without the label were made before there were slices, and are those of slice 0.
  if (slice == 0) others.push_back(exists(kSlice));
  others.push_back(matches(kSlice, "NotIn", number));
  add_term(affinity, "podAntiAffinity", topology, std::move(others));
  if (spec.placement.type != PlacementType::kExclusiveTopology) return;
  add_term(affinity, "podAntiAffinity", topology,
           Json::array({exists(kSetName), matches(kSetName, "NotIn", name), exists(kSlice)}));
}

}  // namespace tpuslice::disaggregatedset
