#include "controllers/rayservice/decisions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/plan/finalizers.h"
#include "controllers/rayservice/cluster_services.h"
#include "controllers/rayservice/cluster_suspension.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

bool are_usable(const std::vector<Service>& services) {
  using enum plan::ChildDecision::Kind;
  return std::ranges::none_of(services, [](const Service& service) {
    return service.decision.kind == kWait || service.decision.kind == kConflict;
  });
}

/// A pending cluster without endpoints does not replace an active cluster with endpoints. The status names it before
/// the services select it, so that present_clusters() finds it if the plan is cut.
bool can_take_over(const RayServiceState& state, const ClusterChoice& choice) {
  if (choice.pending_name != state.pending_name()) return false;
  return choice.active == nullptr || serve_endpoints(*choice.pending) > 0 || serve_endpoints(*choice.active) == 0;
}

void decide_serving(const RayServiceState& state, const Cluster* cluster, const ServeGoal& goal, const Options& options,
                    std::optional<Serving>& serving, RunningDecisions& out) {
  if (cluster == nullptr) return;
  const plan::WorkloadAnswers& answers = state.seen.answers;
  serving = goal.config ? apply_serve_config(*cluster, *goal.config, answers, state.seen.now, options)
                        : observe_serving(*cluster, answers, options);
  std::ranges::copy(serving->requests, std::back_inserter(out.requests));
  if (!state.spec.exclude_head) {
    if (std::optional<plan::WorkloadRequest> proxy = proxy_request(*cluster)) out.requests.push_back(*std::move(proxy));
  }
  std::ranges::move(decide_serve_labels(*cluster, *serving, answers, state.spec.exclude_head),
                    std::back_inserter(out.labels));
}

/// Creates and updates clusters.
void decide_clusters(const RayServiceState& state, RunningDecisions& out) {
  const ConfigHash config(*state.spec.cluster_config);
  out.choice = choose_clusters(state, config);
  if (out.choice.create) {
    out.create_after = plan::until_retry(state.seen.last_failure, kFailedRayCluster, state.seen.now);
    if (!out.create_after) {
      const bool grows = state.spec.incremental && out.choice.active != nullptr;
      out.create = build_cluster(state, out.choice.pending_name, config, grows);
    }
  }
  const Cluster* newest = out.choice.newest();
  const bool keeps_its_own = out.choice.waits_for_gateway || (out.choice.rollback && !out.choice.reverted);
  if (newest != nullptr && !keeps_its_own) out.update = update_cluster(state, *newest, config);
}

/// The pending cluster serves, and its serve service has an endpoint.
bool can_get_traffic(const Cluster& cluster, const Serving& serving) {
  return serving.ready() && serve_endpoints(cluster) > 0;
}

/// The next step of the traffic, if its interval has passed and the cluster that gets more of it can serve it.
void decide_traffic(const RayServiceState& state, RunningDecisions& out) {
  const ClusterChoice& choice = out.choice;
  if (!state.spec.incremental || choice.active == nullptr || choice.pending == nullptr) return;
  const Share active = share_of(state, choice.active_name);
  const Share pending = share_of(state, choice.pending_name);
  const Progress now = progress_of(active, pending);
  out.traffic = now.traffic;
  const Split next = next_traffic(now, state.spec.incremental->step_size, choice.rollback);
  if (next == now.traffic) return;
  const bool to_pending = can_get_traffic(*choice.pending, *out.pending);
  const bool to_active = can_get_traffic(*choice.active, *out.active);
  // Traffic leaves a cluster that does not serve it, wherever it goes.
  if (next.pending > now.traffic.pending ? !to_pending : to_pending && !to_active) return;
  const std::optional<Timestamp>& since = choice.rollback ? active.migrated : pending.migrated;
  if (since && state.seen.now - *since < state.spec.incremental->interval) {
    out.traffic_after = *since + state.spec.incremental->interval - state.seen.now;
    return;
  }
  out.traffic = next;
}

/// An incremental upgrade is complete, or a cluster can serve in the place of one that does not.
bool can_be_promoted(const RayServiceState& state, const RunningDecisions& decisions) {
  const ClusterChoice& choice = decisions.choice;
  if (choice.pending == nullptr || choice.rollback) return false;
  if (!state.spec.incremental || choice.active == nullptr) {
    return decisions.pending->ready() && can_take_over(state, choice);
  }
  return choice.pending_name == state.pending_name() &&
         is_complete(progress_of(share_of(state, choice.active_name), share_of(state, choice.pending_name)));
}

/// Services, Gateway and route, and whether the pending cluster becomes the active one.
void decide_routing(const RayServiceState& state, const Options& options, RunningDecisions& out) {
  const ClusterChoice& choice = out.choice;
  decide_traffic(state, out);
  const bool ready = can_be_promoted(state, out);
  const Cluster* selected = ready ? choice.pending : choice.active;
  if (state.spec.incremental) {
    out.services = decide_cluster_services(state, choice, selected, out.traffic, options);
  } else if (selected != nullptr) {
    out.services = decide_services(state, *selected, options);
  }
  out.promote = ready && are_usable(out.services);
  out.gateways = decide_gateways(state, choice, out.promote ? choice.pending : choice.active, out.traffic);
}

/// The time of the last change of the traffic.
std::optional<Timestamp> last_migration(const RayServiceState& state, const ClusterChoice& choice) {
  return std::max(share_of(state, choice.active_name).migrated, share_of(state, choice.pending_name).migrated);
}

/// What the clusters are to serve. No watch event says that the interval of a route has passed.
void decide_goals(const RayServiceState& state, const ServeConfig& config, const Options& options,
                  RunningDecisions& out) {
  const std::optional<Timestamp> since = last_migration(state, out.choice);
  const bool in_effect = is_in_effect(state, since);
  out.goals = decide_serve_goals(state, out.choice, config, in_effect, since, options);
  if (in_effect || !since || !state.spec.incremental || out.choice.pending == nullptr) return;
  const Timestamp due = *since + state.spec.incremental->interval;
  if (state.seen.now < due) out.traffic_after = due - state.seen.now;
}

/// True once: then the status says that the active cluster has no status, or that the other one is active.
bool loses_active(const RayServiceState& state) {
  return state.spec.incremental && !state.spec.replace_without_room &&
         find_set(state.status, {"activeServiceStatus", "rayClusterStatus"}) != nullptr &&
         state.clusters.find(state.active_name()) == nullptr &&
         state.clusters.find_alive(state.pending_name()) != nullptr;
}

/// rayClusterConfig.suspend suspends all clusters, those of a refused spec among them: a queue gets the chips back. The
/// two of an incremental upgrade are resumed together, as both have capacity.
void decide_suspensions(const RayServiceState& state, RunningDecisions& out) {
  const Cluster* newest = out.choice.newest();
  out.suspended = newest != nullptr && is_suspended(state, *newest);
  for (const Cluster& cluster : state.clusters.all()) {
    const bool updated = &cluster == newest && !out.update.patch.is_null();
    const auto& deletes = out.retirement.deletes;
    if (updated || cluster.terminating() || std::ranges::find(deletes, &cluster) != deletes.end()) continue;
    const bool both = state.spec.incremental && out.choice.active != nullptr && out.choice.pending != nullptr;
    const bool shares = both && (&cluster == out.choice.active || &cluster == out.choice.pending);
    ClusterUpdate update = update_suspension(state, cluster, shares);
    if (!update.patch.is_null()) out.suspensions.push_back({&cluster, std::move(update)});
  }
}

RunningDecisions decide_running(const RayServiceState& state, const Problem& refusal, const ServeConfig& config,
                                const Options& options) {
  RunningDecisions out;
  out.add_finalizer = !plan::has_finalizer(state.seen.service, kFinalizer);
  if (refusal) {
    out.choice = present_clusters(state);
  } else {
    decide_clusters(state, out);
  }
  const ClusterChoice& choice = out.choice;
  if (!refusal) {
    decide_goals(state, config, options, out);
    out.rollback_impossible = loses_active(state);
  }
  decide_serving(state, choice.active, out.goals.active, options, out.active, out);
  decide_serving(state, choice.pending, out.goals.pending, options, out.pending, out);
  if (!refusal) decide_routing(state, options, out);
  out.room = decide_room(state, choice, options);
  out.retirement = out.promote ? decide_retirement(state, choice.pending_name, {})
                               : decide_retirement(state, choice.active_name, choice.pending_name);
  if (out.room.replace && !out.promote) out.retirement.deletes.push_back(choice.active);
  decide_suspensions(state, out);
  return out;
}

Removal remove_clusters(const RayServiceState& state, std::string why) {
  Removal out{std::move(why)};
  for (const Cluster& cluster : state.clusters.all()) {
    if (!cluster.terminating()) out.clusters.push_back(&cluster);
  }
  out.gateways = own_gateways(state);
  return out;
}

void decide_deletion(const RayServiceState& state, Decisions& out) {
  const Object& service = state.seen.service;
  if (!plan::has_finalizer(service, kFinalizer)) return;
  // The RayClusters stay if it is deleted with --cascade=orphan.
  const bool leaves_orphans = plan::has_finalizer(service, "orphan");
  if (!leaves_orphans) out.removal = remove_clusters(state, "the RayService is being deleted");
  out.release = state.clusters.all().empty() || leaves_orphans;
}

void decide_suspension(const RayServiceState& state, SuspendPhase phase, Decisions& out) {
  out.suspension = phase;
  if (phase != SuspendPhase::kDeleting) return;
  out.removal = remove_clusters(state, "the RayService is being suspended");
  out.removal->services = own_services(state);
  std::erase_if(out.removal->services, [](const ObjectPtr& service) { return service->deletion.has_value(); });
}

/// The service did not become ready within its initializing timeout. Final: it is deleted, or suspended and resumed.
bool has_timed_out(const RayServiceState& state) {
  const Json* ready = find_condition(state.conditions(), kReady);
  return ready != nullptr && string_at(*ready, {"status"}) == "False" &&
         string_at(*ready, {"reason"}) == kInitializingTimedOut;
}

}  // namespace

Decisions decide(const RayServiceState& state, const Problem& refusal, const ServeConfig& config,
                 const Options& options) {
  Decisions out{refusal};
  if (state.seen.service.deletion_timestamp()) {
    decide_deletion(state, out);
  } else if (const SuspendPhase phase = suspend_phase(state); phase != SuspendPhase::kRunning) {
    decide_suspension(state, phase, out);
  } else if (has_timed_out(state)) {
    out.removal = remove_clusters(state, "the initializing timeout has passed");
  } else {
    out.running = decide_running(state, refusal, config, options);
  }
  return out;
}

}  // namespace tpuslice::rayservice
