// StatefulSetClaims: the volume claims of a StatefulSet's pods and their owners.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim {

struct ClaimName {
  std::string volume;  ///< Volume of the pod: the name of the template.
  std::string name;    ///< Name of the claim: "<template>-<set>-<ordinal>".
};

/// One for each of spec.volumeClaimTemplates.
[[nodiscard]] std::vector<ClaimName> claim_names(const Json& set, int ordinal);
/// The claims themselves, in the same order.
[[nodiscard]] std::vector<Json> make_claims(const Json& set, int ordinal);

// spec.persistentVolumeClaimRetentionPolicy is implemented with owner references and the garbage collector: with
// whenDeleted the set owns the claim; with whenScaled its pod does, once the pod is to be deleted.

/// Whether the claim is owned by an earlier pod of the same name: it must be deleted before the pod is created.
[[nodiscard]] bool claim_stale(const Json& set, const Json& claim, const Json& pod);
/// Whether the claim has the desired owners. True for a claim of an earlier set or pod, or with another
/// controller owner, which are not changed.
[[nodiscard]] bool owners_match(const Json& set, const Json& claim, const Json& pod);
/// Whether a claim that the set should delete has another controller owner.
[[nodiscard]] bool has_other_controller(const Json& set, const Json& claim, const Json& pod);
void correct_owners(const Json& set, Json& claim, const Json& pod);

}  // namespace tpuslice::sim
