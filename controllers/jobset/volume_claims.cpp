#include "controllers/jobset/volume_claims.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

Json build_claim(const JobSetSpec& spec, const VolumeClaim& claim) {
  Json metadata = {{"name", claim.name}, {"namespace", spec.key.namespace_name}};
  metadata["labels"] = string_map_at(*claim.claim_template, {"metadata", "labels"});
  metadata["labels"][std::string(tpu::kJobSetName)] = spec.key.name;
  const StringMap annotations = string_map_at(*claim.claim_template, {"metadata", "annotations"});
  if (!annotations.empty()) metadata["annotations"] = annotations;
  if (!claim.retained) metadata["ownerReferences"] = Json::array({spec.owner.to_json()});
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", std::move(metadata)},
          {"spec", claim.claim_template->value("spec", Json::object())}};
}

}  // namespace

void plan_claims(const JobSetObserved& seen, Changes& changes) {
  for (const VolumeClaim& claim : changes.spec.claims) {
    const bool there = std::ranges::any_of(seen.claims, [&](const auto& live) { return live->key.name == claim.name; });
    if (there) continue;
    runtime::Action action = runtime::Action::create(kVolumeClaims, Object(build_claim(changes.spec, claim)));
    action.failure_reason = kClaimCreationFailed;
    changes.event(runtime::EventType::kWarning, kClaimCreationFailed,
                  fmt::format("Failed to create persistent volume claim {}", action.key.to_string()), action.key);
    changes.reasons.push_back(fmt::format("volume claim {} is missing: creating it", claim.name));
    changes.resources.push_back(std::move(action));
  }
}

}  // namespace tpuslice::jobset
