#include "controllers/rayservice/decisions.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/plan/finalizers.h"
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

void decide_serving(const RayServiceState& state, const Cluster* cluster, const ServeConfig* config,
                    const Options& options, std::optional<Serving>& serving, RunningDecisions& out) {
  if (cluster == nullptr) return;
  const plan::WorkloadAnswers& answers = state.seen.answers;
  serving = config == nullptr ? observe_serving(*cluster, answers, options)
                              : apply_serve_config(*cluster, *config, answers, state.seen.now, options);
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
    if (!out.create_after) out.create = build_cluster(state, out.choice.pending_name, config);
  }
  if (const Cluster* newest = out.choice.newest()) out.update = update_cluster(state, *newest, config);
}

/// rayClusterConfig.suspend suspends all clusters, those of a refused spec among them: a queue gets the chips back.
void decide_suspensions(const RayServiceState& state, RunningDecisions& out) {
  const Cluster* newest = out.choice.newest();
  out.suspended = newest != nullptr && is_suspended(state, *newest);
  for (const Cluster& cluster : state.clusters.all()) {
    const bool updated = &cluster == newest && !out.update.patch.is_null();
    const auto& deletes = out.retirement.deletes;
    if (updated || cluster.terminating() || std::ranges::find(deletes, &cluster) != deletes.end()) continue;
    ClusterUpdate update = suspend_cluster(state, cluster);
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
  const auto config_of = [&](const Cluster* cluster) {
    return !refusal && cluster == choice.newest() ? &config : nullptr;
  };
  decide_serving(state, choice.active, config_of(choice.active), options, out.active, out);
  decide_serving(state, choice.pending, config_of(choice.pending), options, out.pending, out);
  if (!refusal) {
    const bool ready = choice.pending != nullptr && out.pending->ready() && can_take_over(state, choice);
    const Cluster* selected = ready ? choice.pending : choice.active;
    if (selected != nullptr) out.services = decide_services(state, *selected, options);
    out.promote = ready && are_usable(out.services);
  }
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
