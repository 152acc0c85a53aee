#include "webhook/rules/leaderworkerset/validator.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "tpu/labels.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/leaderworkerset/rules.h"

namespace tpuslice::webhook {
namespace {

constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kGeneratedSuffix = 5;  // Characters that the API server appends to generateName.
constexpr std::size_t kRevisionSuffix = 11;  // "-" and the hash of a StatefulSet's revision.
constexpr std::int64_t kMostPods = std::numeric_limits<std::int32_t>::max();

/// `length` characters leave room for what is made of the name.
///
/// The label controller-revision-hash of a worker holds "<set>-<group>-<10 characters>", that of a leader
/// "<set>-<10 characters>". The host name of a worker, "<set>-<group>-<worker>", is never longer: an int32 has 10
/// digits at most.
void check_headroom(const std::string& path, const std::string& name, std::size_t length, const Json& set,
                    const LwsGroups& groups, std::vector<FieldError>& errors) {
  const std::int64_t last = std::max<std::int64_t>(groups.replicas + read_lws_rollout(set, groups).max_surge, 1) - 1;
  const std::size_t digits = groups.size > 1 ? std::to_string(last).size() : 0;
  const std::size_t most = kLongestLabel - kRevisionSuffix - (digits == 0 ? 0 : digits + 1);
  if (length <= most) return;
  const std::string label =
      digits == 0 ? "<name>-<10 characters>"
                  : fmt::format("<name>-<group, {} digit{}>-<10 characters>", digits, digits == 1 ? "" : "s");
  errors.push_back(
      invalid_value(path, name,
                    fmt::format("{} {} characters, at most {} fit: pods are labelled "
                                "controller-revision-hash: {}, and a label has at most {}",
                                length == name.size() ? "has" : "makes names of", length, most, label, kLongestLabel),
                    kKubernetesRule));
}

void check_complaints(const std::string& path, const Json& found, const Complaints& complaints, std::string_view rule,
                      std::vector<FieldError>& errors) {
  for (const std::string& complaint : complaints) errors.push_back(invalid_value(path, found, complaint, rule));
}

/// A field that counts something; absent is fine.
void check_count(const Json& set, std::initializer_list<std::string_view> path, std::string_view text,
                 std::int64_t least, std::int64_t most, std::vector<FieldError>& errors) {
  const Json* found = find_set(set, path);
  if (found == nullptr) return;
  const auto number = int_at(set, path);
  if (number && *number >= least && *number <= most) return;
  errors.push_back(invalid_value(std::string(text), *found,
                                 fmt::format("must be a whole number from {} to {}", least, most),
                                 kLeaderWorkerSetRule));
}

/// Source: upstream's webhook. Either the leader is one pod of the first subgroup, or one more.
void check_subgroup_size(const LwsGroups& groups, std::vector<FieldError>& errors) {
  const std::int64_t subgroup = groups.subgroups->size;
  const auto refuse = [&](std::string detail) {
    errors.push_back(invalid_value(std::string(kLwsSubgroupPath), subgroup, std::move(detail), kLeaderWorkerSetRule));
  };
  if (subgroup > groups.size) {
    refuse(fmt::format("must be at most the group's size, {}", groups.size));
    return;
  }
  const std::int64_t below = (groups.size - 1) / subgroup * subgroup;  // Workers in whole subgroups.
  if ((groups.size - 1) % subgroup == 0) return;
  if (groups.subgroups->leader_excluded) {
    refuse(fmt::format("must divide the {} workers of a group whose leader is excluded: set size: {} or {}",
                       groups.size - 1, below + 1, below + subgroup + 1));
  } else if (groups.size % subgroup != 0) {
    refuse(fmt::format("must divide the group's size, {}, or its number of workers: set size: {}, {} or {}",
                       groups.size, below + 1, below + subgroup, below + subgroup + 1));
  }
}

void check_exclusive_keys(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors) {
  for (const std::string_view annotation : {tpu::kLwsTopologyKey, tpu::kLwsSubgroupTopologyKey}) {
    const Json* key = find_set(set, {"metadata", "annotations", annotation});
    if (key == nullptr) continue;
    const std::string path = fmt::format("metadata.annotations[{}]", annotation);
    // Source: Kubernetes' validation of the affinity terms that the annotation becomes.
    check_complaints(path, *key, check_label_key(key->is_string() ? key->get<std::string>() : ""), kKubernetesRule,
                     errors);
    if (annotation == tpu::kLwsSubgroupTopologyKey && !groups.subgroups) {
      errors.push_back(invalid_value(path, *key,
                                     "needs subgroups: set spec.leaderWorkerTemplate.subGroupPolicy, or use "
                                     "leaderworkerset.sigs.k8s.io/exclusive-topology",
                                     kLeaderWorkerSetRule));
    }
  }
}

/// All that is wrong with `set`, whatever is stored.
std::vector<FieldError> check_set(const Json& set) {
  std::vector<FieldError> errors;
  const LwsGroups groups = read_lws_groups(set);
  check_lws_name(set, groups, errors);
  check_lws_schema(set, groups, errors);
  check_lws_counts(set, groups, errors);
  check_lws_rollout(set, groups, errors);
  check_lws_slices(groups, errors);
  return errors;
}

}  // namespace

void check_lws_name(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors) {
  const std::string name = string_at(set, {"metadata", "name"});
  if (!name.empty()) {
    check_complaints("metadata.name", name, check_dns1035_label(name), kLeaderWorkerSetRule, errors);
    check_headroom("metadata.name", name, name.size(), set, groups, errors);
    return;
  }
  const std::string base = string_at(set, {"metadata", "generateName"});
  if (base.empty()) {
    errors.push_back(required_value("metadata.name", "a set has a name, or a generateName", kLeaderWorkerSetRule));
    return;
  }
  std::string masked = base;  // What follows a '-' at its end is a letter or a digit.
  if (masked.size() > 1 && masked.back() == '-') masked.back() = 'a';
  check_complaints("metadata.generateName", base, check_dns1035_label(masked), kLeaderWorkerSetRule, errors);
  check_headroom("metadata.generateName", base, std::min(base.size() + kGeneratedSuffix, kLongestLabel), set, groups,
                 errors);
}

void check_lws_counts(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors) {
  check_exclusive_keys(set, groups, errors);
  check_count(set, {"spec", "replicas"}, "spec.replicas", 0, kMostLwsReplicas, errors);
  check_count(set, {"spec", "leaderWorkerTemplate", "size"}, kLwsSizePath, 1, kMostPods, errors);
  if (groups.replicas * groups.size > kMostPods) {
    errors.push_back(
        invalid_value("spec.replicas", groups.replicas,
                      fmt::format("groups of {} pods are {} pods; at most {} groups make no more than {}", groups.size,
                                  groups.replicas * groups.size, kMostPods / groups.size, kMostPods),
                      kLeaderWorkerSetRule));
  }
  const Json* policy = find_set(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy"});
  if (policy == nullptr || !policy->is_object()) return;
  if (find_set(*policy, {"subGroupSize"}) == nullptr) {
    errors.push_back(required_value(std::string(kLwsSubgroupPath), "subgroups have a size", kLeaderWorkerSetRule));
    return;
  }
  const std::size_t before = errors.size();
  check_count(*policy, {"subGroupSize"}, kLwsSubgroupPath, 1, kMostPods, errors);
  if (errors.size() == before) check_subgroup_size(groups, errors);
}

std::vector<FieldError> validate_leaderworkerset(const Json& set, const Json* old) {
  std::vector<FieldError> errors = check_set(set);
  if (old == nullptr) return errors;
  std::vector<FieldError> before = check_set(*old);
  std::erase_if(before, [](const FieldError& error) { return error.rule == kLeaderWorkerSetRule; });
  errors = new_errors(std::move(errors), before);
  check_lws_update(set, *old, errors);
  return errors;
}

}  // namespace tpuslice::webhook
