#include "controllers/rayservice/upgrade.h"

#include <algorithm>

#include "controllers/ray/child_cluster.h"
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

void set_pending(const Cluster* pending, ClusterChoice& choice) {
  choice.pending = pending;
  choice.pending_name = pending == nullptr ? std::string() : pending->name();
}

}  // namespace

ClusterChoice present_clusters(const RayServiceState& state) {
  ClusterChoice out;
  out.active_name = selected_cluster(state);
  if (state.clusters.find(out.active_name) == nullptr) out.active_name = state.active_name();
  out.active = state.clusters.find_alive(out.active_name);
  if (state.pending_name() != out.active_name) {
    set_pending(state.clusters.find_alive(state.pending_name()), out);
  }
  return out;
}

ClusterChoice choose_clusters(const RayServiceState& state, const ConfigHash& config) {
  ClusterChoice out = present_clusters(state);
  const Cluster* pending = out.pending;
  set_pending(nullptr, out);
  if (out.active != nullptr && has_config(*out.active, config)) return out;
  if (pending != nullptr && (has_config(*pending, config) || is_of_other_operator(*pending))) {
    set_pending(pending, out);
    return out;
  }
  if (out.active != nullptr && pending == nullptr && is_of_other_operator(*out.active)) return out;
  if (state.spec.upgrade_type == kNone && (out.active != nullptr || pending != nullptr)) {
    set_pending(pending, out);
    out.outdated = true;
    return out;
  }
  if (const Cluster* unused = find_unused(state, out, config)) {
    set_pending(unused, out);
    return out;
  }
  out.create = true;
  out.pending_name = new_name(state, config);
  return out;
}

}  // namespace tpuslice::rayservice
