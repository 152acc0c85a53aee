#include "controllers/rayservice/upgrade.h"

#include <algorithm>
#include <chrono>

#include "api/types/conditions.h"
#include "controllers/plan/waiting_code.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/ray/child_cluster.h"
#include "controllers/rayservice/cluster_suspension.h"
#include "controllers/rayservice/incremental_upgrade.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/services.h"

namespace tpuslice::rayservice {
namespace {

/// Whether the cluster was made from the config, or differs from it only in groups added at its end.
bool has_config(const Cluster& cluster, const ConfigHash& config) {
  return config.matches(cluster) || config.appends_groups(cluster);
}

/// A cluster of this config that is not in use, such as one that was created by a plan whose status was not
/// written, or that an upgrade replaced just now.
const Cluster* find_unused(const RayServiceState& state, const ClusterChoice& choice, const ConfigHash& config) {
  const auto found = std::ranges::find_if(state.clusters.all(), [&](const Cluster& cluster) {
    return !cluster.terminating() && &cluster != choice.active && &cluster != choice.pending && config.matches(cluster);
  });
  return found == state.clusters.all().end() ? nullptr : &*found;
}

/// Derived, so that the create can be repeated. A cluster that still has the name, from the same config, is
/// terminating, or was brought up to date since.
std::string new_name(const RayServiceState& state, const ConfigHash& config) {
  std::string name;
  for (std::size_t i = 0; i <= state.clusters.all().size(); ++i) {
    name = ray::child_cluster_name(state.seen.service, fmt::format("{}/{}", config.whole(), i));
    if (state.clusters.find(name) == nullptr && name != state.active_name()) break;
  }
  return name;
}

/// Whether `selected`, which the serve service selects, is active although the status may not say so yet: the services
/// are written before the status. Another cluster than those of the status was chosen by another writer, unless the
/// active one is lost, as the whole status may be.
bool is_switch(const RayServiceState& state, const std::string& selected) {
  if (state.clusters.find(selected) == nullptr) return false;
  return selected == state.pending_name() || state.clusters.find_alive(state.active_name()) == nullptr;
}

void set_pending(const Cluster* pending, ClusterChoice& choice) {
  choice.pending = pending;
  choice.pending_name = pending == nullptr ? std::string() : pending->name();
}

/// Whether the pending cluster of an incremental upgrade has traffic. Then the active one is not deleted to make room.
bool has_traffic(const RayServiceState& state, const std::string& pending) {
  return state.spec.incremental && share_of(state, pending).traffic.value_or(0) > 0;
}

/// Whether an incremental upgrade is under way, both of whose clusters stay. A pending cluster that is rolled back is
/// given up.
bool goes_on(const RayServiceState& state, const ConfigHash& config, ClusterChoice& choice) {
  if (!state.spec.incremental || choice.active == nullptr || choice.pending == nullptr) return false;
  if (!is_rolling_back(state, *choice.active, *choice.pending, config)) return true;
  const Progress now = progress_of(share_of(state, choice.active_name), share_of(state, choice.pending_name));
  if (is_rolled_back(now, choice.pending->head_ready())) {
    set_pending(nullptr, choice);
    return false;
  }
  choice.rollback = true;
  choice.reverted = config.fits(*choice.active);
  return true;
}

std::string advice(const RayServiceState& state, const ClusterChoice& choice, const Options& options) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.room_timeout).count();
  const std::string waits = fmt::format("RayCluster {} has waited for nodes for {} s while RayCluster {} has its own",
                                        choice.pending_name, seconds, choice.active_name);
  if (has_traffic(state, choice.pending_name)) {
    return fmt::format("{}: add nodes; it gets those that Ray's autoscaler takes from {}, whose capacity is lowered",
                       waits, choice.active_name);
  }
  if (state.spec.replace_without_room) {
    return fmt::format("{}: {} is deleted first, as annotation {} says; requests fail until {} is ready", waits,
                       choice.active_name, kUpgradeWithoutRoom, choice.pending_name);
  }
  return fmt::format("{}: add nodes, or set annotation {}={} to delete {} first; then requests fail until {} is ready",
                     waits, kUpgradeWithoutRoom, kReplaceWithoutRoom, choice.active_name, choice.pending_name);
}

}  // namespace

ClusterChoice present_clusters(const RayServiceState& state) {
  ClusterChoice out;
  out.active_name = state.active_name();
  if (const std::string selected = selected_cluster(state); is_switch(state, selected)) out.active_name = selected;
  out.active = state.clusters.find_alive(out.active_name);
  if (state.pending_name() != out.active_name) {
    set_pending(state.clusters.find_alive(state.pending_name()), out);
  }
  // The active cluster of an incremental upgrade was lost: the other one, which has traffic, gets all of it.
  if (out.active == nullptr && out.pending != nullptr && has_traffic(state, out.pending_name)) {
    out.active = out.pending;
    out.active_name = out.pending_name;
    set_pending(nullptr, out);
  }
  return out;
}

ClusterChoice choose_clusters(const RayServiceState& state, const ConfigHash& config) {
  ClusterChoice out = present_clusters(state);
  if (goes_on(state, config, out)) return out;
  const Cluster* pending = out.pending;
  set_pending(nullptr, out);
  if (out.active != nullptr && has_config(*out.active, config)) return out;
  if (pending != nullptr && (has_config(*pending, config) || is_of_other_operator(*pending))) {
    set_pending(pending, out);
    return out;
  }
  if (out.active != nullptr && pending == nullptr && is_of_other_operator(*out.active)) return out;
  const Cluster* newest = pending != nullptr ? pending : out.active;
  const bool held = newest != nullptr && holds_upgrade(state, *newest);
  // A cluster that is suspended serves nothing, so another one may take its place.
  if (held || (newest != nullptr && state.spec.upgrade_type == kNone && !resumes(state, *newest))) {
    set_pending(pending, out);
    out.held = held;
    out.outdated = !held;
    return out;
  }
  if (const Cluster* unused = find_unused(state, out, config)) {
    set_pending(unused, out);
    return out;
  }
  // Without a Gateway the new cluster would get no traffic, and hold nodes.
  if (state.spec.incremental && out.active != nullptr && !state.seen.gateways.watched) {
    out.waits_for_gateway = true;
    return out;
  }
  out.create = true;
  out.pending_name = new_name(state, config);
  return out;
}

RoomDecision decide_room(const RayServiceState& state, const ClusterChoice& choice, const Options& options) {
  RoomDecision out;
  const Cluster* newest = choice.newest();
  if (newest == nullptr) {
    out.problem = {"ClusterPending", "the RayCluster is being created"};
    return out;
  }
  if (is_suspended(state, *newest)) {
    out.problem = {"Suspended", fmt::format("RayCluster {} is suspended", newest->name())};
    return out;
  }
  const Json* condition =
      find_condition(array_at(newest->object.json(), {"status", "conditions"}), plan::kSlicesPlaced);
  if (condition == nullptr) {
    out.problem = {"PodsPending", fmt::format("RayCluster {} has no pods yet", newest->name())};
    return out;
  }
  if (string_at(*condition, {"status"}) == "True") return out;
  const std::string reason = string_at(*condition, {"reason"});
  out.problem = {reason.empty() ? "SlicesWaiting" : reason,
                 fmt::format("RayCluster {}: {}", newest->name(), string_at(*condition, {"message"}))};
  if (!plan::is_lack_of_nodes(reason) || choice.pending == nullptr || choice.active == nullptr) return out;
  if (choice.rollback) return out;
  const auto since = parse_rfc3339(string_at(*condition, {"lastTransitionTime"}));
  if (!since) return out;
  const Duration waited = state.seen.now - *since;
  if (waited < options.room_timeout) {
    out.requeue_after = options.room_timeout - waited;
    return out;
  }
  out.problem = {std::string(kNoRoomForUpgrade),
                 fmt::format("{}. {}", advice(state, choice, options), out.problem.message)};
  out.replace = state.spec.replace_without_room && !has_traffic(state, choice.pending_name);
  return out;
}

}  // namespace tpuslice::rayservice
