#include "controllers/disaggregatedset/services.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/disaggregatedset/children.h"
#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/plan/service.h"

namespace tpuslice::disaggregatedset {
namespace {

/// The slice and revision whose pods a service is for.
struct Place {
  std::int64_t slice = 0;
  std::string revision;
};

/// The place in the selector; one without a slice is slice 0. If the selector was changed, that of the set whose name
/// the service has. Nothing if there is no such set.
std::optional<Place> place_of(const DisaggregatedSetState& state, const ServiceView& service) {
  const std::string& slice = value_of(service.selector, kSlice);
  const std::optional<int> number = slice.empty() ? 0 : parse_count(slice);
  const std::string& revision = value_of(service.selector, kRevision);
  if (value_of(service.selector, kSetName) == state.spec.key.name && !revision.empty() && number) {
    return Place{*number, revision};
  }
  const auto set = std::ranges::find_if(
      state.sets, [&](const RoleSet& each) { return service_name(each.key.name) == service.key.name; });
  return set == state.sets.end() ? std::nullopt : std::optional<Place>({set->slice, set->revision});
}

void decide_service(const DisaggregatedSetState& state, const RoleSet& set, ServiceDecisions& out) {
  RoleService service{build_service(state.spec, set), {}, {}};
  const ServiceView* live = state.find_service(service_name(set.key.name));
  if (live != nullptr) service.uid = live->uid;
  service.decision = plan::decide_headless_service(service.desired, live);
  out.services.push_back(std::move(service));
}

/// The revisions of a slice whose services stay; nothing while all of them do: those of the old revision are used until
/// the new one is ready.
std::optional<std::set<std::string>> kept_revisions(const DisaggregatedSetState& state, std::int64_t slice) {
  const auto sets = state.slices.find(slice);
  if (sets == state.slices.end()) return std::nullopt;
  const auto target = sets->second.revisions.find(state.revision);
  if (target == sets->second.revisions.end() || !ready_on_all_roles(target->second, state.spec.roles)) {
    return std::nullopt;
  }
  std::set<std::string> kept;
  for (const auto& [revision, roles] : sets->second.revisions) {
    if (ready_on_all_roles(roles, state.spec.roles)) kept.insert(revision);
  }
  return kept;
}

/// Creates or restores those of the desired revision.
void decide_slice_services(const DisaggregatedSetState& state, std::int64_t slice, ServiceDecisions& out) {
  const RoleSets& target = state.slices.at(slice).revisions.at(state.revision);
  for (const RoleSpec& role : state.spec.roles) decide_service(state, *target.at(role.name), out);
}

}  // namespace

ServiceDecisions decide_services(const DisaggregatedSetState& state, bool migrates) {
  ServiceDecisions out;
  std::map<std::int64_t, std::set<std::string>> kept;  // By slice; those of other slices all stay.
  for (std::int64_t slice = migrates ? 1 : 0; slice < state.spec.slices; ++slice) {
    auto revisions = kept_revisions(state, slice);
    if (!revisions) continue;
    decide_slice_services(state, slice, out);
    kept.emplace(slice, *std::move(revisions));
  }
  for (const ServicePtr& service : state.seen.services) {
    if (!state.owns(service->controller) || service->deletion) continue;
    const std::optional<Place> place = place_of(state, *service);
    const bool wanted = place && place->slice < state.spec.slices;
    if (wanted) {
      const auto revisions = kept.find(place->slice);
      if (revisions == kept.end() || revisions->second.contains(place->revision)) continue;
    }
    out.remove.push_back(service);
  }
  std::ranges::sort(out.remove, {}, [](const ServicePtr& service) { return service->key; });
  return out;
}

}  // namespace tpuslice::disaggregatedset
