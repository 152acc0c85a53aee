#include "controllers/jobset/children.h"

#include <algorithm>
#include <utility>

#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/service_ports.h"

namespace tpuslice::jobset {

Json build_service(const JobSetSpec& spec) {
  const StringMap selector{{std::string(kJobSetName), spec.key.name}};
  Json service = {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata",
       {{"name", spec.subdomain},
        {"namespace", spec.key.namespace_name},
        {"ownerReferences", Json::array({spec.owner.to_json()})}}},
      {"spec", {{"clusterIP", "None"}, {"selector", selector}, {"publishNotReadyAddresses", spec.publish_not_ready}}}};
  if (Json ports = service_ports(spec); !ports.empty()) service["spec"]["ports"] = std::move(ports);
  return service;
}

plan::ChildDecision decide_service(const JobSetSpec& spec, const JobSetObserved& seen) {
  if (!spec.dns) return {};
  return plan::decide_headless_service(build_service(spec), seen.service.get());
}

Json build_claim(const JobSetSpec& spec, const VolumeClaim& claim) {
  Json metadata = {{"name", claim.name}, {"namespace", spec.key.namespace_name}};
  metadata["labels"] = string_map_at(*claim.claim_template, {"metadata", "labels"});
  metadata["labels"][std::string(kJobSetName)] = spec.key.name;
  const StringMap annotations = string_map_at(*claim.claim_template, {"metadata", "annotations"});
  if (!annotations.empty()) metadata["annotations"] = annotations;
  if (!claim.retained) metadata["ownerReferences"] = Json::array({spec.owner.to_json()});
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", std::move(metadata)},
          {"spec", claim.claim_template->value("spec", Json::object())}};
}

std::vector<const VolumeClaim*> missing_claims(const JobSetSpec& spec, const JobSetObserved& seen) {
  std::vector<const VolumeClaim*> out;
  for (const VolumeClaim& claim : spec.claims) {
    const bool exists =
        std::ranges::any_of(seen.claims, [&](const auto& live) { return live->key.name == claim.name; });
    if (!exists) out.push_back(&claim);
  }
  return out;
}

}  // namespace tpuslice::jobset
