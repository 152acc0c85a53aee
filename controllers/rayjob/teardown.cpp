#include "controllers/rayjob/teardown.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

void delete_submitter(const RayJobState& state, std::string_view why, Draft& draft) {
  const JobView& job = *state.seen.submitter;
  if (job.deleting()) return;
  plan::Action action = plan::Action::remove(kJobs, job.key, {.uid = job.uid});
  action.propagation = plan::Propagation::kBackground;
  const std::string name = job.key.to_string();
  draft.changes.reasons.push_back(fmt::format("deleting job {}: {}", name, why));
  add_action(
      Step::kDeletes, std::move(action), kFailedSubmitter,
      {"DeletedRayJobSubmitter", "FailedToDeleteRayJobSubmitter", fmt::format("Deleted submitter K8s Job {}", name),
       fmt::format("Failed to delete submitter K8s Job {}", name)},
      draft);
}

/// Names of what is left of the attempt.
std::vector<std::string> remaining(const RayJobState& state) {
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

void begin_suspension(Draft& draft) {
  draft.status.deployment = kSuspending;
  draft.changes.reasons.emplace_back("spec.suspend is true: suspending the RayJob");
}

void delete_cluster(const RayJobState& state, std::string_view why, Draft& draft) {
  if (!state.owns_cluster() || state.seen.cluster->deletion) return;
  const ObjectView& cluster = *state.seen.cluster;
  const std::string name = cluster.key.to_string();
  draft.changes.reasons.push_back(fmt::format("deleting RayCluster {}: {}", name, why));
  add_action(Step::kDeletes, plan::Action::remove(raycluster::kRayClusters, cluster.key, {.uid = cluster.uid}),
             kFailedRayCluster,
             {"DeletedRayCluster", "FailedToDeleteRayCluster", fmt::format("Deleted cluster {}", name),
              fmt::format("Failed to delete cluster {}", name)},
             draft);
}

bool tear_down(const RayJobState& state, Draft& draft) {
  const std::string_view why =
      state.status.deployment == kRetrying ? "the attempt failed, and is retried" : "the RayJob is suspended";
  draft.changes.stage(Step::kDeletes).independent = true;
  if (!state.spec.selects_cluster) delete_cluster(state, why, draft);
  if (state.owns_submitter()) delete_submitter(state, why, draft);
  const std::vector<std::string> left = remaining(state);
  if (left.empty()) {
    draft.status.clear_attempt();
    return true;
  }
  draft.cluster = {std::string(state.status.deployment),
                   fmt::format("waiting for the deletion of {}", plan::join_names(left))};
  return false;
}

}  // namespace tpuslice::rayjob
