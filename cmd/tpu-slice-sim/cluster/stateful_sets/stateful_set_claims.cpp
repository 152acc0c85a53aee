#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_claims.h"

#include <algorithm>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/owners.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_pods.h"

namespace tpuslice::sim {

namespace {

bool deletes(const Json& set, const char* when) {
  return string_at(set, {"spec", "persistentVolumeClaimRetentionPolicy", when}) == "Delete";
}

/// Matches by kind and name, not uid.
bool names(const Json& reference, const Json& object) {
  return string_at(reference, {"apiVersion"}) == string_at(object, {"apiVersion"}) &&
         string_at(reference, {"kind"}) == string_at(object, {"kind"}) &&
         string_at(reference, {"name"}) == string_at(object, {"metadata", "name"});
}

std::string uid_of(const Json& object) { return string_at(object, {"metadata", "uid"}); }

/// Whether the owner is an earlier object of that kind and name.
bool left_behind(const Json& claim, const Json& object) {
  for (const Json& owner : array_at(claim, {"metadata", "ownerReferences"})) {
    if (names(owner, object)) return string_at(owner, {"uid"}) != uid_of(object);
  }
  return false;
}

struct Owners {
  bool set = false;
  bool pod = false;
  friend bool operator==(const Owners&, const Owners&) = default;
};

Owners wanted_owners(const Json& set, const Json& pod) {
  const bool scaled_down = !in_range(set, ordinal_of(set, pod).value_or(-1));
  const bool to_pod = deletes(set, "whenScaled") && scaled_down;
  return {.set = deletes(set, "whenDeleted") && !to_pod, .pod = to_pod};
}

}  // namespace

std::vector<ClaimName> claim_names(const Json& set, int ordinal) {
  std::vector<ClaimName> out;
  for (const Json& claim : array_at(set, {"spec", "volumeClaimTemplates"})) {
    const std::string volume = string_at(claim, {"metadata", "name"});
    out.push_back({volume, fmt::format("{}-{}-{}", volume, string_at(set, {"metadata", "name"}), ordinal)});
  }
  return out;
}

std::vector<Json> make_claims(const Json& set, int ordinal) {
  std::vector<Json> out;
  const std::vector<ClaimName> known = claim_names(set, ordinal);
  const Json& templates = array_at(set, {"spec", "volumeClaimTemplates"});
  for (std::size_t i = 0; i < known.size(); ++i) {
    Json claim = templates[i];
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
    claim["metadata"]["name"] = known[i].name;
    claim["metadata"]["namespace"] = string_at(set, {"metadata", "namespace"});
    for (const auto& [label, value] : string_map_at(set, {"spec", "selector", "matchLabels"})) {
      claim["metadata"]["labels"][label] = value;
    }
    out.push_back(std::move(claim));
  }
  return out;
}

bool claim_stale(const Json& set, const Json& claim, const Json& pod) {
  return deletes(set, "whenScaled") && left_behind(claim, pod);
}

bool has_other_controller(const Json& set, const Json& claim, const Json& pod) {
  if (!deletes(set, "whenScaled") && !deletes(set, "whenDeleted")) return false;
  const Json& owners = array_at(claim, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(), [&](const Json& owner) {
    for (const Json* own : {&set, &pod}) {
      if (names(owner, *own)) return string_at(owner, {"uid"}) != uid_of(*own);
    }
    return bool_at(owner, {"controller"});
  });
}

bool owners_match(const Json& set, const Json& claim, const Json& pod) {
  if (left_behind(claim, set) || left_behind(claim, pod)) return true;
  const Owners found{owned_by(claim, uid_of(set)), owned_by(claim, uid_of(pod))};
  if (has_other_controller(set, claim, pod)) return found == Owners{};
  for (const Json& owner : array_at(claim, {"metadata", "ownerReferences"})) {
    const std::string uid = string_at(owner, {"uid"});
    if ((uid == uid_of(set) || uid == uid_of(pod)) && !bool_at(owner, {"controller"})) return false;
  }
  return found == wanted_owners(set, pod);
}

void correct_owners(const Json& set, Json& claim, const Json& pod) {
  const bool foreign = has_other_controller(set, claim, pod);
  Json kept = Json::array();
  for (const Json& owner : array_at(claim, {"metadata", "ownerReferences"})) {
    if (!names(owner, set) && !names(owner, pod)) kept.push_back(owner);
  }
  const Owners wanted = foreign ? Owners{} : wanted_owners(set, pod);
  if (wanted.set) kept.push_back(controller_reference(set));
  if (wanted.pod) kept.push_back(controller_reference(pod));
  if (kept.empty()) {
    claim["metadata"].erase("ownerReferences");
  } else {
    claim["metadata"]["ownerReferences"] = std::move(kept);
  }
}

}  // namespace tpuslice::sim
