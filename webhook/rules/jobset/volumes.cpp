#include <set>
#include <string>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "webhook/rules/jobset/rules.h"

namespace tpuslice::webhook {
namespace {

using Errors = FieldErrors;

constexpr std::size_t kMaxClaimNameLength = 63;

/// Whether a container of the pod template mounts `volume`.
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

/// The volume of a claim is added to pods that mount it: some container must mount it, and no other volume may have its
/// name.
void check_claim_use(const std::string& claim, const std::string& path, const JobSetSpec& spec, Errors& errors) {
  bool mounted = false;
  for (const ReplicatedJob& job : spec.jobs) {
    if (job.pod_template == nullptr) continue;
    mounted = mounted || mounts(*job.pod_template, claim);
    const Json& volumes = array_at(*job.pod_template, {"spec", "volumes"});
    for (std::size_t index = 0; index < volumes.size(); ++index) {
      if (string_at(volumes[index], {"name"}) != claim) continue;
      errors.push_back(invalid_value(fmt::format("{}.spec.volumes[{}].name", job.job_path("template"), index), claim,
                                     fmt::format("is the name of the volume of {} too; remove one of them", path),
                                     kJobSetRule));
    }
  }
  if (mounted) return;
  errors.push_back(invalid_value(
      path, claim, "no container mounts it; add a volumeMount of this name to a replicated job", kJobSetRule));
}

void check_claim(const Json& claim, const std::string& path, const std::string& jobset, const JobSetSpec& spec,
                 std::set<std::string>& names, Errors& errors) {
  const std::string name = string_at(claim, {"metadata", "name"});
  const std::string name_path = path + ".metadata.name";
  if (const std::string space = string_at(claim, {"metadata", "namespace"}); !space.empty()) {
    errors.push_back(
        forbidden(path + ".metadata.namespace", "claims are created in the namespace of the JobSet", kJobSetRule));
  }
  if (name.empty()) {
    errors.push_back(required_value(name_path, "volume mounts refer to the claim by it", kJobSetRule));
    return;
  }
  if (!names.insert(name).second) {
    errors.push_back(duplicate_value(name_path, name, kJobSetRule, "an earlier claim has this name"));
    return;
  }
  for (const std::string& detail : check_dns1123_subdomain(name)) {
    errors.push_back(invalid_value(name_path, name, detail, kJobSetRule));
  }
  if (const std::string full = fmt::format("{}-{}", name, jobset); full.size() > kMaxClaimNameLength) {
    errors.push_back(
        invalid_value(name_path, name,
                      fmt::format("claim {} must be no more than {} characters, has {}: shorten this name "
                                  "or that of the JobSet by {}",
                                  clip(full, 100), kMaxClaimNameLength, full.size(), full.size() - kMaxClaimNameLength),
                      kJobSetRule));
  }
  check_claim_use(name, name_path, spec, errors);
}

}  // namespace

void check_jobset_volumes(const Json& jobset, const JobSetSpec& spec, Errors& errors) {
  const std::string name = longest_jobset_name(jobset);
  std::set<std::string> names;
  const Json& policies = array_at(jobset, {"spec", "volumeClaimPolicies"});
  for (std::size_t index = 0; index < policies.size(); ++index) {
    const Json& claims = array_at(policies[index], {"templates"});
    for (std::size_t position = 0; position < claims.size(); ++position) {
      if (!claims[position].is_object()) continue;
      check_claim(claims[position], fmt::format("spec.volumeClaimPolicies[{}].templates[{}]", index, position), name,
                  spec, names, errors);
    }
  }
}

}  // namespace tpuslice::webhook
