#include <fmt/format.h>

#include "api/workloads/raycluster/labels.h"
#include "api/workloads/raycluster/spec.h"
#include "webhook/rules/raycluster/validator.h"

namespace tpuslice::webhook {
namespace {

void add_features(const Json& spec, std::vector<UnsupportedField>& fields) {
  struct Feature {
    std::string_view name;
    std::string_view reason;
  };
  constexpr Feature kFeatures[] = {
      {"networkPolicy", "alpha in KubeRay: no network policy is created; apply your own"},
      {"tlsOptions", "alpha in KubeRay: no certificates are created; Ray's traffic is not encrypted"},
      {"historyServerOptions", "alpha in KubeRay: no history server is started; unset it"},
  };
  for (const Feature& feature : kFeatures) {
    if (find_set(spec, {feature.name}) == nullptr) continue;
    fields.push_back({fmt::format("spec.{}", feature.name), std::string(feature.reason)});
  }
  if (string_at(spec, {"gcsFaultToleranceOptions", "backend"}) == raycluster::kRocksDb) {
    fields.push_back({"spec.gcsFaultToleranceOptions.backend",
                      "alpha in KubeRay: no volume is created for the state of the GCS; use redis"});
  }
}

}  // namespace

std::vector<UnsupportedField> unsupported_fields(const Json& cluster) {
  std::vector<UnsupportedField> fields;
  if (raycluster::RayClusterSpec::read(cluster).managed_by_other()) return fields;
  if (const Json* spec = find_set(cluster, {"spec"}); spec != nullptr) {
    add_features(*spec, fields);
  }
  return fields;
}

}  // namespace tpuslice::webhook
