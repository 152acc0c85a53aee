#include "controllers/disaggregatedset/rollout/steps.h"

#include <algorithm>

namespace tpuslice::disaggregatedset {
namespace {

using Roles = std::vector<RoleProgress>;
using Steps = std::vector<RoleStep>;

std::int64_t divide_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

/// Batches that the largest role needs.
std::int64_t count_steps(const Roles& roles) {
  std::int64_t steps = 0;
  for (const RoleProgress& role : roles) {
    const std::int64_t batch =
        role.limits.surge > 0 ? role.limits.surge : std::max<std::int64_t>(1, role.limits.unavailable);
    steps = std::max(steps, divide_up(std::max({role.initial_old, role.target, std::int64_t{0}}), batch));
  }
  return steps;
}

Steps current(const Roles& roles) {
  Steps out;
  for (const RoleProgress& role : roles) out.push_back({role.old, role.now});
  return out;
}

/// The numbers of the new revision in the step after that of the slowest role.
std::vector<std::int64_t> next_new(const Roles& roles, std::int64_t steps) {
  std::int64_t slowest = steps;
  for (const RoleProgress& role : roles) {
    if (role.target > 0) slowest = std::min(slowest, role.now * steps / role.target);
  }
  std::vector<std::int64_t> out;
  for (const RoleProgress& role : roles) {
    const std::int64_t due = std::min(divide_up((slowest + 1) * role.target, steps), role.target);
    out.push_back(std::max(due, role.now));
  }
  return out;
}

/// The numbers of the old revisions in the step after that of the fastest role.
std::vector<std::int64_t> next_old(const Roles& roles, std::int64_t steps) {
  std::int64_t fastest = 0;
  for (const RoleProgress& role : roles) {
    if (role.initial_old > 0) fastest = std::max(fastest, (role.initial_old - role.old) * steps / role.initial_old);
  }
  std::vector<std::int64_t> out;
  for (const RoleProgress& role : roles) {
    const std::int64_t left = role.initial_old - (fastest + 1) * role.initial_old / steps;
    out.push_back(std::min(std::max<std::int64_t>(0, left), role.old));
  }
  return out;
}

/// What the old revisions keep, so that no more than maxUnavailable are missing. `now`: of the new revision. A role
/// that grows is limited by its surge alone.
std::int64_t least_old(const RoleProgress& role, std::int64_t now) {
  if (role.initial_old < role.target) return 0;
  return std::max<std::int64_t>(0, role.target - role.limits.unavailable - now);
}

/// An old revision does not keep some of its roles: either all reach 0, or each keeps one.
void keep_roles_together(const Roles& roles, const std::vector<std::int64_t>& now, std::vector<std::int64_t>& old) {
  bool any_gone = false;
  bool all_gone = true;
  bool may_end = true;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const RoleProgress& role = roles[i];
    if (role.initial_old >= role.target && now[i] < role.target - role.limits.unavailable) may_end = false;
    if (role.initial_old == 0) continue;
    (old[i] == 0 ? any_gone : all_gone) = old[i] == 0;
  }
  if (!any_gone || all_gone) return;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (may_end) {
      old[i] = 0;
    } else if (old[i] == 0 && roles[i].initial_old > 0) {
      old[i] = 1;
    }
  }
}

bool fits_surge(const Roles& roles, const std::vector<std::int64_t>& now) {
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const RoleProgress& role = roles[i];
    if (role.target > 0 && role.old + now[i] > role.target + role.limits.surge) return false;
  }
  return true;
}

/// Whether the old revisions have fewer; sets them in `steps` then.
bool lower_old(const Roles& roles, const std::vector<std::int64_t>& old, Steps& steps) {
  bool lower = false;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    lower = lower || old[i] < roles[i].old;
    steps[i].old = old[i];
  }
  return lower;
}

std::optional<Steps> raise_new(const Roles& roles, const std::vector<std::int64_t>& now) {
  Steps steps = current(roles);
  bool raises = false;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    raises = raises || now[i] > roles[i].now;
    steps[i].now = now[i];
  }
  if (!raises || !fits_surge(roles, now)) return std::nullopt;
  return steps;
}

std::optional<Steps> drain_old(const Roles& roles, std::int64_t steps_in_all) {
  std::vector<std::int64_t> old = next_old(roles, steps_in_all);
  std::vector<std::int64_t> now;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    old[i] = std::max(old[i], least_old(roles[i], roles[i].now));
    now.push_back(roles[i].now);
  }
  keep_roles_together(roles, now, old);
  Steps steps = current(roles);
  if (!lower_old(roles, old, steps)) return std::nullopt;
  return steps;
}

/// Makes room for the new replicas, and adds them.
std::optional<Steps> exchange(const Roles& roles, const std::vector<std::int64_t>& now) {
  std::vector<std::int64_t> old;
  bool lower = false;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const RoleProgress& role = roles[i];
    const std::int64_t room = role.target + role.limits.surge - now[i];
    const std::int64_t left = std::max<std::int64_t>(0, std::min(role.old, room));
    old.push_back(std::max(left, least_old(role, now[i])));
    lower = lower || old.back() < role.old;
  }
  if (!lower) return std::nullopt;
  keep_roles_together(roles, now, old);
  Steps steps;
  for (std::size_t i = 0; i < roles.size(); ++i) steps.push_back({old[i], now[i]});
  return steps;
}

}  // namespace

std::optional<std::vector<RoleStep>> next_step(const std::vector<RoleProgress>& roles) {
  const bool drained = std::ranges::all_of(roles, [](const RoleProgress& role) { return role.old == 0; });
  const bool grown = std::ranges::all_of(roles, [](const RoleProgress& role) { return role.now >= role.target; });
  if (drained && grown) return std::nullopt;
  const std::int64_t steps = count_steps(roles);
  if (steps == 0) return std::nullopt;
  Steps corrected = current(roles);
  std::vector<std::int64_t> at_most;
  at_most.reserve(roles.size());
  for (const RoleProgress& role : roles) at_most.push_back(std::min(role.initial_old, role.old));
  // The old ones were scaled up meanwhile.
  if (lower_old(roles, at_most, corrected)) return corrected;
  if (grown) {
    for (RoleStep& role : corrected) role.old = 0;
    return corrected;
  }
  const std::vector<std::int64_t> now = next_new(roles, steps);
  if (auto raised = raise_new(roles, now)) return raised;
  if (auto drained_step = drain_old(roles, steps)) return drained_step;
  return exchange(roles, now);
}

}  // namespace tpuslice::disaggregatedset
