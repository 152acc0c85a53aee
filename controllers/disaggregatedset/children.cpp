#include "controllers/disaggregatedset/children.h"

#include <fmt/format.h>

#include "controllers/disaggregatedset/placement.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::disaggregatedset {
namespace {

Json metadata_of(const DisaggregatedSetSpec& spec, std::string name, Json labels) {
  return {{"name", std::move(name)},
          {"namespace", spec.key.namespace_name},
          {"labels", std::move(labels)},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

Json labels_of(const DisaggregatedSetSpec& spec, std::string_view role, std::int64_t slice,
               const std::string& revision) {
  Json labels = Json::object();
  labels[std::string(kApp)] = app_name(spec.key.name, slice, role);
  labels[std::string(kSetName)] = spec.key.name;
  labels[std::string(kRole)] = role;
  labels[std::string(kSlice)] = std::to_string(slice);
  labels[std::string(kRevision)] = revision;
  return labels;
}

/// Adds `labels` to those of the user, which they replace.
void add_labels(Json& metadata, const Json& labels) {
  if (!metadata.is_object()) metadata = Json::object();
  if (!metadata["labels"].is_object()) metadata["labels"] = Json::object();
  metadata["labels"].update(labels);
}

}  // namespace

Json SetBuilder::build(std::size_t role_index, std::int64_t slice, std::int64_t replicas) const {
  const DisaggregatedSetSpec& spec = set_.spec();
  const RoleSpec& role = spec.roles.at(role_index);
  const Json labels = labels_of(spec, role.name, slice, revision_);
  Json metadata = metadata_of(spec, set_name(spec.key.name, slice, revision_, role.name),
                              string_map_at(*role.json, {"metadata", "labels"}));
  metadata["labels"].update(labels);
  if (const Json annotations = string_map_at(*role.json, {"metadata", "annotations"}); !annotations.empty()) {
    metadata["annotations"] = annotations;
  }
  Json set = {{"apiVersion", leaderworkerset::kLeaderWorkerSets.api_version()},
              {"kind", leaderworkerset::kLeaderWorkerSets.kind},
              {"metadata", std::move(metadata)},
              {"spec", object_at(*role.json, {"spec"})}};
  set["spec"]["replicas"] = replicas;
  for (const char* member : {"leaderTemplate", "workerTemplate"}) {
    Json& groups = set["spec"]["leaderWorkerTemplate"];
    const auto pods = groups.find(member);
    if (pods == groups.end() || !pods->is_object()) continue;
    add_labels((*pods)["metadata"], labels);
    add_placement(spec, slice, *pods);
  }
  return set;
}

Json build_scaler(const DisaggregatedSetSpec& spec, const std::string& role, std::int64_t replicas) {
  Json labels = Json::object();
  labels[std::string(kSetName)] = spec.key.name;
  labels[std::string(kRole)] = role;
  return {{"apiVersion", kRoleScalers.api_version()},
          {"kind", kRoleScalers.kind},
          {"metadata", metadata_of(spec, scaler_name(spec.key.name, role), std::move(labels))},
          {"spec", {{"replicas", replicas}}}};
}

Json build_service(const DisaggregatedSetSpec& spec, const RoleSet& set) {
  Json selector = Json::object();
  selector[std::string(kSetName)] = spec.key.name;
  selector[std::string(kRole)] = set.role;
  selector[std::string(kRevision)] = set.revision;
  if (!set.legacy) selector[std::string(kSlice)] = std::to_string(set.slice);
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata_of(spec, service_name(set.key.name), selector)},
          {"spec", {{"clusterIP", "None"}, {"selector", selector}}}};
}

std::string scaler_selector(const DisaggregatedSetSpec& spec, std::string_view role) {
  return fmt::format("{}={},{}={},{}={}", kSetName, spec.key.name, kRole, role, leaderworkerset::kLwsWorkerIndex,
                     leaderworkerset::kLeaderIndex);
}

}  // namespace tpuslice::disaggregatedset
