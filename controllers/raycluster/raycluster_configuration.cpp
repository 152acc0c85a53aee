#include "controllers/raycluster/raycluster_configuration.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/validation_names.h"
#include "tpu/labels.h"
#include "tpu/rules/field_shapes.h"

namespace tpuslice::raycluster {
namespace {

using rules::FieldError;
using rules::FieldErrors;
using rules::FieldShape;
using rules::FieldType;
using rules::kOurRule;
using Errors = FieldErrors;

constexpr std::string_view kHeadSidecars = "headSidecarContainers";
constexpr std::string_view kWorkerSidecars = "workerSidecarContainers";
constexpr std::string_view kContainerEnv = "defaultContainerEnvs";
constexpr std::string_view kPodLabels = "defaultPodLabels";
constexpr std::string_view kPodAnnotations = "defaultPodAnnotations";
constexpr std::string_view kInjectProbes = "injectProbes";
constexpr std::string_view kInjectWaitGcsReady = "injectWaitGcsReady";
constexpr std::string_view kHeadClusterIp = "headServiceClusterIP";
constexpr std::string_view kRedisCleanup = "redisCleanup";

constexpr std::array kShapes{
    FieldShape{"rayCluster", FieldType::kObject},
    FieldShape{"rayCluster.headSidecarContainers", FieldType::kList, false, {}, 16},
    FieldShape{"rayCluster.headSidecarContainers.*", FieldType::kObject},
    FieldShape{"rayCluster.headSidecarContainers.*.name", FieldType::kString, true},
    FieldShape{"rayCluster.headSidecarContainers.*.image", FieldType::kString, true},
    FieldShape{"rayCluster.workerSidecarContainers", FieldType::kList, false, {}, 16},
    FieldShape{"rayCluster.workerSidecarContainers.*", FieldType::kObject},
    FieldShape{"rayCluster.workerSidecarContainers.*.name", FieldType::kString, true},
    FieldShape{"rayCluster.workerSidecarContainers.*.image", FieldType::kString, true},
    FieldShape{"rayCluster.defaultContainerEnvs", FieldType::kList, false, {}, 256},
    FieldShape{"rayCluster.defaultContainerEnvs.*", FieldType::kObject},
    FieldShape{"rayCluster.defaultContainerEnvs.*.name", FieldType::kString, true},
    FieldShape{"rayCluster.defaultContainerEnvs.*.value", FieldType::kString},
    FieldShape{"rayCluster.defaultContainerEnvs.*.valueFrom", FieldType::kObject},
    FieldShape{"rayCluster.defaultPodLabels", FieldType::kObject},
    FieldShape{"rayCluster.defaultPodAnnotations", FieldType::kObject},
    FieldShape{"rayCluster.injectProbes", FieldType::kBoolean},
    FieldShape{"rayCluster.injectWaitGcsReady", FieldType::kBoolean},
    FieldShape{"rayCluster.headServiceClusterIP", FieldType::kBoolean},
    FieldShape{"rayCluster.redisCleanup", FieldType::kBoolean},
};

/// Fields of a container in Kubernetes. The API server drops others, so a misspelt one would have no effect.
constexpr std::array<std::string_view, 25> kContainerFields{"args",
                                                            "command",
                                                            "env",
                                                            "envFrom",
                                                            "image",
                                                            "imagePullPolicy",
                                                            "lifecycle",
                                                            "livenessProbe",
                                                            "name",
                                                            "ports",
                                                            "readinessProbe",
                                                            "resizePolicy",
                                                            "resources",
                                                            "restartPolicy",
                                                            "restartPolicyRules",
                                                            "securityContext",
                                                            "startupProbe",
                                                            "stdin",
                                                            "stdinOnce",
                                                            "terminationMessagePath",
                                                            "terminationMessagePolicy",
                                                            "tty",
                                                            "volumeDevices",
                                                            "volumeMounts",
                                                            "workingDir"};

std::string path_of(std::string_view key) { return fmt::format("{}.{}", kConfigurationSection, key); }

void check_container(const Json& container, const std::string& path, std::set<std::string>& names, Errors& errors) {
  if (const std::string name = string_at(container, {"name"}); !name.empty()) {
    for (const std::string& error : check_dns1123_label(name)) {
      errors.push_back(rules::invalid_value(path + ".name", name, error, kOurRule));
    }
    if (!names.insert(name).second) errors.push_back(rules::duplicate_value(path + ".name", name, kOurRule));
  }
  for (const auto& [field, value] : container.items()) {
    if (std::ranges::find(kContainerFields, field) != kContainerFields.end()) continue;
    errors.push_back(rules::forbidden(fmt::format("{}.{}", path, field), "a container has no such field", kOurRule));
  }
  for (const char* section : {"limits", "requests"}) {
    if (find_set(container, {"resources", section, tpu::kTpuResource}) == nullptr) continue;
    errors.push_back(rules::forbidden(fmt::format("{}.resources.{}[{}]", path, section, tpu::kTpuResource),
                                      "the chips of a host belong to the Ray container", kOurRule));
  }
}

void check_sidecars(const Json& section, std::string_view key, Errors& errors) {
  std::set<std::string> names;
  std::size_t index = 0;
  for (const Json& container : array_at(section, {key})) {
    const std::string path = fmt::format("{}[{}]", path_of(key), index++);
    if (container.is_object()) check_container(container, path, names, errors);
  }
}

void check_variable(const Json& variable, const std::string& path, std::set<std::string>& names, Errors& errors) {
  const std::string name = string_at(variable, {"name"});
  if (name.find('=') != std::string::npos) {
    errors.push_back(rules::invalid_value(path + ".name", name, "must not contain =", kOurRule));
  }
  if (!name.empty() && !names.insert(name).second) {
    errors.push_back(rules::duplicate_value(path + ".name", name, kOurRule));
  }
  if (find_set(variable, {"value"}) != nullptr && find_set(variable, {"valueFrom"}) != nullptr) {
    errors.push_back(rules::forbidden(path + ".valueFrom", "cannot be combined with value", kOurRule));
  }
  for (const auto& [field, value] : variable.items()) {
    if (field == "name" || field == "value" || field == "valueFrom") continue;
    errors.push_back(
        rules::forbidden(fmt::format("{}.{}", path, field), "an environment variable has no such field", kOurRule));
  }
}

void check_env(const Json& section, Errors& errors) {
  std::set<std::string> names;
  std::size_t index = 0;
  for (const Json& variable : array_at(section, {kContainerEnv})) {
    const std::string path = fmt::format("{}[{}]", path_of(kContainerEnv), index++);
    if (variable.is_object()) check_variable(variable, path, names, errors);
  }
}

/// Labels and annotations by which the operator and Ray know a pod.
bool is_reserved(std::string_view key) {
  return key.starts_with("ray.io/") || key.starts_with(tpu::kAnnotationPrefix) || key == tpu::kAppName ||
         key == "app.kubernetes.io/created-by";
}

void check_map(const Json& section, std::string_view key, bool labels, Errors& errors) {
  const Json* map = find_set(section, {key});
  if (map == nullptr || !map->is_object()) return;
  for (const auto& [name, value] : map->items()) {
    const std::string path = fmt::format("{}[{}]", path_of(key), name);
    for (const std::string& error : check_label_key(name)) {
      errors.push_back(rules::invalid_value(path, name, error, kOurRule));
    }
    if (is_reserved(name)) errors.push_back(rules::forbidden(path, "is set by the operator", kOurRule));
    if (!value.is_string()) {
      errors.push_back(rules::invalid_value(path, value, "must be a string", kOurRule));
    } else if (labels) {
      for (const std::string& error : check_label_value(value.get<std::string>())) {
        errors.push_back(rules::invalid_value(path, value, error, kOurRule));
      }
    }
  }
}

void check_keys(const Json& section, Errors& errors) {
  constexpr std::array kKeys{kHeadSidecars, kWorkerSidecars,     kContainerEnv,  kPodLabels,   kPodAnnotations,
                             kInjectProbes, kInjectWaitGcsReady, kHeadClusterIp, kRedisCleanup};
  for (const auto& [key, value] : section.items()) {
    if (std::ranges::find(kKeys, key) != kKeys.end()) continue;
    errors.push_back(rules::forbidden(
        path_of(key), fmt::format("no such setting; the keys are {}", fmt::join(kKeys, ", ")), kOurRule));
  }
}

bool switch_at(const Json& section, std::string_view key, bool otherwise) {
  const Json* value = find_set(section, {key});
  return value == nullptr ? otherwise : value->get<bool>();
}

}  // namespace

std::vector<rules::FieldError> read_configuration(const Json& section, Options& options) {
  std::vector<FieldError> all;
  Errors errors([&](FieldError&& error) { all.push_back(std::move(error)); });
  rules::check_shapes(Json{{kConfigurationSection, section}}, kShapes, kOurRule, errors);
  if (!section.is_object()) return all;
  check_keys(section, errors);
  check_sidecars(section, kHeadSidecars, errors);
  check_sidecars(section, kWorkerSidecars, errors);
  check_env(section, errors);
  check_map(section, kPodLabels, true, errors);
  check_map(section, kPodAnnotations, false, errors);
  if (!all.empty()) return all;
  options.pod_defaults = {.head_sidecars = array_at(section, {kHeadSidecars}),
                          .worker_sidecars = array_at(section, {kWorkerSidecars}),
                          .container_env = array_at(section, {kContainerEnv}),
                          .labels = string_map_at(section, {kPodLabels}),
                          .annotations = string_map_at(section, {kPodAnnotations})};
  options.inject_probes = switch_at(section, kInjectProbes, options.inject_probes);
  options.wait_for_gcs = switch_at(section, kInjectWaitGcsReady, options.wait_for_gcs);
  options.head_cluster_ip = switch_at(section, kHeadClusterIp, options.head_cluster_ip);
  options.redis_cleanup = switch_at(section, kRedisCleanup, options.redis_cleanup);
  return all;
}

Options configured_options(const Json& configuration) {
  Options options;
  const Json* const section = find_set(configuration, {kConfigurationSection});
  if (section != nullptr) static_cast<void>(read_configuration(*section, options));
  return options;
}

}  // namespace tpuslice::raycluster
