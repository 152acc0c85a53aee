#include "controllers/leaderworkerset/rules/normal_form.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/types/quantity.h"

namespace tpuslice::leaderworkerset {
namespace {

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

// Source of these names: the types of k8s.io/api/core/v1 and their `omitempty`.

/// Maps with user-defined keys and string values, which may be empty.
bool is_string_map(std::string_view name) {
  return is_one_of(name, {"labels", "annotations", "nodeSelector", "matchLabels", "volumeAttributes", "options"});
}

bool is_quantity_map(std::string_view name) { return is_one_of(name, {"limits", "requests", "overhead", "capacity"}); }

bool is_quantity(std::string_view name) { return is_one_of(name, {"sizeLimit", "divisor"}); }

/// Strings for which empty differs from absent.
bool may_be_empty(std::string_view name) { return is_one_of(name, {"storageClassName", "volumeAttributesClassName"}); }

/// Booleans for which false equals absent; most booleans of pods are pointers.
bool is_plain_flag(std::string_view name) {
  return is_one_of(name, {"hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly",
                          "chapAuthDiscovery", "chapAuthSession", "sslEnabled"});
}

/// Numbers for which 0 equals absent.
bool is_plain_number(std::string_view name) {
  return is_one_of(name, {"hostPort", "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
                          "failureThreshold", "partition", "generation"});
}

/// Whether Go omits a member with this value.
bool is_omitted(std::string_view name, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_string()) return value.get_ref<const std::string&>().empty() && !may_be_empty(name);
  if (value.is_array()) return value.empty();
  if (value.is_object()) return value.empty() && (is_string_map(name) || is_quantity_map(name));
  if (value.is_boolean()) return value == false && is_plain_flag(name);
  return value.is_number_integer() && value == 0 && is_plain_number(name);
}

/// An invalid quantity stays unchanged; the API server reports it.
void print_quantity(Json& value) {
  if (const auto quantity = Quantity::from_json(value)) value = quantity->to_string();
}

void erase_members(Json& object, const auto& is_removed) {
  for (auto member = object.begin(); member != object.end();) {
    member = is_removed(member.key(), member.value()) ? object.erase(member) : std::next(member);
  }
}

/// Members that Go prints even if absent, and schema defaults.
void complete(Json& element, std::string_view list) {
  if (!element.is_object()) return;
  if (is_one_of(list, {"containers", "initContainers"}) && !element.contains("resources")) {
    element["resources"] = Json::object();
  }
  // Schema default: ports are merged by number and protocol.
  if (list == "ports" && element.contains("containerPort") && !element.contains("protocol")) {
    element["protocol"] = "TCP";
  }
}

void normalize(Json& value, std::string_view name);

void normalize_object(Json& object, std::string_view name) {
  if (is_string_map(name)) {
    erase_members(object, [](const std::string&, const Json& member) { return member.is_null(); });
  } else if (is_quantity_map(name)) {
    erase_members(object, [](const std::string&, const Json& member) { return member.is_null(); });
    for (Json& quantity : object) print_quantity(quantity);
  } else {
    for (auto& [key, member] : object.items()) normalize(member, key);
    erase_members(object, [](const std::string& key, const Json& member) { return is_omitted(key, member); });
    if (name == "resourceFieldRef" && !object.contains("divisor")) object["divisor"] = "0";
  }
}

/// `name`: of the member that `value` is, or is an element of.
void normalize(Json& value, std::string_view name) {
  if (value.is_object()) {
    normalize_object(value, name);
  } else if (value.is_array()) {
    for (Json& element : value) {
      normalize(element, name);
      complete(element, name);
    }
  } else if (is_quantity(name) && !value.is_null()) {
    print_quantity(value);
  }
}

Json normal_object(const Json& json) {
  Json object = json.is_object() ? json : Json::object();
  normalize(object, {});
  return object;
}

void default_to(Json& object, const char* member, Json value) {
  if (!object.contains(member)) object[member] = std::move(value);
}

}  // namespace

Json normal_pod_template(const Json& pod) {
  Json normal = normal_object(pod);
  default_to(normal, "metadata", Json::object());
  return normal;
}

Json normal_volume_claim(const Json& claim) {
  Json normal = normal_object(claim);
  default_to(normal, "metadata", Json::object());
  default_to(normal, "spec", Json::object());
  default_to(normal, "status", Json::object());
  if (normal["spec"].is_object()) default_to(normal["spec"], "resources", Json::object());
  return normal;
}

Json normal_volume_claims(const Json& set) {
  Json claims = array_at(set, {"spec", "leaderWorkerTemplate", "volumeClaimTemplates"});
  for (Json& claim : claims) claim = normal_volume_claim(claim);
  return claims;
}

Json normal_group_template(const Json& set) {
  Json normal = object_at(set, {"spec", "leaderWorkerTemplate"});
  normal.erase("$patch");
  normal.erase("maxGroupRestarts");  // As upstream: a change is no new revision.
  // Templates and claims have their own normal forms.
  Json leader = normal.value("leaderTemplate", Json());
  const Json worker = normal.value("workerTemplate", Json());
  Json claims = normal_volume_claims(set);
  for (const char* member : {"leaderTemplate", "workerTemplate", "volumeClaimTemplates"}) normal.erase(member);
  normalize(normal, {});
  if (!leader.is_null()) normal["leaderTemplate"] = normal_pod_template(leader);
  normal["workerTemplate"] = normal_pod_template(worker);
  if (!claims.empty()) normal["volumeClaimTemplates"] = std::move(claims);
  default_to(normal, "size", 1);
  default_to(normal, "restartPolicy", "RecreateGroupOnPodRestart");
  if (normal["restartPolicy"] == "Default") normal["restartPolicy"] = "None";  // Upstream's webhook does this.
  if (normal.contains("subGroupPolicy") && normal["subGroupPolicy"].is_object()) {
    default_to(normal["subGroupPolicy"], "subGroupPolicyType", "LeaderWorker");
  }
  return normal;
}

}  // namespace tpuslice::leaderworkerset
