#include <limits>

#include "api/sim/schema/builtin.h"
#include "api/sim/schema/builtin_checks.h"

namespace tpuslice::sim {
namespace {

void check_event(Problems& problems, const Json& event, const Json* old) {
  if (old != nullptr) {
    // In the names of core/v1, in which events are kept.
    struct Field {
      const char* name;
      const char* stored;
    };
    for (const Field field :
         {Field{"regarding", "involvedObject"}, Field{"reason", "reason"}, Field{"note", "message"},
          Field{"type", "type"}, Field{"eventTime", "eventTime"}, Field{"reportingController", "reportingComponent"},
          Field{"action", "action"}, Field{"reportingInstance", "reportingInstance"}}) {
      const Json before = old->value(field.name, Json());
      const Json after = event.value(field.name, Json());
      if (before != after) problems.invalid(FieldPath(field.stored), after, "field is immutable");
    }
    return;
  }
  if (string_at(event, {"eventTime"}).empty()) problems.required(FieldPath("eventTime"));
  const std::string controller = string_at(event, {"reportingController"});
  if (controller.empty()) problems.required(FieldPath("reportingController"));
  check_name(problems, FieldPath("reportingController"), controller, check_label_key(controller));
  for (const char* name : {"reportingInstance", "action", "reason"}) {
    if (string_at(event, {name}).empty()) problems.required(FieldPath(name));
  }
  const std::string type = string_at(event, {"type"});
  if (type != "Normal" && type != "Warning") {
    problems.invalid(FieldPath("type"), "", fmt::format("has invalid value: {}", type));
  }
}

void check_data(Problems& problems, const std::string& kind, const Json& object, const Json* old) {
  const FieldPath data("data");
  for (const auto& [key, value] : map_at(object, "data").items()) {
    const bool good = !key.empty() && key.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_.") == std::string::npos;
    if (good) continue;
    problems.invalid(
        data.key(key), key,
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
        "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
  }
  if (old == nullptr) return;
  if (kind == "Secret" && string_at(object, {"type"}) != string_at(*old, {"type"})) {
    problems.invalid(FieldPath("type"), string_at(object, {"type"}), "field is immutable");
  }
  if (!bool_at(*old, {"immutable"})) return;
  if (!bool_at(object, {"immutable"})) {
    problems.forbidden(FieldPath("immutable"), "field is immutable when `immutable` is set");
  }
  if (map_at(object, "data") != map_at(*old, "data")) {
    problems.forbidden(data, "field is immutable when `immutable` is set");
  }
}

void check_budget(Problems& problems, const Json& spec) {
  const FieldPath path("spec");
  const Json* least = find_path(spec, {"minAvailable"});
  const Json* most = find_path(spec, {"maxUnavailable"});
  if (least != nullptr && most != nullptr) {
    const auto raw = [&spec](const char* name) {
      return spec.contains(name) ? spec.at(name).dump() : std::string("null");
    };
    problems.add(
        path, "FieldValueInvalid",
        fmt::format("Invalid value: {{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},"
                    "\"UnhealthyPodEvictionPolicy\":{}}}",
                    raw("minAvailable"), raw("selector"), raw("maxUnavailable"), raw("unhealthyPodEvictionPolicy")),
        "minAvailable and maxUnavailable cannot be both set");
  }
  for (const char* name : {"minAvailable", "maxUnavailable"}) {
    const Json* value = find_path(spec, {name});
    if (value != nullptr && value->is_number_integer() && *value < Json(0)) {
      problems.invalid(path.member(name), *value, "must be greater than or equal to 0");
    }
  }
}

void check_kind(Problems& problems, const Resource& resource, const Json& object, const Json* old) {
  const std::string& kind = resource.kind;
  if (kind == "Pod") {
    const Json* spec = find_path(object, {"spec"});
    if (spec == nullptr) return problems.required(FieldPath("spec").member("containers"));
    check_pod_spec(problems, FieldPath("spec"), *spec);
    if (old == nullptr && !string_at(*spec, {"nodeName"}).empty() && !list_at(*spec, "schedulingGates").empty()) {
      problems.forbidden(FieldPath("spec").member("nodeName"),
                         "cannot be set until all schedulingGates have been cleared");
    }
    if (old != nullptr) check_pod_update(problems, object, *old);
  } else if (kind == "Service") {
    check_service(problems, object, old);
  } else if (kind == "MutatingWebhookConfiguration" || kind == "ValidatingWebhookConfiguration") {
    check_webhook_configuration(problems, object);
  } else if (resource.group == "apps" || resource.group == "batch") {
    check_workload(problems, kind, object, old);
  } else if (kind == "Lease") {
    const Json* seconds = find_path(object, {"spec", "leaseDurationSeconds"});
    if (seconds != nullptr && *seconds <= Json(0)) {
      problems.invalid(FieldPath("spec").member("leaseDurationSeconds"), *seconds, "must be greater than 0");
    }
    const Json* transitions = find_path(object, {"spec", "leaseTransitions"});
    if (transitions != nullptr && *transitions < Json(0)) {
      problems.invalid(FieldPath("spec").member("leaseTransitions"), *transitions,
                       "must be greater than or equal to 0");
    }
  } else if (kind == "Event" && resource.group == "events.k8s.io") {
    check_event(problems, object, old);
  } else if (kind == "ConfigMap" || kind == "Secret") {
    check_data(problems, kind, object, old);
  } else if (kind == "PodDisruptionBudget") {
    check_budget(problems, map_at(object, "spec"));
  }
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

void check_name(Problems& problems, const FieldPath& path, const std::string& value, const Complaints& complaints) {
  for (const std::string& complaint : complaints) problems.invalid(path, value, complaint);
}

void check_choice(Problems& problems, const FieldPath& path, const Json& object, const char* name,
                  const std::vector<std::string>& supported) {
  const auto found = object.find(name);
  if (found == object.end()) return;
  for (const std::string& each : supported) {
    if (*found == each) return;
  }
  problems.unsupported(path.member(name), *found, supported);
}

void check_port(Problems& problems, const FieldPath& path, const Json& port, bool named) {
  if (port.is_number_integer()) {
    if (port < Json(1) || port > Json(65535)) problems.invalid(path, port, "must be between 1 and 65535, inclusive");
    return;
  }
  if (!named || !port.is_string()) return;
  const auto& name = port.get_ref<const std::string&>();
  if (name.size() > 15) problems.invalid(path, port, "must be no more than 15 characters");
  check_name(problems, path, name, check_dns1123_label(name));
}

void check_label_selector(Problems& problems, const FieldPath& path, const Json& selector) {
  const FieldPath labels = path.member("matchLabels");
  for (const auto& [key, value] : map_at(selector, "matchLabels").items()) {
    check_name(problems, labels, key, check_label_key(key));
    if (value.is_string())
      check_name(problems, labels, value.get<std::string>(), check_label_value(value.get<std::string>()));
  }
  const Json& expressions = list_at(selector, "matchExpressions");
  const FieldPath list = path.member("matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const FieldPath at = list.item(i);
    const std::string op = string_at(expressions[i], {"operator"});
    const bool has_values = !list_at(expressions[i], "values").empty();
    if (op == "In" || op == "NotIn") {
      if (!has_values) problems.required(at.member("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (op == "Exists" || op == "DoesNotExist") {
      if (has_values) {
        problems.forbidden(at.member("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
    } else {
      problems.invalid(at.member("operator"), op, "not a valid selector operator");
    }
    const std::string key = string_at(expressions[i], {"key"});
    check_name(problems, at.member("key"), key, check_label_key(key));
  }
}

void check_metadata(Problems& problems, const FieldPath& path, const Json& metadata) {
  const FieldPath labels = path.member("labels");
  for (const auto& [key, value] : map_at(metadata, "labels").items()) {
    check_name(problems, labels, key, check_label_key(key));
    if (value.is_string())
      check_name(problems, labels, value.get<std::string>(), check_label_value(value.get<std::string>()));
  }
  constexpr std::size_t kMostAnnotations = 256U << 10U;
  std::size_t bytes = 0;
  const FieldPath annotations = path.member("annotations");
  for (const auto& [key, value] : map_at(metadata, "annotations").items()) {
    std::string lower = key;  // Unlike labels, annotations may have capitals in their prefix.
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    check_name(problems, annotations, key, check_label_key(lower));
    bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  if (bytes > kMostAnnotations) {
    problems.add(annotations, "FieldValueTooLong", "Too long",
                 fmt::format("may not be more than {} bytes", kMostAnnotations));
  }
  const Json& owners = list_at(metadata, "ownerReferences");
  const FieldPath list = path.member("ownerReferences");
  std::size_t controllers = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    for (const char* name : {"apiVersion", "kind", "name", "uid"}) {
      if (string_at(owners[i], {name}).empty()) problems.invalid(list.member(name), "", "must not be empty");
    }
    controllers += bool_at(owners[i], {"controller"}) ? 1U : 0U;
  }
  if (controllers > 1) {
    const Json* first = nullptr;
    for (const Json& each : owners) {
      if (!bool_at(each, {"controller"})) continue;
      if (first == nullptr) {
        first = &each;
        continue;
      }
      problems.invalid(
          list, owners,
          fmt::format("Only one reference can have Controller set to true. Found \"true\" in references for "
                      "{}/{} and {}/{}",
                      string_at(*first, {"kind"}), string_at(*first, {"name"}), string_at(each, {"kind"}),
                      string_at(each, {"name"})));
    }
  }
}

std::vector<FieldProblem> validate_builtin(const Resource& resource, const Json& object, const Json* old) {
  // The schema first: what follows reads members without asking for their types again.
  std::vector<FieldProblem> typed = validate_values(builtin_schema(resource), object);
  // Of what owners have to say, metadata's own check speaks.
  std::erase_if(typed, [](const FieldProblem& problem) {
    return problem.reason == "FieldValueRequired" && problem.path.starts_with("metadata.ownerReferences[");
  });
  if (!typed.empty()) return typed;
  if (old != nullptr && old->is_null()) old = nullptr;
  Problems problems;
  check_metadata(problems, FieldPath("metadata"), map_at(object, "metadata"));
  check_kind(problems, resource, object, old);
  return problems.take();
}

}  // namespace tpuslice::sim
