#include "controllers/raycluster/rules/ray_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/validation_names.h"
#include "api/types/yaml.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/rules/limits.h"

namespace tpuslice::rules {

void check_ray_name(const Json& object, std::size_t max, std::string_view children, FieldErrors& errors) {
  const std::string name = string_at(object, {"metadata", "name"});
  if (name.empty()) return;  // metadata.generateName: the API server sets the name after admission.
  if (name.size() > max) {
    errors.push_back(invalid_value(
        "metadata.name", name,
        fmt::format("must be no more than {} characters, because names of {} are derived from it", max, children),
        kKubeRayRule));
    return;
  }
  for (const std::string& error : check_dns1035_label(name)) {
    errors.push_back(invalid_value("metadata.name", name, error, kKubeRayRule));
  }
}

void check_ray_manager(const Json& spec, const Json* old_spec, const std::string& path, FieldErrors& errors) {
  const Json* manager = find_set(spec, {"managedBy"});
  if (manager == nullptr) return;
  if (*manager != raycluster::kKubeRayManager && *manager != raycluster::kMultiKueueManager) {
    errors.push_back(not_supported(
        path, *manager, {std::string(raycluster::kKubeRayManager), std::string(raycluster::kMultiKueueManager)},
        kKubeRayRule));
  }
  const Json* before = old_spec == nullptr ? nullptr : find_set(*old_spec, {"managedBy"});
  if (before != nullptr && *before != *manager) {
    errors.push_back(immutable(path, *manager, *before, kKubeRayRule));
  }
}

void check_ports_limit(const Json& object, std::initializer_list<std::string_view> ports, const std::string& path,
                       FieldErrors& errors) {
  const std::size_t count = array_at(object, ports).size();
  if (count <= rules::kMaxPorts) return;
  errors.push_back(too_many(fmt::format("{}.{}", path, fmt::join(ports, ".")), count, rules::kMaxPorts, kOurRule));
}

void check_yaml_text(const Json& object, std::string_view field, FieldErrors& errors) {
  const std::string text = string_at(object, {"spec", field});
  if (text.empty()) return;
  const Result<Json> value = parse_yaml(text, rules::kUserYaml);
  const std::string path = fmt::format("spec.{}", field);
  if (!value) {
    errors.push_back(invalid_value(path, text, fmt::format("must be YAML: {}", value.error().message()), kKubeRayRule));
  } else if (!value->is_object() && !value->is_null()) {
    errors.push_back(invalid_value(path, text, "must be a mapping", kKubeRayRule));
  }
}

void forbid_service_accounts(const Json& object, std::string_view field, FieldErrors& errors) {
  if (!bool_at(object, {"spec", field, "authOptions", "enableK8sTokenAuth"})) return;
  errors.push_back(forbidden(
      fmt::format("spec.{}.authOptions.enableK8sTokenAuth", field),
      fmt::format("a {} authenticates with the token of a Secret only: unset it", string_at(object, {"kind"})),
      kKubeRayRule));
}

}  // namespace tpuslice::rules
