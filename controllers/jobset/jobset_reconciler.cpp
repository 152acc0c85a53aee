#include "controllers/jobset/jobset_reconciler.h"

#include <utility>

#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/spec.h"

namespace tpuslice::jobset {

JobSetReconciler::JobSetReconciler(Stores stores, Options options) : stores_(stores), options_(std::move(options)) {}

Result<runtime::Plan> JobSetReconciler::plan(const runtime::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr jobset = stores_.jobsets.get(input.key);
  if (jobset == nullptr) return runtime::Plan{};
  JobSetObserved seen{jobset->object,    stores_.jobs.lookup("owner/" + jobset->uid), nullptr, {}, input.now,
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
