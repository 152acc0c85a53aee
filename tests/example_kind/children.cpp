#include "tests/example_kind/children.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/service.h"
#include "tests/example_kind/rules/fleet_labels.h"

namespace tpuslice::example {
namespace {

using Kind = plan::ChildDecision::Kind;

Json metadata_of(const FleetSpec& spec, std::string name) {
  return {{"name", std::move(name)},
          {"namespace", spec.key.namespace_name},
          {"labels", {{kFleetName, spec.key.name}}},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

Json member_of(const Json& json, std::string_view name) {
  const Json* found = find_set(json, {name});
  return found != nullptr && found->is_object() ? *found : Json::object();
}

}  // namespace

Json build_service(const FleetSpec& spec) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata_of(spec, spec.key.name)},
          {"spec",
           {{"clusterIP", "None"}, {"selector", {{kFleetName, spec.key.name}}}, {"publishNotReadyAddresses", true}}}};
}

plan::ChildDecision decide_service(const FleetObserved& seen) {
  return plan::decide_headless_service(build_service(seen.fleet.spec()), seen.service.get());
}

Json build_flag(const FleetSpec& spec) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", metadata_of(spec, flag_name(spec.key.name))},
          {"data", {{"flag", spec.flag}}}};
}

plan::ChildDecision decide_flag(const FleetObserved& seen) {
  const FleetSpec& spec = seen.fleet.spec();
  if (seen.flag == nullptr) return {Kind::kCreate};
  if (seen.flag->deletion) return {Kind::kWait};
  switch (plan::ownership(spec.owner, seen.flag->controller)) {
    case plan::Ownership::kOwned:
      if (seen.flag->flag == spec.flag) return {};
      return {Kind::kPatch, {{"data", {{"flag", spec.flag}}}}};
    case plan::Ownership::kEarlierOwner:
      return {Kind::kWait};
    case plan::Ownership::kOther:
      break;
  }
  return {Kind::kConflict, {}, plan::describe_owner(build_flag(spec), seen.flag->controller)};
}

Result<Json> PodBuilder::build(HostIndex index) const {
  const FleetSpec& spec = fleet_.spec();
  Json metadata = metadata_of(spec, pod_name(spec.key.name, index));
  const Json from_template = member_of(*spec.pod_template, "metadata");
  Json labels = member_of(from_template, "labels");
  labels.update(metadata["labels"]);
  labels[std::string(kShip)] = std::to_string(index.ship);
  labels[std::string(kHost)] = std::to_string(index.host);
  metadata["labels"] = std::move(labels);
  if (Json annotations = member_of(from_template, "annotations"); !annotations.empty()) {
    metadata["annotations"] = std::move(annotations);
  }
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", std::move(metadata)},
              {"spec", member_of(*spec.pod_template, "spec")}};
  pod["spec"]["restartPolicy"] = "Never";
  Result<Json> mutated = rules::mutate_pod(std::move(pod), options_.mutation);
  if (!mutated) return mutated.error().within(fmt::format("Fleet {}", spec.key.to_string()));
  return mutated;
}

}  // namespace tpuslice::example
