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
      {"gcsFaultToleranceOptions",
       "the state of the GCS is not stored outside the head; a lost head restarts the cluster"},
      {"authOptions", "no token is created or injected; protect the cluster with network policies"},
      {"networkPolicy", "alpha in KubeRay: no network policy is created; apply your own"},
      {"tlsOptions", "alpha in KubeRay: no certificates are created; Ray's traffic is not encrypted"},
      {"historyServerOptions", "alpha in KubeRay: no history server is started; unset it"},
  };
  for (const Feature& feature : kFeatures) {
    if (find_set(spec, {feature.name}) == nullptr) continue;
    fields.push_back({fmt::format("spec.{}", feature.name), std::string(feature.reason)});
  }
  if (string_at(spec, {"gcsFaultToleranceOptions", "backend"}) == "rocksdb") {
    fields.push_back({"spec.gcsFaultToleranceOptions.backend",
                      "alpha in KubeRay: no volume is created for the state of the GCS; use redis"});
  }
}

void add_annotations(const Json& cluster, std::vector<UnsupportedField>& fields) {
  if (string_at(cluster, {"metadata", "annotations", raycluster::kFaultTolerance}) == "true") {
    fields.push_back({fmt::format("metadata.annotations[{}]", raycluster::kFaultTolerance),
                      "the state of the GCS is not stored outside the head; a lost head restarts the cluster"});
  }
}

}  // namespace

std::vector<UnsupportedField> unsupported_fields(const Json& cluster) {
  std::vector<UnsupportedField> fields;
  if (raycluster::RayClusterSpec::read(cluster).managed_by_other()) return fields;
  if (const Json* spec = find_set(cluster, {"spec"}); spec != nullptr) {
    add_features(*spec, fields);
  }
  add_annotations(cluster, fields);
  return fields;
}

}  // namespace tpuslice::webhook
