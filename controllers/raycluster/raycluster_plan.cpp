#include "controllers/raycluster/raycluster_plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "controllers/raycluster/head_plan.h"
#include "controllers/raycluster/services.h"
#include "controllers/raycluster/status.h"
#include "controllers/raycluster/suspend.h"
#include "controllers/raycluster/worker_groups.h"
#include "webhook/rules/raycluster/validator.h"

namespace tpuslice::raycluster {
namespace {

using runtime::EventType;
using runtime::Plan;

Refusal check(const Object& cluster) {
  if (const auto errors = webhook::validate_raycluster(cluster.json(), nullptr); !errors.empty()) {
    return {"InvalidSpec", webhook::to_message(errors)};
  }
  std::string message;
  for (const webhook::UnservedField& field : webhook::unserved_fields(cluster.json())) {
    if (!message.empty()) message += "; ";
    message += field.path + ": " + field.reason;
  }
  return message.empty() ? Refusal{} : Refusal{"UnsupportedField", message};
}

Json status_before(const RayClusterObserved& seen) {
  const Json* status = find_path(seen.cluster.json(), {"status"});
  return status == nullptr ? Json() : *status;
}

// Announced once: when the condition that shows it appears or changes.
void warn_on_change(const Json& before, const Json& after, std::string_view type, runtime::EventIntent event,
                    Plan& plan) {
  if (!event.message.empty() && condition_changed(before, after, type)) plan.events.push_back(std::move(event));
}

Plan refused_plan(const RayClusterObserved& seen, const Refusal& refusal) {
  Plan plan;
  plan.reason = "the spec is refused: " + refusal.message;
  const Json before = status_before(seen);
  Json status = refused_status(seen, refusal);
  warn_on_change(before, status, kAccepted,
                 {EventType::kWarning, "InvalidRayClusterSpec", "Validate", refusal.message, std::nullopt}, plan);
  if (status != before) plan.status = runtime::StatusPatch{std::move(status)};
  return plan;
}

std::string describe(const Json& status) {
  return fmt::format("status: {} of {} workers available", status.value("availableWorkerReplicas", 0),
                     status.value("desiredWorkerReplicas", 0));
}

void add_stage(std::vector<runtime::Action> actions, Plan& plan) {
  if (!actions.empty()) plan.stages.push_back({std::move(actions)});
}

// Which children to create, change and delete.
Changes plan_children(const RayClusterSpec& spec, const PodsByType& pods, const RayClusterObserved& seen,
                      SuspendPhase phase, ServiceChanges services, const Options& options) {
  Changes out;
  switch (phase) {
    case SuspendPhase::kRunning:
      out.append(plan_head(spec, pods.heads, options));
      out.append(plan_worker_groups(spec, pods.workers, options));
      break;
    case SuspendPhase::kBeginning:
      out.reasons.emplace_back("spec.suspend is set: suspension begins");
      break;
    case SuspendPhase::kDeleting:
      out.append(plan_suspension(spec, seen.pods));
      break;
    case SuspendPhase::kEnding:
      out.reasons.emplace_back("all pods are gone: the cluster is suspended");
      break;
    case SuspendPhase::kSuspended:
      break;
  }
  if (!services.conflict.empty()) {
    // Pods would talk to a service that is not theirs.
    std::erase_if(out.events, [&](const runtime::EventIntent& event) {
      return event.after && std::ranges::any_of(
                                out.creates, [&](const runtime::Action& create) { return create.key == *event.after; });
    });
    out.creates.clear();
    out.reasons.assign({services.conflict});
  }
  out.append(std::move(services.changes));
  return out;
}

}  // namespace

Result<Plan> plan_raycluster(const RayClusterObserved& seen, const Options& options) {
  const RayClusterSpec spec = RayClusterSpec::read(seen.cluster);
  if (seen.cluster.deletion_timestamp() || spec.managed_elsewhere()) return Plan{};
  if (const Refusal refusal = check(seen.cluster)) return refused_plan(seen, refusal);

  const Json before = status_before(seen);
  const PodsByType pods = by_type(seen.pods);
  const Json* conditions = find_path(before, {"conditions"});
  const SuspendPhase phase =
      suspend_phase(spec, conditions == nullptr ? Json::array() : *conditions, !seen.pods.empty());
  ServiceChanges services = plan_services(spec, seen, options);
  const std::string conflict = services.conflict;
  Changes changes = plan_children(spec, pods, seen, phase, std::move(services), options);

  Refusal refusal;
  if (!changes.refused.empty()) refusal = {"InvalidSpec", runtime::summary(changes.refused)};
  Plan plan;
  Json status = build_status({spec, seen, pods, phase, refusal, conflict});
  if (!changes.reasons.empty()) {
    plan.reason = runtime::summary(changes.reasons);
  } else if (refusal) {
    plan.reason = refusal.message;
  } else if (status != before) {
    plan.reason = describe(status);
  }
  plan.events = std::move(changes.events);
  warn_on_change(before, status, kAccepted,
                 {EventType::kWarning, "InvalidRayClusterSpec", "Validate", refusal.message, std::nullopt}, plan);
  warn_on_change(before, status, kServicesReady,
                 {EventType::kWarning, "FailedToCreateService", "CreateService", conflict, std::nullopt}, plan);
  add_stage(std::move(changes.deletes), plan);
  add_stage(std::move(changes.services), plan);
  add_stage(std::move(changes.creates), plan);
  if (status != before) plan.status = runtime::StatusPatch{std::move(status)};
  if (!conflict.empty()) plan.requeue_after = runtime::kConflictRetry;
  return plan;
}

}  // namespace tpuslice::raycluster
