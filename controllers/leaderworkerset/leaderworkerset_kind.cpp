#include "controllers/leaderworkerset/leaderworkerset_kind.h"

#include <array>
#include <memory>
#include <utility>

#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/leaderworkerset_reconciler.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_rules.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/service.h"

namespace tpuslice::leaderworkerset {
namespace {

/// Otherwise a set would be planned again for each pod that starts or stops.
constexpr Duration kPace = std::chrono::milliseconds(25);

}  // namespace

runtime::Controller& add_leaderworkerset(runtime::Manager& manager, Options options,
                                         runtime::ControllerOptions controller_options,
                                         const runtime::Namespaces& namespaces) {
  const runtime::WatchScope children{.namespaces = namespaces, .label_selector = std::string(kChildSelector)};
  const runtime::WatchScope all{.namespaces = namespaces};
  manager.keep_annotations({"leaderworkerset.sigs.k8s.io/", tpu::kAnnotationPrefix});
  auto& sets = manager.store<ObjectView>(kLeaderWorkerSets, all);
  auto& stateful_sets = manager.store<StatefulSetView>(kStatefulSets, children);
  auto& pods = manager.store<PodView>(kPods, children);
  auto& revisions = manager.store<ObjectView>(kControllerRevisions, children);
  auto& services = manager.store<ServiceView>(kServices, all);
  auto& nodes = manager.store<NodeView>(kNodes);
  runtime::WorkloadClient& events = manager.workload_client();
  controller_options.queue.pace = kPace;
  runtime::Controller& controller =
      manager.add(std::make_unique<LeaderWorkerSetReconciler>(
                      LeaderWorkerSetReconciler::Stores{
                          sets, stateful_sets, stateful_sets.add_index(set_name<StatefulSetView>),
                          pods.add_index(set_name<PodView>), revisions.add_index(runtime::owner_uid<ObjectView>),
                          revisions.add_index(set_name<ObjectView>), services, nodes, events},
                      options),
                  std::move(controller_options));
  controller.watches(sets);
  controller.watches<StatefulSetView>(stateful_sets, set_of<StatefulSetView>);
  controller.watches<PodView>(pods, set_of<PodView>);
  controller.watches(revisions);
  controller.sends_requests(events);
  // Group services are owned by pods.
  controller.watches<ServiceView>(services, [](const ServiceView& service) {
    return plan::workloads_of(service, kLeaderWorkerSets.kind, kLwsName);
  });
  return controller;
}

namespace {

constexpr std::array<const plan::CounterDefinition*, 1> kCounters{&kGroupRestarts};

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.has_webhook = settings.has_webhook;
  add_leaderworkerset(manager, options, settings.controller, settings.watch_namespaces);
}

}  // namespace

// Source of the Lease's name: cmd/main.go of lws.
constinit const kind::Kind kKind{.type = kLeaderWorkerSets,
                                 .controller = "leaderworkerset",
                                 .upstream = {"LeaderWorkerSet's controller", "b8b2488c.x-k8s.io", kLeaderWorkerSets},
                                 .admission = kAdmission,
                                 .counters = kCounters,
                                 .add = add};

}  // namespace tpuslice::leaderworkerset
