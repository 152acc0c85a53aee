#include "tests/example_kind/fleet_kind.h"

#include <array>

#include "tests/example_kind/fleet_controller.h"
#include "tests/example_kind/render.h"
#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/example_kind/rules/fleet_rules.h"

namespace tpuslice::example {
namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  add_fleet(manager, {.mutation = settings.mutation}, settings.controller, settings.watch_namespace);
}

constexpr std::array<const plan::CounterDefinition*, 1> kCounters{&kShipRestarts};

}  // namespace

constinit const kind::Kind kKind{
    .type = kFleets, .controller = "fleet", .admission = kAdmission, .counters = kCounters, .add = add};

}  // namespace tpuslice::example
