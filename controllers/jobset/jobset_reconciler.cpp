#include "controllers/jobset/jobset_reconciler.h"

#include <utility>

#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/spec.h"
#include "tpu/labels.h"
#include "tpu/waiting.h"

namespace tpuslice::jobset {
namespace {

/// The slice controller reads the same store, and has groups of its own.
std::string waiting_of(const ObjectKey& jobset) { return "waiting-jobset/" + jobset.to_string(); }

}  // namespace

std::vector<std::string> waiting_index(const PodView& pod) {
  std::vector<std::string> groups;
  for (const ObjectKey& jobset : jobset_of_waiting(pod)) groups.push_back(waiting_of(jobset));
  return groups;
}

std::vector<ObjectKey> jobset_of_waiting(const PodView& pod) {
  const std::string& jobset = pod.label(tpu::kJobSetName);
  if (jobset.empty() || !tpu::is_waiting(pod)) return {};
  return {{pod.key.namespace_name, jobset}};
}

JobSetReconciler::JobSetReconciler(Stores stores, Options options)
    : stores_(std::move(stores)), options_(std::move(options)) {}

Result<runtime::Plan> JobSetReconciler::plan(const runtime::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr jobset = stores_.jobsets.get(input.key);
  if (jobset == nullptr) return runtime::Plan{};
  JobSetObserved seen{jobset->object,
                      stores_.jobs.lookup("owner/" + jobset->uid),
                      nullptr,
                      {},
                      stores_.pods.lookup(waiting_of(input.key)),
                      input.now,
                      input.last_failure};
  const JobSetSpec spec = JobSetSpec::read(seen.jobset);
  seen.service = stores_.services.get({input.key.namespace_name, spec.subdomain});
  for (const VolumeClaim& claim : spec.claims) {
    if (auto found = stores_.claims.get({input.key.namespace_name, claim.name}))
      seen.claims.push_back(std::move(found));
  }
  return plan_jobset(seen, options_);
}

}  // namespace tpuslice::jobset
