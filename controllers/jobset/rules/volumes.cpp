#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "controllers/jobset/rules/validator_parts.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

constexpr std::size_t kMaxClaimNameLength = 63;

/// The places where the pod templates use the name of a claim.
struct ClaimUse {
  bool is_mounted = false;
  std::vector<std::pair<const ReplicatedJob*, std::size_t>> volumes;  ///< Those of its name: job and index.
};
/// Uses by the name of the claim.
using ClaimUses = std::map<std::string, ClaimUse, std::less<>>;

/// The use of the claim that is named like `object`, a mount or a volume; null if there is none.
ClaimUse* use_of(const Json& object, ClaimUses& uses) {
  const Json* name = find_set(object, {"name"});
  if (name == nullptr || !name->is_string()) return nullptr;
  const auto found = uses.find(name->get_ref<const std::string&>());
  return found == uses.end() ? nullptr : &found->second;
}

void find_mounts(const Json& pod, ClaimUses& uses) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const Json& container : array_at(pod, {"spec", list})) {
      for (const Json& mount : array_at(container, {"volumeMounts"})) {
        if (ClaimUse* use = use_of(mount, uses)) use->is_mounted = true;
      }
    }
  }
}

/// Finds the uses of all claims at once: an object can have thousands of claims and of mounts.
ClaimUses find_uses(const Json& policies, const JobSetSpec& spec) {
  ClaimUses uses;
  for (const Json& policy : policies) {
    for (const Json& claim : array_at(policy, {"templates"})) uses.try_emplace(string_at(claim, {"metadata", "name"}));
  }
  if (uses.empty()) return uses;
  for (const ReplicatedJob& job : spec.jobs) {
    if (job.pod_template == nullptr) continue;
    find_mounts(*job.pod_template, uses);
    const Json& volumes = array_at(*job.pod_template, {"spec", "volumes"});
    for (std::size_t index = 0; index < volumes.size(); ++index) {
      if (ClaimUse* use = use_of(volumes[index], uses)) use->volumes.emplace_back(&job, index);
    }
  }
  return uses;
}

/// The volume of a claim is added to pods that mount it: some container must mount it, and no other volume may have its
/// name.
void check_claim_use(const std::string& claim, const std::string& path, const ClaimUse& use, Errors& errors) {
  for (const auto& volume : use.volumes) {
    errors.add([&] {
      const auto& [job, index] = volume;
      return invalid_value(fmt::format("{}.spec.volumes[{}].name", job->job_path("template"), index), claim,
                           fmt::format("is the name of the volume of {} too; remove one of them", path), kJobSetRule);
    });
  }
  if (use.is_mounted) return;
  errors.add([&] {
    return invalid_value(path, claim, "no container mounts it; add a volumeMount of this name to a replicated job",
                         kJobSetRule);
  });
}

void check_claim(const Json& claim, const std::string& path, const std::string& jobset, const ClaimUses& uses,
                 std::set<std::string>& names, Errors& errors) {
  const std::string name = string_at(claim, {"metadata", "name"});
  const std::string name_path = path + ".metadata.name";
  if (const std::string space = string_at(claim, {"metadata", "namespace"}); !space.empty()) {
    errors.add([&] {
      return forbidden(path + ".metadata.namespace", "claims are created in the namespace of the JobSet", kJobSetRule);
    });
  }
  if (name.empty()) {
    errors.add([&] { return required_value(name_path, "volume mounts refer to the claim by it", kJobSetRule); });
    return;
  }
  if (!names.insert(name).second) {
    errors.add([&] { return duplicate_value(name_path, name, kJobSetRule, "an earlier claim has this name"); });
    return;
  }
  for (const std::string& detail : check_dns1123_subdomain(name)) {
    errors.add([&] { return invalid_value(name_path, name, detail, kJobSetRule); });
  }
  if (const std::string full = fmt::format("{}-{}", name, jobset); full.size() > kMaxClaimNameLength) {
    errors.add([&] {
      return invalid_value(
          name_path, name,
          fmt::format("claim {} must be no more than {} characters, has {}: shorten this name or that "
                      "of the JobSet by {}",
                      clip(full, 100), kMaxClaimNameLength, full.size(), full.size() - kMaxClaimNameLength),
          kJobSetRule);
    });
  }
  check_claim_use(name, name_path, uses.at(name), errors);
}

}  // namespace

void check_jobset_volumes(const Json& jobset, const JobSetSpec& spec, Errors& errors) {
  const std::string name = longest_jobset_name(jobset);
  std::set<std::string> names;
  const Json& policies = array_at(jobset, {"spec", "volumeClaimPolicies"});
  const ClaimUses uses = find_uses(policies, spec);
  for (std::size_t index = 0; index < policies.size(); ++index) {
    const Json& claims = array_at(policies[index], {"templates"});
    for (std::size_t position = 0; position < claims.size(); ++position) {
      if (!claims[position].is_object()) continue;
      check_claim(claims[position], fmt::format("spec.volumeClaimPolicies[{}].templates[{}]", index, position), name,
                  uses, names, errors);
    }
  }
}

}  // namespace tpuslice::rules
