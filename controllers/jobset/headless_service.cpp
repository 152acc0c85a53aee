#include "controllers/jobset/headless_service.h"

#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {

Json build_service(const JobSetSpec& spec) {
  const StringMap selector{{std::string(kJobSetName), spec.key.name}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata",
       {{"name", spec.subdomain},
        {"namespace", spec.key.namespace_name},
        {"ownerReferences", Json::array({spec.owner.to_json()})}}},
      {"spec", {{"clusterIP", "None"}, {"selector", selector}, {"publishNotReadyAddresses", spec.publish_not_ready}}}};
}

plan::ChildDecision decide_service(const JobSetSpec& spec, const JobSetObserved& seen) {
  if (!spec.dns) return {};
  return plan::decide_headless_service(build_service(spec), seen.service.get());
}

}  // namespace tpuslice::jobset
