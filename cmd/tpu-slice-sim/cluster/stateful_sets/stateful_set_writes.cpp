// StatefulSetSync: writes of pods and claims, and their events.
#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/events.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_claims.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_pods.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_sync.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kClaims = "persistentvolumeclaims";

std::string pod_name(const Json& pod) { return string_at(pod, {"metadata", "name"}); }

void join(std::string& text, const std::string& more) { text += (text.empty() ? "" : ", ") + more; }

}  // namespace

bool StatefulSetSync::create(const Json& pod) {
  std::string why;
  if (!create_claims(pod, why)) return refuse("Create", pod, why);
  const auto created =
      registry_.create(*registry_.resources().find_id("pods"), Object(pod), as_controller("statefulset-controller"));
  if (!created && created.error().code() == ErrorCode::kAlreadyExists) {
    outcome_.failed = true;
    return false;
  }
  outcome_.wrote |= created.ok();
  if (!set_claim_owners(pod, why)) return refuse("Update", pod, why);
  if (!created) return refuse("Create", pod, created.error().message());
  add_event("Normal", "SuccessfulCreate",
            fmt::format("Create Pod {} in StatefulSet {} successful", pod_name(pod), name_));
  return true;
}

bool StatefulSetSync::update(const Json& pod) {
  std::string why;
  if (!volumes_match(set_, pod) && !create_claims(pod, why)) return refuse("Update", pod, why);
  if (!claims_match(pod) && !set_claim_owners(pod, why)) return refuse("Update", pod, why);
  const std::string uid = string_at(pod, {"metadata", "uid"});
  const auto written = registry_.modify(
      *registry_.resources().find_id("pods"), Object(pod).key(), {},
      [&](Json& json) -> Status {
        if (string_at(json, {"metadata", "uid"}) != uid) return Error::not_found("pod {} does not exist", uid);
        if (!identity_matches(json)) correct_identity(set_, json);
        if (!volumes_match(set_, json)) correct_volumes(set_, json);
        return {};
      },
      as_controller("statefulset-controller"));
  if (!written) return refuse("Update", pod, written.error().message());
  outcome_.wrote = true;
  add_event("Normal", "SuccessfulUpdate",
            fmt::format("Update Pod {} in StatefulSet {} successful", pod_name(pod), name_));
  return true;
}

bool StatefulSetSync::remove(const Json& pod) {
  DeleteOptions options;
  options.write = as_controller("statefulset-controller");
  const auto removed = registry_.remove(*registry_.resources().find_id("pods"), Object(pod).key(), options);
  if (!removed && removed.error().code() != ErrorCode::kNotFound) {
    return refuse("Delete", pod, removed.error().message());
  }
  outcome_.wrote = true;
  add_event("Normal", "SuccessfulDelete",
            fmt::format("Delete Pod {} in StatefulSet {} successful", pod_name(pod), name_));
  return true;
}

bool StatefulSetSync::create_claims(const Json& pod, std::string& why) {
  bool all = true;
  for (const Json& claim : make_claims(set_, *ordinal_of(set_, pod))) all &= create_claim(pod, claim, why);
  return all;
}

bool StatefulSetSync::create_claim(const Json& pod, const Json& claim, std::string& why) {
  const std::string name = string_at(claim, {"metadata", "name"});
  if (const JsonPtr known = claim_of(name); known != nullptr) {
    if (!terminating(*known)) return true;
    join(why, fmt::format("pvc {} is being deleted", name));
    return false;
  }
  const auto created =
      registry_.create(*registry_.resources().find_id(kClaims), Object(claim), as_controller("statefulset-controller"));
  if (created) {
    outcome_.wrote = true;
    add_event("Normal", "SuccessfulCreate",
              fmt::format("Create Claim {} Pod {} in StatefulSet {} success", name, pod_name(pod), name_));
    return true;
  }
  const std::string& message = created.error().message();
  join(why, fmt::format("failed to create PVC {}: {}", name, message));
  if (created.error().code() != ErrorCode::kAlreadyExists) {
    add_event("Warning", "FailedCreate",
              fmt::format("Create Claim {} for Pod {} in StatefulSet {} failed error: {}", name, pod_name(pod), name_,
                          message));
  }
  return false;
}

/// Sets the owner of the claims: the set, the pod or none.
bool StatefulSetSync::set_claim_owners(const Json& pod, std::string& why) {
  for (const ClaimName& claim : claim_names(set_, *ordinal_of(set_, pod))) {
    const JsonPtr known = claim_of(claim.name);
    if (known == nullptr) continue;
    if (has_other_controller(set_, *known, pod)) {
      add_event(
          "Warning", "ConflictingController",
          fmt::format("PersistentVolumeClaim {} has a conflicting OwnerReference that acts as a manging controller, "
                      "the retention policy is ignored for this claim",
                      claim.name));
    }
    if (owners_match(set_, *known, pod)) continue;
    const auto written = registry_.modify(
        *registry_.resources().find_id(kClaims), Object(*known).key(), {},
        [&](Json& json) -> Status {
          correct_owners(set_, json, pod);
          return {};
        },
        as_controller("statefulset-controller"));
    if (!written) {
      why = fmt::format("could not update claim {} for delete policy ownerRefs: {}", claim.name,
                        written.error().message());
      return false;
    }
    outcome_.wrote = true;
  }
  return true;
}

bool StatefulSetSync::claims_match(const Json& pod) const {
  for (const ClaimName& claim : claim_names(set_, *ordinal_of(set_, pod))) {
    const JsonPtr known = claim_of(claim.name);
    if (known != nullptr && !owners_match(set_, *known, pod)) return false;
  }
  return true;
}

bool StatefulSetSync::claims_stale(const Json& pod) const {
  for (const ClaimName& claim : claim_names(set_, *ordinal_of(set_, pod))) {
    const JsonPtr known = claim_of(claim.name);
    if (known != nullptr && claim_stale(set_, *known, pod)) return true;
  }
  return false;
}

JsonPtr StatefulSetSync::claim_of(const std::string& name) const {
  return registry_.storage().get(kClaims, {string_at(set_, {"metadata", "namespace"}), name});
}

bool StatefulSetSync::refuse(const char* verb, const Json& pod, const std::string& why) {
  outcome_.failed = true;
  add_event("Warning", fmt::format("Failed{}", verb),
            fmt::format("{} Pod {} in StatefulSet {} failed error: {}", verb, pod_name(pod), name_, why));
  return false;
}

void StatefulSetSync::add_event(const char* type, const std::string& reason, const std::string& message) {
  record_event(registry_, {"statefulset-controller", "StatefulSet", &set_, type, reason, message});
}

}  // namespace tpuslice::sim
