// Immutable fields of a LeaderWorkerSet.
#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/normal_form.h"
#include "controllers/leaderworkerset/rules/validator_parts.h"

namespace tpuslice::rules {
namespace {

std::string print_size(const Json& size) { return size.is_number() ? size.dump() : "unset"; }

/// The claims were changed although they are immutable, so they may be restored. The controller rolls out nothing while
/// they differ from those of the groups.
bool may_restore_claims(const Json& old) {
  const Json* const healthy = find_condition(array_at(old, {"status", "conditions"}), leaderworkerset::kGroupsHealthy);
  return healthy != nullptr && string_at(*healthy, {"reason"}) == leaderworkerset::kVolumeClaimsChanged;
}

}  // namespace

void check_lws_update(const Json& set, const Json& old, FieldErrors& errors) {
  if (leaderworkerset::normal_volume_claims(set) != leaderworkerset::normal_volume_claims(old) &&
      !may_restore_claims(old)) {
    errors.push_back(forbidden("spec.leaderWorkerTemplate.volumeClaimTemplates",
                               "field is immutable, as that of a StatefulSet: create another LeaderWorkerSet",
                               kKubernetesRule));
  }
  const std::string path(kLwsSubgroupPath);
  const auto policy_of = [](const Json& json) {
    return find_set(json, {"spec", "leaderWorkerTemplate", "subGroupPolicy"});
  };
  const Json* now = policy_of(set);
  const Json* before = policy_of(old);
  const auto size_of = [](const Json& policy) {
    const Json* size = find_set(policy, {"subGroupSize"});
    return size == nullptr ? Json() : *size;
  };
  if (now != nullptr && before == nullptr) {
    errors.push_back(invalid_value(path, size_of(*now),
                                   "field is immutable, was unset: subgroups cannot be added; create another set",
                                   kLeaderWorkerSetRule));
  } else if (now == nullptr && before != nullptr) {
    errors.push_back(required_value(path, fmt::format("field is immutable, was {}", print_size(size_of(*before))),
                                    kLeaderWorkerSetRule));
  } else if (now != nullptr && size_of(*now) != size_of(*before)) {
    errors.push_back(invalid_value(path, size_of(*now),
                                   fmt::format("field is immutable, was {}", print_size(size_of(*before))),
                                   kLeaderWorkerSetRule));
  }
  const Json* network = find_set(set, {"spec", "networkConfig"});
  if (network != nullptr && network->is_object() && find_set(*network, {"subdomainPolicy"}) == nullptr) {
    errors.push_back(required_value("spec.networkConfig.subdomainPolicy",
                                    fmt::format("cannot be removed: was {}; set Shared or UniquePerReplica",
                                                string_at(old, {"spec", "networkConfig", "subdomainPolicy"}, "Shared")),
                                    kLeaderWorkerSetRule));
  }
}

}  // namespace tpuslice::rules
