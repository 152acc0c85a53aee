#include <array>

#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/validator.h"

namespace tpuslice::rules {
namespace {

void add_features(const Json& spec, std::string_view path, std::vector<UnsupportedField>& fields) {
  struct Feature {
    std::string_view name;
    std::string_view reason;
  };
  constexpr std::array kFeatures = {
      Feature{"networkPolicy", "alpha in KubeRay: no network policy is created; apply your own"},
      Feature{"tlsOptions", "alpha in KubeRay: no certificates are created; Ray's traffic is not encrypted"},
      Feature{"historyServerOptions", "alpha in KubeRay: no history server is started; unset it"},
  };
  for (const Feature& feature : kFeatures) {
    if (find_set(spec, {feature.name}) == nullptr) continue;
    fields.push_back({fmt::format("{}.{}", path, feature.name), std::string(feature.reason)});
  }
  if (string_at(spec, {"gcsFaultToleranceOptions", "backend"}) == raycluster::kRocksDb) {
    fields.push_back({fmt::format("{}.gcsFaultToleranceOptions.backend", path),
                      "alpha in KubeRay: no volume is created for the state of the GCS; use redis"});
  }
}

}  // namespace

std::vector<UnsupportedField> unsupported_cluster_fields(const Json& spec, std::string_view path) {
  std::vector<UnsupportedField> fields;
  const std::string manager = string_at(spec, {"managedBy"});
  if (manager.empty() || manager == raycluster::kKubeRayManager) add_features(spec, path, fields);
  return fields;
}

std::vector<UnsupportedField> unsupported_fields(const Json& cluster) {
  return unsupported_fields(raycluster::RayClusterSpec::read(cluster));
}

std::vector<UnsupportedField> unsupported_fields(const raycluster::RayClusterSpec& spec) {
  return spec.source == nullptr ? std::vector<UnsupportedField>() : unsupported_cluster_fields(*spec.source, "spec");
}

}  // namespace tpuslice::rules
