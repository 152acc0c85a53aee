#include "controllers/raycluster/rules/validator_parts.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "controllers/raycluster/rules/group_rules.h"
#include "controllers/raycluster/rules/ray_version.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::rules {
namespace {

using raycluster::kAutoscalerV2Variable;
using Errors = FieldErrors;

constexpr raycluster::RayVersion kFirstWithPriority{2, 56, 0};
/// The first whose autoscaler v2 may see the name of a pod again (ray-project/ray#54397).
constexpr raycluster::RayVersion kFirstWithSameNames{2, 49, 0};

const Json* find_named(const Json& list, std::string_view name) {
  const auto found =
      std::ranges::find_if(list, [&](const Json& element) { return string_at(element, {"name"}) == name; });
  return found == list.end() ? nullptr : &*found;
}

const Json* v2_variable(const ClusterView& cluster) {
  return find_named(array_at(cluster.json, {"spec", "headGroupSpec", "template", "spec", "containers", "0", "env"}),
                    kAutoscalerV2Variable);
}

bool asks_for_v2(const Json* variable) {
  const std::string value = variable == nullptr ? std::string() : string_at(*variable, {"value"});
  return value == "1" || value == "true";
}

/// By its options, or, as before they had a version, by a variable of the head.
bool wants_v2(const ClusterView& cluster) {
  return cluster.spec.autoscaling.version == "v2" || asks_for_v2(v2_variable(cluster));
}

void check_options(const ClusterView& cluster, Errors& errors) {
  const Json* options = cluster.spec.autoscaling.options;
  if (options == nullptr) return;
  const std::string path = cluster.at("autoscalerOptions");
  const std::string& version = cluster.spec.autoscaling.version;
  if (!version.empty() && version != "v1" && version != "v2") {
    errors.push_back(not_supported(path + ".version", version, {"v1", "v2"}, kKubeRayRule));
  }
  check_count(*options, "idleTimeoutSeconds", path, errors);
  if (find_named(array_at(*options, {"env"}), raycluster::kAutoscalerCommandVariable) != nullptr) {
    errors.push_back(forbidden(fmt::format("{}.env[{}]", path, raycluster::kAutoscalerCommandVariable),
                               "is set by the operator, for use in args", kKubeRayRule));
  }
}

void check_version_variable(const ClusterView& cluster, Errors& errors) {
  const Json* variable = v2_variable(cluster);
  if (variable == nullptr) return;
  const std::string path =
      cluster.at(fmt::format("headGroupSpec.template.spec.containers[0].env[{}]", kAutoscalerV2Variable));
  const raycluster::Autoscaling& autoscaling = cluster.spec.autoscaling;
  if (!autoscaling.enabled && asks_for_v2(variable)) {
    errors.push_back(forbidden(path, fmt::format("requires {}", cluster.at("enableInTreeAutoscaling")), kKubeRayRule));
  } else if (autoscaling.enabled && !autoscaling.version.empty()) {
    errors.push_back(forbidden(path, fmt::format("cannot be combined with {}", cluster.at("autoscalerOptions.version")),
                               kKubeRayRule));
  }
}

void check_head_containers(const ClusterView& cluster, Errors& errors) {
  if (!cluster.spec.autoscaling.enabled) return;
  const Json& containers = array_at(cluster.json, {"spec", "headGroupSpec", "template", "spec", "containers"});
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (string_at(containers[i], {"name"}) != raycluster::kAutoscalerContainer) continue;
    errors.add([&] {
      return forbidden(cluster.at(fmt::format("headGroupSpec.template.spec.containers[{}].name", i)),
                       fmt::format("{} is the container that {} adds", raycluster::kAutoscalerContainer,
                                   cluster.at("enableInTreeAutoscaling")),
                       kKubeRayRule);
    });
  }
}

std::string restart_policy(const raycluster::GroupSpec& group) {
  return group.pod_template == nullptr ? std::string() : string_at(*group.pod_template, {"spec", "restartPolicy"});
}

bool may_restart(const raycluster::GroupSpec& group) {
  const std::string policy = restart_policy(group);
  return !policy.empty() && policy != "Never";
}

void check_restart_policy(const ClusterView& cluster, const raycluster::GroupSpec& group, const std::string& path,
                          Errors& errors) {
  if (!cluster.spec.autoscaling.explicit_v2() || !may_restart(group)) return;
  errors.push_back(invalid_value(
      path + ".template.spec.restartPolicy", restart_policy(group),
      fmt::format("must be Never or unset with {} v2", cluster.at("autoscalerOptions.version")), kKubeRayRule));
}

/// `v2`: the cluster asks for version 2, in either way.
void check_priority(const ClusterView& cluster, bool v2, const Json& group, const std::string& path, Errors& errors) {
  const Json* priority = find_set(group, {"priority"});
  if (priority == nullptr || *priority == 0) return;  // 0 is the CRD's default.
  const std::string field = path + ".priority";
  if (!int32_at(group, {"priority"})) {
    errors.push_back(invalid_value(field, *priority, "must be an integer of 32 bits", kKubeRayRule));
    return;
  }
  const std::optional<raycluster::RayVersion> version = raycluster::parse_ray_version(cluster.spec.ray_version);
  if (!version || *version < kFirstWithPriority) {
    errors.push_back(forbidden(
        field,
        fmt::format("requires {} 2.56.0 or later, found \"{}\"", cluster.at("rayVersion"), cluster.spec.ray_version),
        kKubeRayRule));
  }
  if (!v2) {
    errors.push_back(
        forbidden(field, fmt::format("requires {} v2", cluster.at("autoscalerOptions.version")), kKubeRayRule));
  }
}

void check_group(const ClusterView& cluster, bool v2, const Json& group, const std::string& path, Errors& errors) {
  if (cluster.spec.autoscaling.enabled && bool_at(group, {"suspend"})) {
    errors.push_back(forbidden(path + ".suspend",
                               fmt::format("cannot be combined with {}", cluster.at("enableInTreeAutoscaling")),
                               kKubeRayRule));
  }
  if (find_set(group, {"idleTimeoutSeconds"}) != nullptr && check_count(group, "idleTimeoutSeconds", path, errors) &&
      !v2) {
    errors.push_back(forbidden(path + ".idleTimeoutSeconds",
                               fmt::format("requires {} v2", cluster.at("autoscalerOptions.version")), kKubeRayRule));
  }
  check_priority(cluster, v2, group, path, errors);
}

}  // namespace

void check_autoscaling(const ClusterView& cluster, Errors& errors) {
  check_options(cluster, errors);
  check_version_variable(cluster, errors);
  check_head_containers(cluster, errors);
  check_restart_policy(cluster, cluster.spec.head, cluster.at("headGroupSpec"), errors);
  const bool v2 = wants_v2(cluster);
  for_each_group(cluster, [&](const Json& json, const raycluster::WorkerGroup& group, const std::string& path) {
    check_group(cluster, v2, json, path, errors);
    check_restart_policy(cluster, group, path, errors);
  });
}

std::vector<std::string> warn_autoscaling(const ClusterView& cluster) {
  const raycluster::RayClusterSpec& spec = cluster.spec;
  std::vector<std::string> out;
  if (!spec.autoscaling.enabled) return out;
  const std::optional<raycluster::RayVersion> version = raycluster::parse_ray_version(spec.ray_version);
  if (version && *version < kFirstWithSameNames && wants_v2(cluster)) {
    out.push_back(fmt::format(
        "{}: \"{}\": its autoscaler v2 takes the pods of a replica that was removed and added again for the "
        "removed ones, and may then ask for more: use 2.49.0 or later",
        cluster.at("rayVersion"), spec.ray_version));
  }
  if (spec.autoscaling.version != "v1") return out;
  for (std::size_t i = 0; i < spec.groups.size(); ++i) {
    if (!may_restart(spec.groups[i])) continue;
    out.push_back(
        fmt::format("{}.workerGroupSpecs[{}].template.spec.restartPolicy: should be Never or unset with "
                    "{}.autoscalerOptions.version v1",
                    cluster.path, i, cluster.path));
  }
  return out;
}

}  // namespace tpuslice::rules
