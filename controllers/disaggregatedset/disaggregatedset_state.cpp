#include "controllers/disaggregatedset/disaggregatedset_state.h"

#include <algorithm>

#include "controllers/disaggregatedset/rules/disaggregatedset_labels.h"
#include "controllers/disaggregatedset/rules/revision.h"

namespace tpuslice::disaggregatedset {
namespace {

template <typename View>
const View* find_named(const std::vector<std::shared_ptr<const View>>& views, std::string_view name) {
  const auto found = std::ranges::find_if(views, [&](const auto& view) { return view->key.name == name; });
  return found == views.end() ? nullptr : found->get();
}

}  // namespace

DisaggregatedSetState::DisaggregatedSetState(const DisaggregatedSetObserved& observed)
    : seen(observed), spec(observed.set.spec()), revision(compute_revision(spec)) {
  for (const ObjectPtr& set : seen.leader_worker_sets) {
    if (!owns(set->controller) || value_of(set->labels, kSetName) != spec.key.name) continue;
    if (auto read = RoleSet::read(*set)) sets.push_back(*std::move(read));
  }
  std::ranges::sort(sets, {}, &RoleSet::key);
  for (const RoleSet& set : sets) slices[set.slice].add(set);
  for (const ObjectPtr& scaler : seen.scalers) {
    if (!owns(scaler->controller) || value_of(scaler->labels, kSetName) != spec.key.name) continue;
    const Object object = scaler->object();
    scalers.push_back(
        {scaler, object.label(kRole), std::max<std::int64_t>(0, int_at(object.json(), {"spec", "replicas"}))});
  }
  std::ranges::sort(scalers, {}, [](const RoleScaler& scaler) { return scaler.view->key; });
}

bool DisaggregatedSetState::owns(const std::optional<ControllerRef>& controller) const {
  return controller && controller->uid == spec.owner.uid;
}

const ObjectView* DisaggregatedSetState::find_set(std::string_view name) const {
  return find_named(seen.leader_worker_sets, name);
}

const ObjectView* DisaggregatedSetState::find_scaler(std::string_view name) const {
  return find_named(seen.scalers, name);
}

const ServiceView* DisaggregatedSetState::find_service(std::string_view name) const {
  return find_named(seen.services, name);
}

ChildNames child_names(const DisaggregatedSetSpec& spec) {
  ChildNames names;
  const std::string revision = compute_revision(spec);
  const std::string& space = spec.key.namespace_name;
  for (const RoleSpec& role : spec.roles) {
    for (std::int64_t slice = 0; slice < spec.slices; ++slice) {
      const std::string set = set_name(spec.key.name, slice, revision, role.name);
      names.leader_worker_sets.push_back({space, set});
      names.services.push_back({space, service_name(set)});
    }
    if (role.external) names.scalers.push_back({space, scaler_name(spec.key.name, role.name)});
  }
  return names;
}

}  // namespace tpuslice::disaggregatedset
