#include "controllers/raycluster/raycluster_kind.h"

#include "controllers/raycluster/raycluster_configuration.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/raycluster/redis_cleanup.h"
#include "controllers/raycluster/rules/raycluster_rules.h"

namespace tpuslice::raycluster {
namespace {

std::vector<rules::FieldError> check_section(const Json& section) {
  Options options;
  return read_configuration(section, options);
}

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options = configured_options(settings.configuration);
  options.cluster_domain = settings.cluster_domain;
  options.mutation = settings.mutation;
  add_raycluster(manager, options, settings.controller, settings.watch_namespace);
}

}  // namespace

constinit const kind::Kind kKind{.type = kRayClusters,
                                 .controller = "raycluster",
                                 .upstream = kKubeRay,
                                 .admission = kAdmission,
                                 .finalizer = {.name = kRedisCleanupFinalizer, .keep_on_terminating = true},
                                 .section = kConfigurationSection,
                                 .check_section = check_section,
                                 .add = add};

}  // namespace tpuslice::raycluster
