#include "controllers/raycronjob/raycronjob_kind.h"

#include <array>
#include <memory>
#include <utility>

#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/raycronjob/raycronjob_reconciler.h"
#include "controllers/raycronjob/render.h"
#include "controllers/raycronjob/rules/raycronjob_labels.h"
#include "controllers/raycronjob/rules/raycronjob_rules.h"
#include "controllers/rayjob/rules/spec.h"

namespace tpuslice::raycronjob {

runtime::Controller& add_raycronjob(runtime::Manager& manager, Options options,
                                    runtime::ControllerOptions controller_options,
                                    const runtime::Namespaces& namespaces) {
  const runtime::WatchScope scope{.namespaces = namespaces};
  auto& cron_jobs = manager.store<ObjectView>(kRayCronJobs, scope);
  auto& jobs = manager.store<ObjectView>(rayjob::kRayJobs, scope);
  runtime::Controller& controller =
      manager.add(std::make_unique<RayCronJobReconciler>(RayCronJobReconciler::Stores{cron_jobs, jobs}, options),
                  std::move(controller_options));
  controller.watches(cron_jobs);
  // The RayJob of a run that was created is looked for; what becomes of it afterwards concerns no plan.
  controller.watches<ObjectView>(jobs, [](const ObjectView&) { return std::vector<ObjectKey>(); });
  return controller;
}

namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  add_raycronjob(manager, {.local_zone = cctz::local_time_zone()}, settings.controller, settings.watch_namespaces);
}

constexpr std::array<const plan::CounterDefinition*, 1> kCounters{&kScheduledRayJobs};

}  // namespace

// Like upstream's feature gate, but on by default: without RayCronJobs it costs a watch, and none without their CRD.
constinit const kind::Kind kKind{.type = kRayCronJobs,
                                 .controller = "raycronjob",
                                 .runs_with = "raycluster",
                                 .upstream = raycluster::kKubeRay,
                                 .admission = kAdmission,
                                 .counters = kCounters,
                                 .add = add};

}  // namespace tpuslice::raycronjob
