#include "controllers/rayjob/rayjob_reconciler.h"

#include <utility>

#include "controllers/plan/whole.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/head_service.h"
#include "controllers/rayjob/rayjob_plan.h"
#include "controllers/rayjob/rayjob_status.h"
#include "tpu/labels.h"

namespace tpuslice::rayjob {
namespace {

std::optional<std::string> cluster_in_use(const ObjectKey& job, const RayJobStatus& status) {
  if (status.cluster_name.empty() || status.finished()) return std::nullopt;
  return ObjectKey{job.namespace_name, status.cluster_name}.to_string();
}

}  // namespace

std::optional<std::string> index_cluster(const ObjectView& job) {
  if (job.minimal) return std::nullopt;
  return cluster_in_use(job.key, RayJobStatus::read(job.object()));
}

std::optional<std::string> index_created_cluster(const ObjectView& job) {
  if (job.minimal) return std::nullopt;
  const Object object = job.object();
  if (RayJobSpec::read(object).selects_cluster) return std::nullopt;
  return cluster_in_use(job.key, RayJobStatus::read(object));
}

std::optional<std::string> index_cluster_of_pod(const PodView& pod) {
  const std::string& cluster = pod.label(raycluster::kRayCluster);
  if (cluster.empty()) return std::nullopt;
  return ObjectKey{pod.key.namespace_name, cluster}.to_string();
}

std::vector<ObjectKey> rayjob_of_submitter_pod(const PodView& pod) {
  if (pod.stuck.empty() && pod.failure.empty()) return {};
  return {{pod.key.namespace_name, pod.label(raycluster::kOriginatedFromCrName)}};
}

RayJobReconciler::RayJobReconciler(Stores stores, Options options) : stores_(stores), options_(std::move(options)) {}

Result<plan::Plan> RayJobReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr job = stores_.jobs.get(input.key);
  if (job == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, job)) return *std::move(waits);
  RayJobObserved seen{.job = job->object()};
  seen.now = input.now;
  seen.last_failure = input.last_failure;
  const std::string& space = input.key.namespace_name;
  if (const std::string cluster = RayJobStatus::read(seen.job).cluster_name; !cluster.empty()) {
    seen.cluster = stores_.clusters.get({space, cluster});
    seen.pods = stores_.pods_by_cluster.lookup(ObjectKey{space, cluster}.to_string());
  }
  seen.submitter = stores_.submitters.get(input.key);
  if (seen.submitter != nullptr) seen.submitter_pods = stores_.pods_by_submitter.lookup(seen.submitter->uid);
  seen.service = stores_.services.get({space, head_service_name(seen.job.spec())});
  seen.answers = stores_.dashboards.answers({name(), input.key});
  if (auto waits = plan::wait_until_whole(input.key, seen.cluster, seen.pods, seen.submitter, seen.submitter_pods,
                                          seen.service)) {
    return *std::move(waits);
  }
  return plan_rayjob(seen, options_);
}

}  // namespace tpuslice::rayjob
