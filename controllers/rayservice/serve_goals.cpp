#include "controllers/rayservice/serve_goals.h"

#include <utility>

#include "controllers/rayservice/idle_slices.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

std::optional<ServeConfig> recorded(const Cluster& cluster) {
  return recorded_config(ServeRecord::parse(cluster.annotation(kServeConfig)), cluster.annotation(kServeConfigBody));
}

/// Whether the cluster has this capacity, and is not being given another one. One without a head has none.
bool is_settled(const Cluster& cluster, int capacity) {
  const ServeRecord record = ServeRecord::parse(cluster.annotation(kServeConfig));
  const std::optional<ServeConfig> config = recorded_config(record, cluster.annotation(kServeConfigBody));
  if (!config || !cluster.head_ready()) return true;
  return record.accepted && int_at(config->json, {"target_capacity"}, kWhole) == capacity;
}

/// The capacities of the next step. Only one cluster changes at a time: until the other one has the capacity that the
/// status says, and no slice that it does not need, both together could exceed the surge.
Split step_of(const RayServiceState& state, const ClusterChoice& choice, const Progress& now,
              const std::optional<Timestamp>& since, const Options& options, std::optional<Duration>& wait) {
  const Split next = next_capacity(now, state.spec.incremental->max_surge, choice.rollback);
  if (next == now.capacity) return next;
  const bool active_changes = next.active != now.capacity.active;
  const Cluster& other = active_changes ? *choice.pending : *choice.active;
  const int capacity = active_changes ? now.capacity.pending : now.capacity.active;
  if (!is_settled(other, capacity)) return now.capacity;
  // A cluster that has everything was not lowered.
  if (next.sum() > now.capacity.sum() && capacity < kWhole) wait = until_shrunk(state, other, since, options);
  return wait ? now.capacity : next;
}

/// `base`: what the cluster serves, apart from its capacity; null: what it was given. If that is not known, as of a
/// cluster that another operator has configured, a change of the capacity also gives it `fallback`.
ServeGoal goal_of(const Cluster& cluster, const ServeConfig* base, const ServeConfig& fallback, std::optional<int> now,
                  std::optional<int> next) {
  ServeGoal out{.config = std::nullopt, .before = now, .capacity = next};
  const bool same = now.value_or(kWhole) == next.value_or(kWhole);
  std::optional<ServeConfig> config = base == nullptr ? recorded(cluster) : std::optional(*base);
  if (!config && same) return out;
  if (!config) config = fallback;
  // A configuration without target_capacity is one for all replicas, and need not be sent again to say so.
  const bool implied = same && !now;
  out.config = with_capacity(*std::move(config), implied ? std::nullopt : next);
  return out;
}

/// The goals without an incremental upgrade.
ServeGoals usual_goals(const RayServiceState& state, const ClusterChoice& choice, const ServeConfig& config) {
  ServeGoals out;
  if (const Cluster* newest = choice.newest()) (newest == choice.active ? out.active : out.pending).config = config;
  if (choice.active == nullptr || choice.active == choice.newest()) return out;
  // An incremental upgrade was under way when the strategy changed: the cluster that serves is to serve everything.
  const std::optional<int> now = share_of(state, choice.active_name).capacity;
  if (now && *now != kWhole) out.active = goal_of(*choice.active, nullptr, config, now, kWhole);
  return out;
}

}  // namespace

ServeGoals decide_serve_goals(const RayServiceState& state, const ClusterChoice& choice, const ServeConfig& config,
                              bool may_step, const std::optional<Timestamp>& since, const Options& options) {
  if (!state.spec.incremental) return usual_goals(state, choice, config);
  ServeGoals out;
  const Share active = share_of(state, choice.active_name);
  const Share pending = share_of(state, choice.pending_name);
  if (choice.active != nullptr && choice.pending != nullptr) {
    const Progress now = progress_of(active, pending);
    const Split next = may_step ? step_of(state, choice, now, since, options, out.requeue_after) : now.capacity;
    out.active = goal_of(*choice.active, choice.reverted ? &config : nullptr, config, active.capacity, next.active);
    out.pending =
        goal_of(*choice.pending, choice.rollback ? nullptr : &config, config, now.capacity.pending, next.pending);
    return out;
  }
  if (choice.pending != nullptr) {
    out.pending = goal_of(*choice.pending, &config, config, pending.capacity.value_or(kWhole), kWhole);
  } else if (choice.create) {
    out.pending.before = out.pending.capacity = choice.active == nullptr ? kWhole : 0;
  }
  if (choice.active != nullptr) {
    const ServeConfig* base = choice.newest() == choice.active && choice.is_up_to_date() ? &config : nullptr;
    const std::optional<int> goal = active.capacity ? std::optional(kWhole) : std::nullopt;
    out.active = goal_of(*choice.active, base, config, active.capacity, goal);
  }
  return out;
}

}  // namespace tpuslice::rayservice
