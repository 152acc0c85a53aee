// What the API server refuses of StatefulSets and of their ControllerRevisions.
#include <algorithm>

#include <fmt/format.h>

#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/workload_checks.h"

namespace tpuslice::sim {
namespace {

/// As Go prints its own struct.
std::string go_rolling_update(const Json* rolling) {
  if (rolling == nullptr) return "null";
  return fmt::format(R"({{"Partition":{},"MaxUnavailable":{}}})", int_at(*rolling, {"partition"}),
                     rolling->value("maxUnavailable", Json()).dump());
}

void check_strategy(Problems& problems, const FieldPath& path, const Json& strategy) {
  const std::string type = string_at(strategy, {"type"});
  const Json* rolling = find_path(strategy, {"rollingUpdate"});
  const auto invalid = [&problems](const FieldPath& at, const std::string& value, const char* detail) {
    problems.add(at, "FieldValueInvalid", "Invalid value: " + value, detail);
  };
  if (type == "OnDelete") {
    if (rolling == nullptr) return;
    invalid(path.member("rollingUpdate"), go_rolling_update(rolling),
            "only allowed for updateStrategy 'RollingUpdate'");
  } else if (type == "RollingUpdate") {
    if (rolling != nullptr) check_not_negative(problems, path.member("rollingUpdate"), *rolling, {"partition"});
  } else {
    invalid(path, fmt::format(R"({{"Type":"{}","RollingUpdate":{}}})", type, go_rolling_update(rolling)),
            "must be 'RollingUpdate' or 'OnDelete'");
  }
}

/// The template as its pods will be: the controller gives them names of their own, and volumes for their claims.
Json template_of_pods(const Json& spec) {
  Json pods = map_at(spec, "template");
  if (!pods.contains("spec") || !pods["spec"].is_object()) return pods;
  pods["spec"].erase("hostname");
  pods["spec"].erase("subdomain");
  Json volumes = Json::array();
  for (const Json& claim : list_at(spec, "volumeClaimTemplates")) {
    const std::string name = string_at(claim, {"metadata", "name"});
    volumes.push_back({{"name", name}, {"persistentVolumeClaim", {{"claimName", name}}}});
  }
  if (volumes.empty()) return pods;
  const std::size_t claims = volumes.size();
  for (const Json& volume : list_at(pods["spec"], "volumes")) {
    const bool replaced =
        std::any_of(volumes.begin(), volumes.begin() + static_cast<std::ptrdiff_t>(claims),
                    [&volume](const Json& claim) { return claim["name"] == volume.value("name", ""); });
    if (!replaced) volumes.push_back(volume);
  }
  pods["spec"]["volumes"] = std::move(volumes);
  return pods;
}

void check_spec(Problems& problems, const FieldPath& path, const Json& spec, bool fresh) {
  const std::string management = string_at(spec, {"podManagementPolicy"}, "OrderedReady");
  if (management != "OrderedReady" && management != "Parallel") {
    problems.invalid(path.member("podManagementPolicy"), management, "must be 'OrderedReady' or 'Parallel'");
  }
  check_strategy(problems, path.member("updateStrategy"), map_at(spec, "updateStrategy"));
  const FieldPath retention = path.member("persistentVolumeClaimRetentionPolicy");
  for (const char* when : {"whenDeleted", "whenScaled"}) {
    check_choice(problems, retention, map_at(spec, "persistentVolumeClaimRetentionPolicy"), when, {"Retain", "Delete"});
  }
  check_not_negative(problems, path, spec, {"replicas", "minReadySeconds"});
  const Json* start = find_path(spec, {"ordinals", "start"});
  if (start != nullptr && *start < Json(0)) {
    problems.invalid(path.member("ordinals.start"), *start, "must be greater than or equal to 0");
  }
  const std::string service = string_at(spec, {"serviceName"});
  if (fresh && !service.empty()) {
    check_name(problems, path.member("serviceName"), service, check_dns1123_label(service));
  }
  check_selector(problems, path, "StatefulSet", spec);
  const FieldPath pods = path.member("template");
  check_pod_template(problems, pods, template_of_pods(spec), {"Always"});
  if (find_path(spec, {"template", "spec", "activeDeadlineSeconds"}) != nullptr) {
    problems.forbidden(pods.member("spec").member("activeDeadlineSeconds"),
                       "activeDeadlineSeconds in StatefulSet is not Supported");
  }
}

void check_changes(Problems& problems, const FieldPath& path, Json spec, Json old) {
  for (const char* name : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                           "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    spec.erase(name);
    old.erase(name);
  }
  if (spec == old) return;
  problems.forbidden(path,
                     "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                     "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                     "'minReadySeconds' are forbidden");
}

void check_status(Problems& problems, const FieldPath& path, const Json& status, const Json& old) {
  check_not_negative(problems, path, status,
                     {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
                      "observedGeneration", "collisionCount"});
  const auto at_most = [&](const char* name, const char* limit, const char* detail) {
    const std::int64_t value = int_at(status, {name});
    if (value > int_at(status, {limit})) problems.invalid(path.member(name), value, detail);
  };
  for (const char* name : {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"}) {
    at_most(name, "replicas", "cannot be greater than status.replicas");
  }
  at_most("availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas");
  const std::int64_t collisions = int_at(status, {"collisionCount"});
  if (collisions < int_at(old, {"collisionCount"})) {
    problems.invalid(path.member("collisionCount"), collisions, "cannot be decremented");
  }
}

}  // namespace

void check_stateful_set(Problems& problems, const Json& set, const Json* old) {
  const FieldPath path("spec");
  if (old != nullptr && map_at(set, "status") != map_at(*old, "status")) {
    return check_status(problems, FieldPath("status"), map_at(set, "status"), map_at(*old, "status"));
  }
  check_spec(problems, path, map_at(set, "spec"), old == nullptr);
  if (old != nullptr) check_changes(problems, path, map_at(set, "spec"), map_at(*old, "spec"));
}

void check_revision(Problems& problems, const Json& revision, const Json* old) {
  check_not_negative(problems, FieldPath(), revision, {"revision"});
  const FieldPath path("data");
  const Json data = revision.value("data", Json());
  if (old != nullptr) {
    if (data != old->value("data", Json())) problems.invalid(path, data, "field is immutable");
  } else if (data.is_null()) {
    problems.required(path, "data is mandatory");
  } else if (!data.is_object()) {
    problems.required(path, "data must be a valid JSON object");
  }
}

}  // namespace tpuslice::sim
