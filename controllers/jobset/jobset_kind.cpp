#include "controllers/jobset/jobset_kind.h"

#include "controllers/jobset/jobset_controller.h"
#include "controllers/jobset/render.h"
#include "controllers/jobset/rules/jobset_rules.h"
#include "controllers/jobset/rules/spec.h"

namespace tpuslice::jobset {
namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.mutation = settings.mutation;
  add_jobset(manager, options, settings.controller, settings.watch_namespace);
}

}  // namespace

// Source of the Lease's name: pkg/config of jobset.
constinit const kind::Kind kKind{.type = kJobSets,
                                 .controller = "jobset",
                                 .upstream = {"JobSet's controller", "6d4f6a47.jobset.x-k8s.io", kJobSets},
                                 .admission = kAdmission,
                                 .counters = kCounters,
                                 .add = add};

}  // namespace tpuslice::jobset
