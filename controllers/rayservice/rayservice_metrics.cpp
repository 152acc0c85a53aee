#include "controllers/rayservice/rayservice_metrics.h"

#include "api/types/conditions.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

/// What the metrics say of one RayService that was read whole.
struct Facts {
  const ObjectView* service;
  bool ready = false;
  bool upgrading = false;
};

Facts facts_of(const ObjectView& service) {
  const Object object = service.object_without_spec();
  const Json& conditions = array_at(object.json(), {"status", "conditions"});
  return {&service, is_condition_true(conditions, kReady), is_condition_true(conditions, kUpgradeInProgress)};
}

void write_condition(const std::vector<Facts>& all, bool Facts::*value, SeriesWriter& out) {
  for (const Facts& each : all) {
    out.sample({{"condition", each.*value ? "true" : "false"},
                {"name", each.service->key.name},
                {"namespace", each.service->key.namespace_name},
                {"uid", each.service->uid}},
               1);
  }
}

}  // namespace

// Source of names, labels and values: ray_service_metrics.go of KubeRay v1.7.0.
void write_metrics(const std::vector<std::shared_ptr<const ObjectView>>& services, SeriesWriter& out) {
  std::vector<Facts> all;
  all.reserve(services.size());
  for (const auto& service : services) {
    if (!service->minimal) all.push_back(facts_of(*service));
  }
  out.family("kuberay_service_condition_ready",
             "1, with the label condition: whether the RayService has endpoints that serve.");
  write_condition(all, &Facts::ready, out);
  out.family(
      "kuberay_service_condition_upgrade_in_progress",
      "1, with the label condition: whether a pending RayCluster exists beside the active one of the RayService.");
  write_condition(all, &Facts::upgrading, out);
  out.family("kuberay_service_info", "1 for each RayService.");
  for (const auto& service : services) {
    out.sample({{"name", service->key.name}, {"namespace", service->key.namespace_name}, {"uid", service->uid}}, 1);
  }
}

}  // namespace tpuslice::rayservice
