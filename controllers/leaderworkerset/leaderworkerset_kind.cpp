#include "controllers/leaderworkerset/leaderworkerset_kind.h"

#include <array>

#include "controllers/leaderworkerset/events.h"
#include "controllers/leaderworkerset/leaderworkerset_controller.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_rules.h"
#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::array<const plan::CounterDefinition*, 1> kCounters{&kGroupRestarts};

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.has_webhook = settings.has_webhook;
  add_leaderworkerset(manager, options, settings.controller, settings.watch_namespace);
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
