#include "controllers/disaggregatedset/disaggregatedset_kind.h"

#include <memory>
#include <utility>

#include "controllers/disaggregatedset/disaggregatedset_reconciler.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_rules.h"
#include "controllers/leaderworkerset/leaderworkerset_kind.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/service.h"

namespace tpuslice::disaggregatedset {
namespace {

/// Otherwise a set would be planned, and its status written, for each group that becomes ready.
constexpr Duration kPace = std::chrono::milliseconds(100);

}  // namespace

runtime::Controller& add_disaggregatedset(runtime::Manager& manager, runtime::ControllerOptions controller_options,
                                          const runtime::Namespaces& namespaces) {
  const runtime::WatchScope all{.namespaces = namespaces};
  auto& sets = manager.store<ObjectView>(kDisaggregatedSets, all);
  auto& leader_worker_sets = manager.store<ObjectView>(leaderworkerset::kLeaderWorkerSets, all);
  auto& scalers = manager.store<ObjectView>(kRoleScalers, all);
  auto& services = manager.store<ServiceView>(kServices, all);
  controller_options.queue.pace = kPace;
  runtime::Controller& controller =
      manager.add(std::make_unique<DisaggregatedSetReconciler>(DisaggregatedSetReconciler::Stores{
                      sets, leader_worker_sets, leader_worker_sets.add_index(runtime::owner_uid<ObjectView>), scalers,
                      scalers.add_index(runtime::owner_uid<ObjectView>), services,
                      services.add_index(runtime::owner_uid<ServiceView>)}),
                  std::move(controller_options));
  controller.watches(sets);
  controller.watches(leader_worker_sets);
  controller.watches(scalers);
  controller.watches<ServiceView>(services, [](const ServiceView& service) {
    return plan::workloads_of(service, kDisaggregatedSets.kind, kSetName);
  });
  return controller;
}

namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  add_disaggregatedset(manager, settings.controller, settings.watch_namespaces);
}

}  // namespace

// Upstream's manager runs both controllers, under one Lease. Its LeaderWorkerSets need a controller.
constinit const kind::Kind kKind{.type = kDisaggregatedSets,
                                 .controller = "disaggregatedset",
                                 .runs_with = "leaderworkerset",
                                 .upstream = {"LeaderWorkerSet's controller", "b8b2488c.x-k8s.io", kDisaggregatedSets},
                                 .admission = kAdmission,
                                 .add = add};

}  // namespace tpuslice::disaggregatedset
