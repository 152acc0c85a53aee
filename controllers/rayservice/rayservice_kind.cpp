#include "controllers/rayservice/rayservice_kind.h"

#include "controllers/raycluster/raycluster_configuration.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/rayservice/rayservice_controller.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/rules/rayservice_rules.h"
#include "controllers/rayservice/rules/spec.h"

namespace tpuslice::rayservice {
namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.cluster_domain = settings.cluster_domain;
  options.head_cluster_ip = raycluster::configured_options(settings.configuration).head_cluster_ip;
  add_rayservice(manager, settings.send_to_workload, options, settings.controller, settings.watch_namespace);
}

}  // namespace

// An operator that serves RayClusters serves RayServices, too: two operators would work on the same objects.
constinit const kind::Kind kKind{.type = kRayServices,
                                 .controller = "rayservice",
                                 .runs_with = "raycluster",
                                 .upstream = raycluster::kKubeRay,
                                 .admission = kAdmission,
                                 .finalizer = {kFinalizer},
                                 .add = add};

}  // namespace tpuslice::rayservice
