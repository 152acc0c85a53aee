#include "controllers/rayjob/teardown.h"

#include <fmt/format.h>

namespace tpuslice::rayjob {
namespace {

std::vector<std::string> names_of_remaining(const RayJobState& state) {
  std::vector<std::string> out;
  if (!state.spec.selects_cluster) {
    if (state.owns_cluster()) out.push_back(fmt::format("RayCluster {}", state.seen.cluster->key.name));
    // Another owner's cluster of that name has these pods.
    if (state.seen.cluster == nullptr || state.owns_cluster()) {
      for (const auto& pod : state.seen.pods) out.push_back(fmt::format("pod {}", pod->key.name));
    }
  }
  if (state.owns_submitter()) out.push_back(fmt::format("job {}", state.seen.submitter->key.name));
  return out;
}

}  // namespace

bool can_delete_cluster(const RayJobState& state) { return state.owns_cluster() && !state.seen.cluster->deletion; }

TeardownDecision decide_teardown(const RayJobState& state) {
  TeardownDecision out;
  out.delete_cluster = !state.spec.selects_cluster && can_delete_cluster(state);
  out.delete_submitter = state.owns_submitter() && !state.seen.submitter->deleting();
  out.remaining = names_of_remaining(state);
  return out;
}

}  // namespace tpuslice::rayjob
