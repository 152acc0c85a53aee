#include "controllers/disaggregatedset/rollout/rollout.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "controllers/disaggregatedset/rollout/drain.h"
#include "controllers/disaggregatedset/rollout/steps.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/plan/child.h"

namespace tpuslice::disaggregatedset {
namespace {

bool is_drained(const RoleSets& sets) {
  return std::ranges::all_of(sets, [](const auto& entry) { return entry.second->replicas == 0; });
}

class Slice {
 public:
  Slice(const DisaggregatedSetState& state, const ScalerDecisions& scalers, std::int64_t slice, RolloutDecisions& out)
      : state_(state), spec_(state.spec), scalers_(scalers), slice_(slice), out_(out) {
    const auto found = state.slices.find(slice);
    if (found != state.slices.end()) sets_ = &found->second;
  }

  void decide() {
    delete_drained();
    if (old_.empty()) return set_replicas();
    const bool begins = std::ranges::none_of(spec_.roles, [&](const RoleSpec& role) { return live(role) != nullptr; });
    if (begins) begin();
    // A crash may have left some of them.
    if (!create_missing(begins)) step();
  }

 private:
  /// The set of the desired revision; null if there is none.
  [[nodiscard]] const RoleSet* live(const RoleSpec& role) const {
    return sets_ == nullptr ? nullptr : sets_->find(state_.revision, role.name);
  }

  void delete_drained() {
    if (sets_ == nullptr) return;
    bool deletes = false;
    for (const auto& [revision, sets] : sets_->revisions) {
      if (revision == state_.revision) continue;
      if (!is_drained(sets)) {
        old_.push_back(sets);
        continue;
      }
      for (const auto& [role, set] : sets) {
        if (set->terminating) continue;
        out_.drained.push_back(set);
        deletes = true;
      }
    }
    const bool whole = std::ranges::all_of(spec_.roles, [&](const RoleSpec& role) { return live(role) != nullptr; });
    if (deletes && old_.empty() && whole) out_.completed.push_back(slice_);
  }

  void begin() {
    out_.started.push_back(slice_);
    for (const RoleSets& sets : old_) {
      for (const auto& [role, set] : sets) {
        if (!set->terminating && set->initial_replicas != set->replicas) out_.record.push_back(set);
      }
    }
  }

  /// Creates the set of the role, unless another object has its name.
  void create(std::size_t index, std::int64_t replicas, bool begins) {
    const std::string name = set_name(spec_.key.name, slice_, state_.revision, spec_.roles[index].name);
    const ObjectView* found = state_.find_set(name);
    if (found == nullptr) {
      out_.create.push_back({index, slice_, replicas, begins});
      return;
    }
    switch (plan::ownership(spec_.owner, found->controller)) {
      case plan::Ownership::kOwned:  // It has lost its labels.
      case plan::Ownership::kOther:
        if (!found->deletion) {
          out_.conflicts.push_back(describe(*found));
          return;
        }
        break;
      case plan::Ownership::kEarlierOwner:
        break;
    }
    out_.terminating = true;
  }

  [[nodiscard]] std::string describe(const ObjectView& found) const {
    if (state_.owns(found.controller)) {
      return fmt::format("leaderworkerset {} lacks the labels of its role", found.key.to_string());
    }
    const Json named = {{"kind", leaderworkerset::kLeaderWorkerSets.kind},
                        {"metadata", {{"name", found.key.name}, {"namespace", found.key.namespace_name}}}};
    return plan::describe_owner(named, found.controller);
  }

  /// Creates those of the desired revision, without replicas. Returns whether any was missing.
  bool create_missing(bool begins) {
    bool missing = false;
    for (std::size_t i = 0; i < spec_.roles.size(); ++i) {
      if (live(spec_.roles[i]) != nullptr) continue;
      create(i, 0, begins);
      missing = true;
    }
    return missing;
  }

  void set_replicas() {
    for (std::size_t i = 0; i < spec_.roles.size(); ++i) {
      const RoleSet* set = live(spec_.roles[i]);
      const std::optional<std::int64_t> desired = desired_replicas(spec_.roles[i], scalers_);
      if (set == nullptr) {
        create(i, desired.value_or(0), false);
      } else if (desired && *desired != set->replicas && !set->terminating) {
        (*desired > set->replicas ? out_.scale_up : out_.scale_down).push_back({set, *desired});
      }
    }
  }

  /// Why the next step is not due; empty if it is.
  [[nodiscard]] std::string unready() const {
    for (const RoleSpec& role : spec_.roles) {
      const RoleSet& set = *live(role);
      if (set.terminating) return fmt::format("LeaderWorkerSet {} is being deleted", set.key.name);
      if (set.ready == set.replicas) continue;
      return fmt::format("{} of {} replicas of LeaderWorkerSet {} are ready", set.ready, set.replicas, set.key.name);
    }
    return {};
  }

  /// Those of the spec, then those that only old revisions have.
  [[nodiscard]] std::vector<std::string> role_names() const {
    std::vector<std::string> names;
    names.reserve(spec_.roles.size());
    for (const RoleSpec& role : spec_.roles) names.push_back(role.name);
    std::set<std::string> removed;
    for (const RoleSets& sets : old_) {
      for (const auto& [role, set] : sets) {
        if (spec_.find_role(role) == nullptr) removed.insert(role);
      }
    }
    names.insert(names.end(), removed.begin(), removed.end());
    return names;
  }

  [[nodiscard]] RoleProgress progress_of(const std::string& name) const {
    RoleProgress out;
    for (const RoleSets& sets : old_) {
      const auto found = sets.find(name);
      if (found == sets.end()) continue;
      out.old += found->second->replicas;
      out.initial_old += found->second->initial_replicas.value_or(found->second->replicas);
    }
    const RoleSpec* role = spec_.find_role(name);
    if (role == nullptr) return out;
    out.now = live(*role)->replicas;
    const std::optional<std::int64_t> desired = desired_replicas(*role, scalers_);
    out.target = desired.value_or(out.now);
    // An autoscaler sees the replicas of all revisions: what it takes away is taken from the old ones.
    if (role->external) out.target = std::max(out.target, out.now);
    out.limits = role->limits(desired.value_or(0));
    return out;
  }

  /// Takes away what is beyond the replicas of the spec, which were lowered meanwhile: no step is possible with it.
  bool lower_new() {
    bool lowers = false;
    for (const RoleSpec& role : spec_.roles) {
      const RoleSet& set = *live(role);
      // Those of an External role are lowered after the rollout.
      if (role.external || set.replicas <= role.replicas || set.terminating) continue;
      out_.scale_down.push_back({&set, role.replicas});
      lowers = true;
    }
    return lowers;
  }

  void step() {
    if (lower_new()) return;
    if (std::string why = unready(); !why.empty()) {
      out_.waits.push_back(std::move(why));
      return;
    }
    const std::vector<std::string> names = role_names();
    std::vector<RoleProgress> progress;
    progress.reserve(names.size());
    for (const std::string& name : names) progress.push_back(progress_of(name));
    const auto next = next_step(progress);
    if (!next) return;
    std::map<std::string, std::int64_t> budget;
    bool raises = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const RoleStep& step = (*next)[i];
      budget[names[i]] = progress[i].old - step.old;
      const RoleSpec* role = spec_.find_role(names[i]);
      if (role == nullptr || step.now <= progress[i].now) continue;
      out_.scale_up.push_back({live(*role), step.now});
      raises = true;
    }
    std::vector<Scaling>& lowered = raises ? out_.exchange : out_.scale_down;
    for (const Scaling& scaling : drain(old_, std::move(budget))) lowered.push_back(scaling);
  }

  const DisaggregatedSetState& state_;
  const DisaggregatedSetSpec& spec_;
  const ScalerDecisions& scalers_;
  const std::int64_t slice_;
  RolloutDecisions& out_;
  const SliceSets* sets_ = nullptr;
  std::vector<RoleSets> old_;  ///< Old revisions that have replicas.
};

}  // namespace

void decide_slice(const DisaggregatedSetState& state, const ScalerDecisions& scalers, std::int64_t slice,
                  RolloutDecisions& out) {
  Slice(state, scalers, slice, out).decide();
}

}  // namespace tpuslice::disaggregatedset
