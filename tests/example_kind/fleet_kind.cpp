#include "tests/example_kind/fleet_kind.h"

#include <array>
#include <memory>
#include <utility>

#include "controllers/plan/service.h"
#include "tests/example_kind/fleet_reconciler.h"
#include "tests/example_kind/render.h"
#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/example_kind/rules/fleet_rules.h"
#include "tpu/labels.h"

namespace tpuslice::example {

runtime::Controller& add_fleet(runtime::Manager& manager, Options options,
                               runtime::ControllerOptions controller_options, const runtime::Namespaces& namespaces) {
  const runtime::WatchScope children{.namespaces = namespaces, .label_selector = std::string(kChildSelector)};
  manager.keep_annotations({kLabelPrefix, tpu::kAnnotationPrefix});
  auto& fleets = manager.store<ObjectView>(kFleets, {.namespaces = namespaces});
  auto& pods = manager.store<PodView>(kPods, children);
  auto& services = manager.store<ServiceView>(kServices, {.namespaces = namespaces});
  auto& config_maps = manager.store<ConfigMapView>(kConfigMaps, children);
  runtime::Controller& controller = manager.add(
      std::make_unique<FleetReconciler>(
          FleetReconciler::Stores{fleets, pods.add_index(runtime::owner_uid<PodView>), services, config_maps},
          std::move(options)),
      std::move(controller_options));
  controller.watches(fleets);
  controller.watches(pods);
  controller.watches<ServiceView>(
      services, [](const ServiceView& service) { return plan::workloads_of(service, kFleets.kind, kFleetName); });
  controller.watches(config_maps);
  return controller;
}

namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  add_fleet(manager, {.mutation = settings.mutation}, settings.controller, settings.watch_namespaces);
}

constexpr std::array<const plan::CounterDefinition*, 1> kCounters{&kShipRestarts};

}  // namespace

constinit const kind::Kind kKind{
    .type = kFleets, .controller = "fleet", .admission = kAdmission, .counters = kCounters, .add = add};

}  // namespace tpuslice::example
