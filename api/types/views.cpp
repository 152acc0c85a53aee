#include "api/types/views.h"

#include <array>

#include "api/types/quantity.h"

namespace tpuslice {

std::string_view to_string(PodPhase phase) {
  static constexpr std::array<std::string_view, 5> kNames = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
  return kNames.at(static_cast<std::size_t>(phase));
}

namespace {

/// Limits of a whole object, managedFields included. etcd accepts up to 1.5 MiB; the number of values limits the memory
/// of one object.
constexpr JsonLimits kObjectLimits{.bytes = 1U << 20U, .values = 100'000};

}  // namespace

std::string ResourceAmount::quantity() const {
  return name == "cpu" ? Quantity::of_milli(amount).to_string()
                       : Quantity(amount, QuantityFormat::kBinarySI).to_string();
}

std::int64_t amount_of(const ResourceAmounts& resources, std::string_view name) {
  for (const ResourceAmount& each : resources) {
    if (each.name == name) return each.amount;
  }
  return 0;
}

const std::string& PodView::label(std::string_view name) const { return value_of(labels, name); }
const std::string& PodView::annotation(std::string_view name) const { return value_of(annotations, name); }
const std::string& JobView::label(std::string_view name) const { return value_of(labels, name); }
const std::string& JobView::annotation(std::string_view name) const { return value_of(annotations, name); }
const std::string& StatefulSetView::annotation(std::string_view name) const { return value_of(annotations, name); }

Result<PodView> PodView::from_json(const Json& json) {
  return decode(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<NodeView> NodeView::from_json(const Json& json) {
  return decode(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<JobView> JobView::from_json(const Json& json) {
  return decode(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<StatefulSetView> StatefulSetView::from_json(const Json& json) {
  return decode(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<ServiceView> ServiceView::from_json(const Json& json) {
  return decode(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<ObjectView> ObjectView::decode(std::string_view json, const KeptKeys* /*keep*/) {
  ASSIGN_OR_RETURN(Json document, parse_json(json, kObjectLimits));
  return from_json(std::move(document));
}

Object ObjectView::object_without_spec() const {
  static constexpr std::array<std::string_view, 2> kLeftOut = {"spec", "annotations"};
  return minimal ? object() : Object(parse_json(text, {.without = kLeftOut}).value());
}

Object ObjectView::object() const {
  if (!minimal) return Object(parse_json(text).value());
  Json metadata = {{"name", key.name}, {"uid", uid}, {"resourceVersion", resource_version}};
  if (!key.namespace_name.empty()) metadata["namespace"] = key.namespace_name;
  if (deletion) metadata["deletionTimestamp"] = format_rfc3339(*deletion);
  return Object(Json{{"metadata", std::move(metadata)}});
}

Result<ObjectView> ObjectView::from_json(Json json) {
  if (!json.is_object()) return Error::invalid_argument("object is a JSON {}, must be an object", json.type_name());
  const auto metadata = json.find("metadata");
  if (metadata != json.end() && metadata->is_object()) metadata->erase("managedFields");

  const Object object(std::move(json));
  ObjectView view;
  view.key = object.key();
  view.uid = object.uid();
  if (view.key.name.empty()) return Error::invalid_argument("object has no metadata.name");
  if (view.uid.empty()) return Error::invalid_argument("object {} has no metadata.uid", view.key.to_string());
  view.resource_version = object.resource_version();
  view.deletion = object.deletion_timestamp();
  view.labels = string_map_at(object.json(), {"metadata", "labels"});
  view.controller = object.controller();
  view.text = object.json().dump(-1, ' ', false, Json::error_handler_t::replace);
  view.text.shrink_to_fit();
  return view;
}

}  // namespace tpuslice
