#include "cmd/tpu-slice-sim/admission/matching.h"

#include <algorithm>

#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/schema/cel.h"

namespace tpuslice::sim {
namespace {

constexpr std::string_view kNamespaceName = "kubernetes.io/metadata.name";

bool lists(const Json& rule, const char* name, std::string_view wanted) {
  const Json* values = find_path(rule, {name});
  if (values == nullptr || !values->is_array()) return false;
  return std::any_of(values->begin(), values->end(),
                     [wanted](const Json& each) { return each == "*" || each == wanted; });
}

/// "pods": only the resource; "pods/*": the resource and its subresources; "*": every resource.
bool lists_resource(const Json& rule, std::string_view plural, std::string_view subresource) {
  const Json* values = find_path(rule, {"resources"});
  if (values == nullptr || !values->is_array()) return false;
  return std::any_of(values->begin(), values->end(), [&](const Json& each) {
    if (!each.is_string()) return false;
    const std::string_view text = each.get_ref<const std::string&>();
    const std::size_t slash = text.find('/');
    const std::string_view resource = text.substr(0, slash);
    const std::string_view sub = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
    return (resource == "*" || resource == plural) && (sub == "*" || sub == subresource);
  });
}

bool in_rules(const Json& webhook, const AdmissionRequest& request) {
  const Json* rules = find_path(webhook, {"rules"});
  if (rules == nullptr || !rules->is_array()) return false;
  const Resource& resource = *request.resource;
  return std::any_of(rules->begin(), rules->end(), [&](const Json& rule) {
    const std::string scope = string_at(rule, {"scope"}, "*");
    if (scope != "*" && (scope == "Namespaced") != resource.namespaced) return false;
    return lists(rule, "operations", request.operation) && lists(rule, "apiGroups", resource.group) &&
           lists(rule, "apiVersions", resource.version) && lists_resource(rule, resource.plural, request.subresource);
  });
}

Result<LabelSelector> selector_of(const Json& webhook, const char* name) {
  const Json* selector = find_path(webhook, {name});
  if (selector == nullptr || selector->is_null()) return LabelSelector::everything();
  Result<LabelSelector> parsed = LabelSelector::from_json(*selector);
  if (!parsed) return parsed.error().within(name);
  return parsed;
}

/// Empty for cluster-scoped objects.
std::optional<StringMap> namespace_labels(const AdmissionRequest& request, const Json& object, const Storage& storage) {
  const bool is_namespace = request.resource->id() == "namespaces";
  const std::string& name = is_namespace ? request.key.name : request.key.namespace_name;
  if (!is_namespace && (!request.resource->namespaced || name.empty())) return std::nullopt;
  StringMap labels;
  if (is_namespace) {
    labels = string_map_at(object.is_object() ? object : request.old_object, {"metadata", "labels"});
  } else if (const JsonPtr stored = storage.get("namespaces", ObjectKey{"", name}); stored != nullptr) {
    labels = string_map_at(*stored, {"metadata", "labels"});
  }
  if (!name.empty()) labels[std::string(kNamespaceName)] = name;
  return labels;
}

Result<bool> in_selectors(const Json& webhook, const AdmissionRequest& request, const Json& object,
                          const Storage& storage) {
  ASSIGN_OR_RETURN(const LabelSelector by_namespace, selector_of(webhook, "namespaceSelector"));
  if (!by_namespace.matches_everything()) {
    const std::optional<StringMap> labels = namespace_labels(request, object, storage);
    if (labels && !by_namespace.matches(*labels)) return false;
  }
  ASSIGN_OR_RETURN(const LabelSelector by_object, selector_of(webhook, "objectSelector"));
  if (by_object.matches_everything()) return true;
  for (const Json* each : {&object, &request.old_object}) {
    if (each->is_object() && by_object.matches(string_map_at(*each, {"metadata", "labels"}))) return true;
  }
  return false;
}

/// False if any condition is false; an error counts only if none is.
Result<bool> conditions_hold(const Json& conditions, const AdmissionRequest& request, const Json& object) {
  const Json attributes = request_attributes(request, "");
  const cel::Variables variables = {{"object", &object}, {"oldObject", &request.old_object}, {"request", &attributes}};
  std::optional<Error> failed;
  for (const Json& condition : conditions) {
    const auto parsed =
        cel::Expression::parse(string_at(condition, {"expression"}), {"object", "oldObject", "request"});
    const Result<bool> verdict = parsed ? parsed->holds(variables) : Result<bool>(parsed.error());
    if (verdict && !*verdict) return false;
    if (!verdict && !failed) {
      failed = verdict.error().within(fmt::format("match condition \"{}\"", string_at(condition, {"name"})));
    }
  }
  if (failed) return *failed;
  return true;
}

}  // namespace

std::vector<Webhook> configured_webhooks(const Storage& storage, std::string_view resource) {
  std::vector<Webhook> webhooks;
  for (const JsonPtr& configuration : storage.list(resource)) {
    const Json* entries = find_path(*configuration, {"webhooks"});
    if (entries == nullptr || !entries->is_array()) continue;
    for (const Json& entry : *entries) {
      if (!entry.is_object()) continue;
      webhooks.push_back({string_at(*configuration, {"metadata", "name"}), configuration, &entry});
    }
  }
  return webhooks;
}

Json request_attributes(const AdmissionRequest& request, const std::string& uid) {
  const Resource& resource = *request.resource;
  const Json kind = {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
  const Json plural = {{"group", resource.group}, {"version", resource.version}, {"resource", resource.plural}};
  Json options = {{"apiVersion", "meta.k8s.io/v1"}};
  if (request.operation == "DELETE") {
    options["kind"] = "DeleteOptions";
  } else {
    options["kind"] = request.operation == "CREATE" ? "CreateOptions" : "UpdateOptions";
    if (!request.options.field_manager.empty()) options["fieldManager"] = request.options.field_manager;
  }
  if (request.options.dry_run) options["dryRun"] = Json::array({"All"});
  Json attributes = {{"uid", uid},
                     {"kind", kind},
                     {"resource", plural},
                     {"requestKind", kind},
                     {"requestResource", plural},
                     {"operation", request.operation},
                     {"userInfo", {{"username", request.options.user.name}, {"groups", request.options.user.groups}}},
                     {"dryRun", request.options.dry_run},
                     {"options", std::move(options)}};
  if (!request.key.name.empty()) attributes["name"] = request.key.name;
  const std::string& space = resource.id() == "namespaces" ? request.key.name : request.key.namespace_name;
  if (!space.empty()) attributes["namespace"] = space;
  if (!request.subresource.empty()) {
    attributes["subResource"] = request.subresource;
    attributes["requestSubResource"] = request.subresource;
  }
  return attributes;
}

Result<bool> matches(const Webhook& webhook, const AdmissionRequest& request, const Json& object,
                     const Storage& storage) {
  // Webhooks are not called for webhook configurations.
  if (request.resource->group == "admissionregistration.k8s.io") return false;
  if (!in_rules(*webhook.entry, request)) return false;
  ASSIGN_OR_RETURN(const bool selected, in_selectors(*webhook.entry, request, object, storage));
  if (!selected) return false;
  const Json* conditions = find_path(*webhook.entry, {"matchConditions"});
  if (conditions == nullptr || !conditions->is_array() || conditions->empty()) return true;
  return conditions_hold(*conditions, request, object);
}

}  // namespace tpuslice::sim
