#include "controllers/jobset/headless_service.h"

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/jobset/labels.h"
#include "controllers/runtime/headless_service.h"

namespace tpuslice::jobset {
namespace {

using runtime::Action;
using runtime::EventType;

StringMap selector_of(const JobSetSpec& spec) { return {{std::string(tpu::kJobSetName), spec.key.name}}; }

/// Why somebody else's service does not give our pods their names; empty if it does.
std::string shortcoming(const JobSetSpec& spec, const ServiceView& service) {
  if (!service.headless) return "it is not headless (spec.clusterIP: None)";
  if (service.selector == selector_of(spec)) return {};
  return fmt::format("its selector is not {}: {}", tpu::kJobSetName, spec.key.name);
}

void judge_foreign(const ServiceView& service, Changes& changes) {
  const JobSetSpec& spec = changes.spec;
  const std::string flaw = shortcoming(spec, service);
  if (flaw.empty()) {
    remove_condition(changes.status.conditions, kServiceReady);
    return;
  }
  changes.look_again_in(runtime::kConflictRetry);
  const std::string message = fmt::format(
      "service {} {} and does not serve the pods of this JobSet: {}; set spec.network.subdomain to another "
      "name, or delete the service",
      service.key.to_string(), runtime::describe_owner(service), flaw);
  const Json* before = find_condition(changes.status.conditions, kServiceReady);
  if (before == nullptr || string_at(*before, {"message"}) != message) {
    changes.event(EventType::kWarning, "ServiceConflict", message);
  }
  set_condition(changes.status.conditions,
                {std::string(kServiceReady), "False", "ServiceConflict", message, spec.generation}, changes.now);
}

}  // namespace

Json build_service(const JobSetSpec& spec) {
  return {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata",
       {{"name", spec.subdomain},
        {"namespace", spec.key.namespace_name},
        {"ownerReferences", Json::array({spec.owner.to_json()})}}},
      {"spec",
       {{"clusterIP", "None"}, {"selector", selector_of(spec)}, {"publishNotReadyAddresses", spec.publish_not_ready}}}};
}

void plan_service(const JobSetObserved& seen, Changes& changes) {
  const JobSetSpec& spec = changes.spec;
  if (!spec.dns) {
    remove_condition(changes.status.conditions, kServiceReady);
    return;
  }
  if (seen.service == nullptr) {
    Action action = Action::create(kServices, Object(build_service(spec)));
    action.failure_reason = kServiceCreationFailed;
    changes.event(EventType::kWarning, kServiceCreationFailed,
                  fmt::format("Failed to create headless service {}", action.key.to_string()), action.key);
    changes.reasons.push_back(fmt::format("headless service {} is missing: creating it", action.key.name));
    changes.resources.push_back(std::move(action));
    return;
  }
  const ServiceView& service = *seen.service;
  if (!service.controller || service.controller->uid != spec.uid) return judge_foreign(service, changes);
  remove_condition(changes.status.conditions, kServiceReady);
  if (service.deletion) return;  // Recreated once it is gone.
  Json patch = runtime::restore_service({selector_of(spec), spec.publish_not_ready}, service);
  if (patch.is_null()) return;
  Action action = Action::patch(kServices, service.key, std::move(patch), {.uid = service.uid});
  action.failure_reason = kServiceCreationFailed;
  changes.resources.push_back(std::move(action));
  changes.reasons.push_back(fmt::format("headless service {} drifted: restoring it", service.key.name));
}

}  // namespace tpuslice::jobset
