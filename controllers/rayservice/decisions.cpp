#include "controllers/rayservice/decisions.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tpuslice::rayservice {
namespace {

bool are_usable(const std::vector<Service>& services) {
  using enum plan::ChildDecision::Kind;
  return std::ranges::none_of(services, [](const Service& service) {
    return service.decision.kind == kWait || service.decision.kind == kConflict;
  });
}

/// A pending cluster without endpoints does not replace an active cluster with endpoints.
bool can_take_over(const ClusterChoice& choice) {
  return choice.active == nullptr || serve_endpoints(*choice.pending) > 0 || serve_endpoints(*choice.active) == 0;
}

void decide_serving(const RayServiceState& state, const Cluster* cluster, const ServeConfig* config,
                    const Options& options, std::optional<Serving>& serving, Decisions& out) {
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
void decide_clusters(const RayServiceState& state, Decisions& out) {
  const ConfigHash config(*state.spec.cluster_config);
  out.choice = choose_clusters(state, config);
  if (out.choice.create) out.create = build_cluster(state, out.choice.pending_name, config);
  if (const Cluster* newest = out.choice.newest()) out.update = update_cluster(state, *newest, config);
}

}  // namespace

Decisions decide(const RayServiceState& state, const Problem& refusal, const ServeConfig& config,
                 const Options& options) {
  Decisions out;
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
    const bool ready = choice.pending != nullptr && out.pending->ready() && can_take_over(choice);
    const Cluster* selected = ready ? choice.pending : choice.active;
    if (selected != nullptr) out.services = decide_services(state, *selected, options);
    out.promote = ready && are_usable(out.services);
  }
  out.room = decide_room(state, choice, options);
  out.retirement = out.promote ? decide_retirement(state, choice.pending_name, {})
                               : decide_retirement(state, choice.active_name, choice.pending_name);
  if (out.room.replace && !out.promote) out.retirement.deletes.push_back(choice.active);
  return out;
}

}  // namespace tpuslice::rayservice
