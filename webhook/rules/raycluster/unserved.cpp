#include <fmt/format.h>

#include "webhook/rules/fields.h"
#include "webhook/rules/raycluster/validator.h"

namespace tpuslice::webhook {
namespace {

constexpr std::string_view kKubeRayManager = "ray.io/kuberay-operator";

void add_autoscaling(const Json& spec, std::vector<UnservedField>& fields) {
  if (!is_true(spec, {"enableInTreeAutoscaling"})) return;
  fields.push_back(
      {"spec.enableInTreeAutoscaling", "Ray's autoscaler is not started; set replicas yourself and leave this unset"});
  if (find_set(spec, {"autoscalerOptions"}) != nullptr) {
    fields.push_back({"spec.autoscalerOptions", "Ray's autoscaler is not started; remove its options"});
  }
}

void add_features(const Json& spec, std::vector<UnservedField>& fields) {
  struct Feature {
    std::string_view name;
    std::string_view reason;
  };
  constexpr Feature kFeatures[] = {
      {"gcsFaultToleranceOptions", "the head's state is not kept outside of it; a lost head restarts the cluster"},
      {"authOptions", "no token is made or injected; protect the cluster with network policies of your own"},
      {"networkPolicy", "no network policies are made; apply your own"},
      {"tlsOptions", "no certificates are made; Ray's traffic stays as it is"},
      {"historyServerOptions", "no collector is started"},
  };
  for (const Feature& feature : kFeatures) {
    if (find_set(spec, {feature.name}) == nullptr) continue;
    fields.push_back({fmt::format("spec.{}", feature.name), std::string(feature.reason)});
  }
  if (string_at(spec, {"upgradeStrategy", "type"}) == "Recreate") {
    fields.push_back(
        {"spec.upgradeStrategy.type",
         "pods are not recreated when a template changes; use None and delete the pods, or a new cluster"});
  }
}

void add_ingress(const Json& spec, std::vector<UnservedField>& fields) {
  if (!is_true(spec, {"headGroupSpec", "enableIngress"})) return;
  fields.push_back({"spec.headGroupSpec.enableIngress", "no Ingress is made; make one for the head service"});
  if (find_set(spec, {"headGroupSpec", "ingressOptions"}) != nullptr) {
    fields.push_back({"spec.headGroupSpec.ingressOptions", "no Ingress is made; remove its options"});
  }
}

void add_annotations(const Json& cluster, std::vector<UnservedField>& fields) {
  if (string_at(cluster, {"metadata", "annotations", "ray.io/ft-enabled"}) == "true") {
    fields.push_back({"metadata.annotations[ray.io/ft-enabled]",
                      "the head's state is not kept outside of it; a lost head restarts the cluster"});
  }
  if (string_at(cluster, {"metadata", "annotations", "ray.io/enable-serve-service"}) == "true") {
    fields.push_back({"metadata.annotations[ray.io/enable-serve-service]",
                      "no serve service is made; make one that selects the ray.io/serve pods"});
  }
}

}  // namespace

bool managed_by_other(const Json& cluster) {
  const std::string manager = string_at(cluster, {"spec", "managedBy"});
  return !manager.empty() && manager != kKubeRayManager;
}

std::vector<UnservedField> unserved_fields(const Json& cluster) {
  std::vector<UnservedField> fields;
  if (managed_by_other(cluster)) return fields;
  if (const Json* spec = find_set(cluster, {"spec"}); spec != nullptr) {
    add_autoscaling(*spec, fields);
    add_features(*spec, fields);
    add_ingress(*spec, fields);
  }
  add_annotations(cluster, fields);
  return fields;
}

}  // namespace tpuslice::webhook
