#include "controllers/rayjob/rayjob_kind.h"

#include <array>

#include "controllers/raycluster/raycluster_configuration.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/rayjob/render.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/rayjob_rules.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::rayjob {
namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.cluster_domain = settings.cluster_domain;
  options.head_cluster_ip = raycluster::configured_options(settings.configuration).head_cluster_ip;
  add_rayjob(manager, settings.send_to_workload, options, settings.controller, settings.watch_namespace);
}

constexpr std::array kCounters{&kFinishedRayJobs};

}  // namespace

// An operator that serves RayClusters serves RayJobs, too: two operators would work on the same objects.
constinit const kind::Kind kKind{.type = kRayJobs,
                                 .controller = "rayjob",
                                 .runs_with = "raycluster",
                                 .upstream = raycluster::kKubeRay,
                                 .admission = kAdmission,
                                 .finalizer = {kStopFinalizer},
                                 .counters = kCounters,
                                 .add = add};

}  // namespace tpuslice::rayjob
