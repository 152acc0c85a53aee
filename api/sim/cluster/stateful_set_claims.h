// StatefulSetClaims: the volume claims that a StatefulSet makes for each of its pods, and whom they belong to.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::sim {

struct ClaimName {
  std::string volume;  ///< Of the pod: the name of the template.
  std::string name;    ///< Of the claim: "<template>-<set>-<ordinal>".
};

/// One for each of spec.volumeClaimTemplates.
[[nodiscard]] std::vector<ClaimName> claim_names(const Json& set, int ordinal);
/// The claims themselves, in the same order.
[[nodiscard]] std::vector<Json> make_claims(const Json& set, int ordinal);

// spec.persistentVolumeClaimRetentionPolicy is kept by owner references, and carried out by the garbage collector: with
// whenDeleted a claim belongs to the set, with whenScaled to its pod as soon as that has no place any more.

/// Whether the claim is of a pod of the same name that is gone: it has to go before the new one comes.
[[nodiscard]] bool claim_stale(const Json& set, const Json& claim, const Json& pod);
/// Whether the claim belongs to whom it should. One that was left by an earlier set or pod, or that something else
/// controls, is let alone.
[[nodiscard]] bool owners_match(const Json& set, const Json& claim, const Json& pod);
/// Whether something else controls a claim that the set is to dispose of.
[[nodiscard]] bool controlled_elsewhere(const Json& set, const Json& claim, const Json& pod);
void correct_owners(const Json& set, Json& claim, const Json& pod);

}  // namespace tpuslice::sim
