#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/validator.h"

namespace tpuslice::rules {
namespace {

void add_features(const ClusterView& cluster, const Json& spec, std::vector<UnsupportedField>& fields) {
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
    fields.push_back({cluster.at(feature.name), std::string(feature.reason)});
  }
  if (string_at(spec, {"gcsFaultToleranceOptions", "backend"}) == raycluster::kRocksDb) {
    fields.push_back({cluster.at("gcsFaultToleranceOptions.backend"),
                      "alpha in KubeRay: no volume is created for the state of the GCS; use redis"});
  }
}

}  // namespace

std::vector<UnsupportedField> unsupported_cluster_fields(const ClusterView& cluster) {
  std::vector<UnsupportedField> fields;
  if (cluster.spec.managed_by_other()) return fields;
  if (const Json* spec = cluster.spec.source; spec != nullptr) add_features(cluster, *spec, fields);
  return fields;
}

std::vector<UnsupportedField> unsupported_fields(const Json& cluster) {
  return unsupported_cluster_fields(ClusterView(cluster));
}

}  // namespace tpuslice::rules
