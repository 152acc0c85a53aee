#include <set>
#include <string>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/jobset/rules.h"

namespace tpuslice::webhook {
namespace {

using Errors = std::vector<FieldError>;
using Jobs = std::vector<ReplicatedJob>;

constexpr std::size_t kLongestClaim = 63;

/// The pod template has a container that mounts `volume`.
bool mounts(const Json& pod, const std::string& volume) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const Json& container : array_at(pod, {"spec", list})) {
      for (const Json& mount : array_at(container, {"volumeMounts"})) {
        if (string_at(mount, {"name"}) == volume) return true;
      }
    }
  }
  return false;
}

/// A volume of a claim is added to the pods that mount it, so there must be one and no other of that name.
void check_claim_use(const std::string& claim, const std::string& path, const Jobs& jobs, Errors& errors) {
  bool mounted = false;
  for (const ReplicatedJob& job : jobs) {
    if (job.pod == nullptr) continue;
    mounted = mounted || mounts(*job.pod, claim);
    const Json& volumes = array_at(*job.pod, {"spec", "volumes"});
    for (std::size_t index = 0; index < volumes.size(); ++index) {
      if (string_at(volumes[index], {"name"}) != claim) continue;
      errors.push_back(invalid_value(fmt::format("{}.spec.volumes[{}].name", job.job_path("template"), index), claim,
                                     fmt::format("is the volume of {}; leave one of them out", path), kJobSetRule));
    }
  }
  if (mounted) return;
  errors.push_back(invalid_value(
      path, claim, "no container mounts it; add a volumeMount of this name to a replicated job", kJobSetRule));
}

void check_claim(const Json& claim, const std::string& path, const std::string& jobset, const Jobs& jobs,
                 std::set<std::string>& names, Errors& errors) {
  const std::string name = string_at(claim, {"metadata", "name"});
  const std::string name_path = path + ".metadata.name";
  if (const std::string space = string_at(claim, {"metadata", "namespace"}); !space.empty()) {
    errors.push_back(
        forbidden(path + ".metadata.namespace", "claims are made in the namespace of the JobSet", kJobSetRule));
  }
  if (name.empty()) {
    errors.push_back(required_value(name_path, "claims and volume mounts find each other by it", kJobSetRule));
    return;
  }
  if (!names.insert(name).second) {
    errors.push_back(invalid_value(name_path, name, "is the name of an earlier claim; names are unique", kJobSetRule));
    return;
  }
  for (const std::string& complaint : check_dns1123_subdomain(name)) {
    errors.push_back(invalid_value(name_path, name, complaint, kJobSetRule));
  }
  if (const std::string full = fmt::format("{}-{}", name, jobset); full.size() > kLongestClaim) {
    errors.push_back(
        invalid_value(name_path, name,
                      fmt::format("claim {} has {} characters, at most {} are allowed: shorten this name "
                                  "or that of the JobSet by {}",
                                  clip(full, 100), full.size(), kLongestClaim, full.size() - kLongestClaim),
                      kJobSetRule));
  }
  check_claim_use(name, name_path, jobs, errors);
}

}  // namespace

void check_jobset_volumes(const Json& jobset, const Jobs& jobs, Errors& errors) {
  const std::string name = longest_jobset_name(jobset);
  std::set<std::string> names;
  const Json& policies = array_at(jobset, {"spec", "volumeClaimPolicies"});
  for (std::size_t index = 0; index < policies.size(); ++index) {
    const Json& claims = array_at(policies[index], {"templates"});
    for (std::size_t position = 0; position < claims.size(); ++position) {
      if (!claims[position].is_object()) continue;
      check_claim(claims[position], fmt::format("spec.volumeClaimPolicies[{}].templates[{}]", index, position), name,
                  jobs, names, errors);
    }
  }
}

}  // namespace tpuslice::webhook
