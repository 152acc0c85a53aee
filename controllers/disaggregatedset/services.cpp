#include "controllers/disaggregatedset/services.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/disaggregatedset/children.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/plan/service.h"

namespace tpuslice::disaggregatedset {
namespace {

/// Those of our services that select pods of the slice; one without a slice in its selector is that of slice 0. A
/// service whose selector was changed is restored first.
std::vector<ServicePtr> services_of(const DisaggregatedSetState& state, std::int64_t slice) {
  std::vector<ServicePtr> out;
  for (const ServicePtr& service : state.seen.services) {
    const bool ours = state.owns(service->controller) && value_of(service->selector, kSetName) == state.spec.key.name;
    if (!ours || service->deletion || value_of(service->selector, kRevision).empty()) continue;
    const std::string& label = value_of(service->selector, kSlice);
    if (label == std::to_string(slice) || (label.empty() && slice == 0)) out.push_back(service);
  }
  return out;
}

void decide_service(const DisaggregatedSetState& state, const RoleSet& set, ServiceDecisions& out) {
  RoleService service{build_service(state.spec, set), {}, {}};
  const ServiceView* live = state.find_service(service_name(set.key.name));
  if (live != nullptr) service.uid = live->uid;
  service.decision = plan::decide_headless_service(service.desired, live);
  out.services.push_back(std::move(service));
}

void decide_slice_services(const DisaggregatedSetState& state, std::int64_t slice, const SliceSets& sets,
                           ServiceDecisions& out) {
  const auto target = sets.revisions.find(state.revision);
  // Until then the services of the old revision stay.
  if (target == sets.revisions.end() || !ready_on_all_roles(target->second, state.spec.roles)) return;
  for (const RoleSpec& role : state.spec.roles) decide_service(state, *target->second.at(role.name), out);
  std::set<std::string> kept = {state.revision};
  for (const auto& [revision, roles] : sets.revisions) {
    if (ready_on_all_roles(roles, state.spec.roles)) kept.insert(revision);
  }
  for (ServicePtr& service : services_of(state, slice)) {
    if (!kept.contains(value_of(service->selector, kRevision))) out.remove.push_back(std::move(service));
  }
}

/// Those of slices that the spec does not ask for.
void remove_slices(const DisaggregatedSetState& state, ServiceDecisions& out) {
  for (const ServicePtr& service : state.seen.services) {
    if (!state.owns(service->controller) || service->deletion) continue;
    const std::optional<int> slice = parse_count(value_of(service->selector, kSlice));
    if (slice && *slice >= state.spec.slices) out.remove.push_back(service);
  }
}

}  // namespace

ServiceDecisions decide_services(const DisaggregatedSetState& state, bool migrates) {
  ServiceDecisions out;
  for (const auto& [slice, sets] : state.slices) {
    if (slice == 0 && migrates) continue;
    if (slice < state.spec.slices) decide_slice_services(state, slice, sets, out);
  }
  remove_slices(state, out);
  std::ranges::sort(out.remove, {}, [](const ServicePtr& service) { return service->key; });
  return out;
}

}  // namespace tpuslice::disaggregatedset
