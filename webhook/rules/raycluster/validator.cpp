#include "webhook/rules/raycluster/validator.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "tpu/naming.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/raycluster/groups.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {
namespace {

constexpr std::size_t kLongestName = 53;  // "<name>-headless" and the other children stay DNS labels.
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int32_t>::max();
using Errors = std::vector<FieldError>;

void check_name(const Json& cluster, Errors& errors) {
  const std::string name = string_at(cluster, {"metadata", "name"});
  if (name.empty()) return;  // generateName: the API server has not chosen one yet.
  if (name.size() > kLongestName) {
    errors.push_back(invalid_value(
        "metadata.name", name,
        fmt::format("has {} characters, at most {} fit the names of its services", name.size(), kLongestName),
        kKubeRayRule));
    return;
  }
  for (const std::string& complaint : check_dns1035_label(name)) {
    errors.push_back(invalid_value("metadata.name", name, complaint, kKubeRayRule));
  }
}

void check_manager(const Json& cluster, const Json* old, Errors& errors) {
  const Json* manager = find_set(cluster, {"spec", "managedBy"});
  if (manager == nullptr) return;
  if (*manager != "ray.io/kuberay-operator" && *manager != "kueue.x-k8s.io/multikueue") {
    errors.push_back(invalid_value("spec.managedBy", *manager,
                                   "must be ray.io/kuberay-operator or kueue.x-k8s.io/multikueue", kKubeRayRule));
  }
  const Json* before = old == nullptr ? nullptr : find_set(*old, {"spec", "managedBy"});
  if (before != nullptr && *before != *manager) {
    errors.push_back(
        invalid_value("spec.managedBy", *manager, fmt::format("is immutable, was {}", before->dump()), kKubeRayRule));
  }
}

void check_upgrade(const Json& cluster, Errors& errors) {
  const Json* type = find_set(cluster, {"spec", "upgradeStrategy", "type"});
  if (type == nullptr) return;
  if (*type != "Recreate" && *type != "None") {
    errors.push_back(invalid_value("spec.upgradeStrategy.type", *type, "must be Recreate or None", kKubeRayRule));
  }
  const Json* owners = find_set(cluster, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (const Json& owner : *owners) {
    const std::string kind = string_at(owner, {"kind"});
    if (kind != "RayJob" && kind != "RayService") continue;
    errors.push_back(forbidden(
        "spec.upgradeStrategy.type",
        fmt::format("{} {} decides how its cluster is upgraded", kind, string_at(owner, {"name"})), kKubeRayRule));
  }
}

/// What the head group and worker groups have in common.
void check_group_spec(const Json& group, const std::string& path, Errors& errors) {
  const Json* containers = find_set(group, {"template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->empty()) {
    errors.push_back(required_value(path + ".template.spec.containers",
                                    "a group has at least one container, the first being Ray's", kKubeRayRule));
  }
  if (find_set(group, {"rayStartParams", "labels"}) != nullptr) {
    errors.push_back(forbidden(path + ".rayStartParams[labels]", fmt::format("use {}.labels", path), kKubeRayRule));
  }
  const Json* resources = find_set(group, {"resources"});
  if (resources != nullptr && !resources->empty()) {
    for (const std::string_view name : {"num-cpus", "num-gpus", "memory", "resources"}) {
      if (find_set(group, {"rayStartParams", name}) == nullptr) continue;
      errors.push_back(forbidden(fmt::format("{}.rayStartParams[{}]", path, name),
                                 fmt::format("{}.resources is set; say it in one place", path), kKubeRayRule));
    }
  }
  const Json* labels = find_set(group, {"labels"});
  if (labels == nullptr || !labels->is_object()) return;
  for (const auto& [key, value] : labels->items()) {
    const std::string label_path = fmt::format("{}.labels[{}]", path, key);
    for (const std::string& complaint : check_label_key(key)) {
      errors.push_back(invalid_value(label_path, key, complaint, kKubeRayRule));
    }
    for (const std::string& complaint : check_label_value(value.is_string() ? value.get<std::string>() : "?")) {
      errors.push_back(invalid_value(label_path, value, complaint, kKubeRayRule));
    }
  }
}

void check_group_name(const Json& group, const std::string& path, std::set<std::string>& seen, Errors& errors) {
  const std::string name = string_at(group, {"groupName"});
  const std::string name_path = path + ".groupName";
  if (name.empty()) {
    errors.push_back(required_value(name_path, "every worker group has a name", kKubeRayRule));
    return;
  }
  if (!seen.insert(name).second) {
    errors.push_back(invalid_value(name_path, name, "is the name of an earlier group; names are unique", kKubeRayRule));
  }
  Complaints complaints = check_label_value(name);
  if (complaints.empty()) {
    std::string lower = name;  // As in the names of its pods.
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    complaints = check_dns1123_subdomain(lower);
  }
  for (const std::string& complaint : complaints) {
    errors.push_back(invalid_value(name_path, name, complaint, kKubernetesRule));
  }
}

void check_group_counts(const Json& group, const std::string& path, Errors& errors) {
  for (const std::string_view field : {"replicas", "minReplicas", "maxReplicas", "numOfHosts"}) {
    const Json* value = find_set(group, {field});
    if (value == nullptr) continue;
    const auto number = int_at(group, {field});
    if (!number || *number < 0) {
      errors.push_back(invalid_value(fmt::format("{}.{}", path, field), *value,
                                     "must be a whole number from 0 to 2147483647", kKubeRayRule));
    }
  }
  const std::int64_t least = int_at(group, {"minReplicas"}).value_or(0);
  const std::int64_t most = int_at(group, {"maxReplicas"}).value_or(kUnlimited);
  if (least > most) {
    errors.push_back(invalid_value(path + ".minReplicas", least, fmt::format("must be at most maxReplicas, {}", most),
                                   kKubeRayRule));
  }
}

void check_group_autoscaling(const Json& cluster, const Json& group, const std::string& path, Errors& errors) {
  const bool autoscaling = is_true(cluster, {"spec", "enableInTreeAutoscaling"});
  const bool second = autoscaling && string_at(cluster, {"spec", "autoscalerOptions", "version"}) == "v2";
  if (autoscaling && is_true(group, {"suspend"})) {
    errors.push_back(
        forbidden(path + ".suspend", "groups cannot be suspended while the autoscaler scales them", kKubeRayRule));
  }
  for (const std::string_view field : {"idleTimeoutSeconds", "priority"}) {
    const Json* value = find_set(group, {field});
    if (value == nullptr) continue;
    const auto number = int_at(group, {field});
    const std::string field_path = fmt::format("{}.{}", path, field);
    if (!number || *number < 0) {
      errors.push_back(invalid_value(field_path, *value, "must be a whole number from 0", kKubeRayRule));
    } else if (!second && !(field == "priority" && *number == 0)) {  // 0 is the CRD's default.
      errors.push_back(
          forbidden(field_path, "needs enableInTreeAutoscaling with autoscalerOptions.version v2", kKubeRayRule));
    }
  }
}

/// A group whose hosts find each other by name.
bool has_named_hosts(const Json& group) {
  const Json* pod = find_set(group, {"template"});
  return pod != nullptr && asks_for_tpus(*pod) && int_at(group, {"numOfHosts"}).value_or(1) > 1;
}

Errors check_cluster(const Json& cluster, const Json* old) {
  Errors errors;
  check_name(cluster, errors);
  const Json* spec = find_set(cluster, {"spec"});
  const Json* head = find_set(cluster, {"spec", "headGroupSpec"});
  if (spec == nullptr || head == nullptr || !head->is_object()) {
    errors.push_back(required_value("spec.headGroupSpec", "a cluster has a head", kKubeRayRule));
    return errors;
  }
  check_manager(cluster, old, errors);
  check_upgrade(cluster, errors);
  check_group_spec(*head, "spec.headGroupSpec", errors);
  std::set<std::string> names;
  for_each_group(cluster, [&](const Json& group, const std::string& path) {
    check_group_name(group, path, names, errors);
    check_group_spec(group, path, errors);
    check_group_counts(group, path, errors);
    check_group_autoscaling(cluster, group, path, errors);
  });
  check_group_slices(cluster, errors);
  return errors;
}

}  // namespace

std::vector<FieldError> validate_raycluster(const Json& cluster, const Json* old) {
  Errors errors = check_cluster(cluster, old);
  if (old != nullptr && !errors.empty()) errors = new_errors(std::move(errors), check_cluster(*old, nullptr));
  return errors;
}

std::vector<std::string> warn_raycluster(const Json& cluster) {
  std::vector<std::string> warnings;
  for_each_group(cluster, [&](const Json& group, const std::string& path) {
    const std::string name = string_at(group, {"groupName"});
    const auto replicas = int_at(group, {"replicas"});
    const std::int64_t least = int_at(group, {"minReplicas"}).value_or(0);
    const std::int64_t most = int_at(group, {"maxReplicas"}).value_or(kUnlimited);
    if (replicas && least <= most && std::clamp(*replicas, least, most) != *replicas) {
      warnings.push_back(fmt::format("{}.replicas: {} is outside of minReplicas {} to maxReplicas {}: {} will run",
                                     path, *replicas, least, most, std::clamp(*replicas, least, most)));
    }
    const std::string hostname = tpu::ray_worker_hostnames(name, 0).of(0);
    if (!name.empty() && has_named_hosts(group) && hostname != name + "-0-0") {
      warnings.push_back(fmt::format("{}.groupName: {} is no part of a DNS name: hosts are called {} and so on", path,
                                     name, hostname));
    }
  });
  return warnings;
}

}  // namespace tpuslice::webhook
