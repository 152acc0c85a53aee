#include "api/types/selector.h"
#include "api/types/validation_names.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"
#include "cmd/tpu-slice-sim/schema/builtin_checks.h"

namespace tpuslice::sim {
namespace {

void check_template_labels(Problems& problems, const Json& spec) {
  const FieldPath path("spec.template.metadata.labels");
  for (const auto& [key, value] : string_map_at(spec, {"template", "metadata", "labels"})) {
    for (const std::string& message : check_label_key(key)) problems.invalid(path, key, message);
    for (const std::string& message : check_label_value(value)) problems.invalid(path, value, message);
  }
}

void check_stateful_set(Problems& problems, const Json& set, const Json* old) {
  Json spec = map_at(set, "spec");
  if (map_at(spec, "selector").empty()) {
    problems.invalid(FieldPath("spec.selector"), map_at(spec, "selector"), "empty selector is invalid for statefulset");
  }
  check_selector(problems, spec);
  if (old == nullptr) return;
  Json before = map_at(*old, "spec");
  for (const char* name : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                           "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    spec.erase(name);
    before.erase(name);
  }
  if (spec == before) return;
  problems.forbidden(FieldPath("spec"),
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                     "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                     "'minReadySeconds' are forbidden");
}

void check_service_update(Problems& problems, const Json& service, const Json& old) {
  const std::string before = string_at(old, {"spec", "clusterIP"});
  const std::string after = string_at(service, {"spec", "clusterIP"});
  if (before.empty() || after.empty() || before == after) return;
  for (const Json* each : {&service, &old}) {
    if (string_at(*each, {"spec", "type"}) == "ExternalName") return;
  }
  problems.invalid(FieldPath("spec.clusterIPs[0]"), Json::array({after}), "may not change once set");
}

}  // namespace

const Json& list_at(const Json& object, const char* name) {
  static const Json kEmpty = Json::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : kEmpty;
}

const Json& map_at(const Json& object, const char* name) {
  static const Json kEmpty = Json::object();
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : kEmpty;
}

void check_selector(Problems& problems, const Json& spec) {
  const Result<LabelSelector> selector = LabelSelector::from_json(map_at(spec, "selector"));
  if (!selector) {
    return problems.invalid(FieldPath("spec.selector"), map_at(spec, "selector"), selector.error().message());
  }
  const StringMap labels = string_map_at(spec, {"template", "metadata", "labels"});
  if (selector->matches(labels)) return;
  problems.invalid(FieldPath("spec.template.metadata.labels"), Json(labels),
                   "`selector` does not match template `labels`");
}

void check_immutable(Problems& problems, const FieldPath& path, const Json& spec, const Json& old,
                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Json before = old.value(name, Json());
    const Json after = spec.value(name, Json());
    if (before != after) problems.invalid(path.member(name), after, "field is immutable");
  }
}

std::vector<FieldProblem> validate_builtin(const Resource& resource, const Json& object, const Json* old) {
  // The schema first: the other checks rely on the types of members.
  std::vector<FieldProblem> typed = validate_values(builtin_schema(resource), object);
  if (!typed.empty()) return typed;
  if (old != nullptr && old->is_null()) old = nullptr;
  Problems problems;
  check_template_labels(problems, map_at(object, "spec"));
  const std::string& kind = resource.kind;
  if (kind == "Pod" && old != nullptr) check_pod_update(problems, object, *old);
  if (kind == "Job") check_job(problems, object, old);
  if (kind == "StatefulSet") check_stateful_set(problems, object, old);
  if (kind == "Service" && old != nullptr) check_service_update(problems, object, *old);
  if (kind == "ControllerRevision" && old != nullptr) check_immutable(problems, FieldPath(), object, *old, {"data"});
  return problems.take();
}

}  // namespace tpuslice::sim
