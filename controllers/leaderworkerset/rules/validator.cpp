#include "controllers/leaderworkerset/rules/validator.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/validation_names.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/validator_parts.h"
#include "tpu/labels.h"
#include "tpu/rules/limits.h"

namespace tpuslice::rules {
namespace {

constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kGeneratedSuffix = 5;  // Characters that the API server appends to generateName.
constexpr std::size_t kRevisionSuffix = 11;  // "-" and the hash of a StatefulSet's revision.

/// The name, followed by `suffix` characters, must fit into the labels derived from it.
///
/// The label controller-revision-hash of a worker is "<set>-<group>-<10 characters>", that of a leader
/// "<set>-<10 characters>". The host name of a worker, "<set>-<group>-<worker>", is never longer: an int32 has no more
/// than 10 digits.
void check_name_length(const std::string& path, const std::string& name, std::size_t suffix,
                       const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  const int last = std::max(spec.replicas + spec.rollout.max_surge, 1) - 1;
  const std::size_t digits = spec.group.size > 1 ? std::to_string(last).size() : 0;
  const std::size_t max_length = kMaxLabel - kRevisionSuffix - (digits == 0 ? 0 : digits + 1) - suffix;
  if (name.size() <= max_length) return;
  const std::string label =
      digits == 0 ? "<name>-<10 characters>"
                  : fmt::format("<name>-<group, {} digit{}>-<10 characters>", digits, digits == 1 ? "" : "s");
  errors.push_back(invalid_value(path, name,
                                 fmt::format("must be no more than {} characters: pods have the label "
                                             "controller-revision-hash: {} of no more than {}",
                                             max_length, label, kMaxLabel),
                                 kKubernetesRule));
}

void add_invalid(const std::string& path, const Json& found, const ErrorMessages& details, std::string_view rule,
                 FieldErrors& errors) {
  for (const std::string& detail : details) errors.push_back(invalid_value(path, found, detail, rule));
}

/// An optional number from `min` to `max`. The maximum is ours, lower than upstream's.
void check_range(const Json& set, std::initializer_list<std::string_view> path, std::string_view text, std::int64_t min,
                 std::int64_t max, FieldErrors& errors) {
  const Json* found = find_set(set, path);
  if (found == nullptr) return;
  const auto number = int32_at(set, path);
  if (number && *number >= min && *number <= max) return;
  errors.push_back(invalid_value(std::string(text), *found,
                                 fmt::format("must be between {} and {}, inclusive", min, max),
                                 number && *number > max ? kOurRule : kLeaderWorkerSetRule));
}

/// Source: upstream's webhook. The leader is one of the pods of the first subgroup, or an extra one.
void check_subgroup_size(const GroupTemplate& group, FieldErrors& errors) {
  const std::int64_t subgroup = group.subgroups->size;
  const auto refuse = [&](std::string detail) {
    errors.push_back(invalid_value(std::string(kLwsSubgroupPath), subgroup, std::move(detail), kLeaderWorkerSetRule));
  };
  if (subgroup > group.size) {
    refuse(fmt::format("must be no more than the group's size, {}", group.size));
    return;
  }
  const std::int64_t below = (group.size - 1) / subgroup * subgroup;  // Workers in whole subgroup.
  if ((group.size - 1) % subgroup == 0) return;
  if (group.subgroups->leader_excluded) {
    refuse(fmt::format("must divide the {} workers of a group whose leader is excluded: set size: {} or {}",
                       group.size - 1, below + 1, below + subgroup + 1));
  } else if (group.size % subgroup != 0) {
    refuse(fmt::format("must divide the group's size, {}, or its number of workers: set size: {}, {} or {}", group.size,
                       below + 1, below + subgroup, below + subgroup + 1));
  }
}

void check_exclusive_keys(const Json& set, const GroupTemplate& group, FieldErrors& errors) {
  for (const std::string_view annotation :
       {leaderworkerset::kExclusiveTopology, leaderworkerset::kSubgroupExclusiveTopology}) {
    const Json* key = find_set(set, {"metadata", "annotations", annotation});
    if (key == nullptr) continue;
    const std::string path = fmt::format("metadata.annotations[{}]", annotation);
    // Source: Kubernetes' validation of the affinity terms that the annotation becomes.
    add_invalid(path, *key, check_label_key(key->is_string() ? key->get<std::string>() : ""), kKubernetesRule, errors);
    if (annotation == leaderworkerset::kSubgroupExclusiveTopology && !group.subgroups) {
      errors.push_back(invalid_value(path, *key,
                                     "requires subgroups: set spec.leaderWorkerTemplate.subGroupPolicy, or use "
                                     "leaderworkerset.sigs.k8s.io/exclusive-topology",
                                     kLeaderWorkerSetRule));
    }
  }
}

/// spec.leaderWorkerTemplate.maxGroupRestarts.
void check_max_restarts(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  constexpr std::string_view kPath = "spec.leaderWorkerTemplate.maxGroupRestarts";
  const Json* const found = find_set(set, {"spec", "leaderWorkerTemplate", "maxGroupRestarts"});
  if (found == nullptr) return;
  const std::size_t before = errors.size();
  check_range(set, {"spec", "leaderWorkerTemplate", "maxGroupRestarts"}, kPath, 0,
              std::numeric_limits<std::int32_t>::max(), errors);
  if (errors.size() > before) return;
  if (spec.restarts == leaderworkerset::RestartPolicy::kNone) {
    errors.push_back(invalid_value(std::string(kPath), *found,
                                   "groups are not restarted: set restartPolicy to RecreateGroupOnPodRestart or "
                                   "RecreateGroupAfterStart, or remove the field",
                                   kLeaderWorkerSetRule));
  }
  const auto annotation = spec.annotations.find(leaderworkerset::kMaxRestarts);
  if (annotation == spec.annotations.end() || parse_count(annotation->second) == spec.max_group_restarts) return;
  errors.push_back(invalid_value(std::string(kPath), *found,
                                 fmt::format("the annotation {} is {}: remove one of them, or make them equal",
                                             leaderworkerset::kMaxRestarts, Json(annotation->second.str()).dump()),
                                 kOurRule));
}

/// All errors of `set`, regardless of the stored object.
void check_set(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  check_lws_name(set, spec, errors);
  check_lws_schema(set, spec.group, errors);
  check_lws_counts(set, spec, errors);
  check_max_restarts(set, spec, errors);
  check_lws_rollout(set, errors);
  check_lws_slices(spec, errors);
}

/// Whether the limits of a rolling update are those of the stored set.
bool has_same_limits(const Json& set, const Json& old) {
  const auto limits = [](const Json& each) {
    return find_set(each, {"spec", "rolloutStrategy", "rollingUpdateConfiguration"});
  };
  const Json* const now = limits(set);
  const Json* const before = limits(old);
  return now == nullptr || before == nullptr ? now == before : *now == *before;
}

}  // namespace

void check_lws_name(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  const std::string name = string_at(set, {"metadata", "name"});
  if (!name.empty()) {
    add_invalid("metadata.name", name, check_dns1035_label(name), kLeaderWorkerSetRule, errors);
    check_name_length("metadata.name", name, 0, spec, errors);
    return;
  }
  const std::string base = string_at(set, {"metadata", "generateName"});
  if (base.empty()) {
    errors.push_back(required_value("metadata.name", "name or generateName is required", kLeaderWorkerSetRule));
    return;
  }
  std::string masked = base;  // A '-' at the end is followed by a letter or a digit.
  if (masked.size() > 1 && masked.back() == '-') masked.back() = 'a';
  add_invalid("metadata.generateName", base, check_dns1035_label(masked), kLeaderWorkerSetRule, errors);
  check_name_length("metadata.generateName", base, kGeneratedSuffix, spec, errors);
}

void check_lws_counts(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  check_exclusive_keys(set, spec.group, errors);
  check_range(set, {"spec", "replicas"}, "spec.replicas", 0, rules::kMaxChildren, errors);
  check_range(set, {"spec", "leaderWorkerTemplate", "size"}, kLwsSizePath, 1, rules::kMaxPods, errors);
  const std::int64_t size = spec.group.size;
  if (size <= rules::kMaxPods && spec.replicas * size > rules::kMaxPods) {
    errors.push_back(invalid_value("spec.replicas", spec.replicas,
                                   fmt::format("must be no more than {}: groups of {} pods would be {} pods, the "
                                               "maximum is {}",
                                               rules::kMaxPods / size, size, spec.replicas * size, rules::kMaxPods),
                                   kOurRule));
  }
  const Json* policy = find_set(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy"});
  if (policy == nullptr || !policy->is_object()) return;
  if (find_set(*policy, {"subGroupSize"}) == nullptr) {
    errors.push_back(required_value(std::string(kLwsSubgroupPath), "subgroups need a size", kLeaderWorkerSetRule));
    return;
  }
  const std::size_t before = errors.size();
  check_range(*policy, {"subGroupSize"}, kLwsSubgroupPath, 1, rules::kMaxPods, errors);
  if (errors.size() == before) check_subgroup_size(spec.group, errors);
}

FieldErrors validate_stored_leaderworkerset(const Typed<LeaderWorkerSetSpec>& set) {
  FieldErrors errors;
  check_set(set.json(), set.spec(), errors);
  return errors;
}

FieldErrors validate_leaderworkerset(const Json& set, const Json* old) {
  // The garbage collector must be able to remove finalizers, also of invalid sets that were stored without a webhook.
  if (old != nullptr && find_set(set, {"metadata", "deletionTimestamp"}) != nullptr) return {};
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(set);
  FieldCheck check_stored;
  if (old != nullptr) {
    check_stored = [&](FieldErrors& before) {
      const LeaderWorkerSetSpec old_spec = LeaderWorkerSetSpec::read(*old);
      FieldErrors of_set([&](FieldError&& error) {
        if (error.rule != kLeaderWorkerSetRule) before.push_back(std::move(error));
      });
      check_set(*old, old_spec, of_set);
      // The scale subresource, which is not admitted, may have caused it.
      check_lws_rollout_progress(*old, old_spec, before);
    };
  }
  const auto check = [&](FieldErrors& errors) {
    check_set(set, spec, errors);
    // The replicas alone may change to where a percentage is 0, as by the scale subresource, which is not admitted, and
    // in the steps of a rollout of a DisaggregatedSet.
    if (old == nullptr || !has_same_limits(set, *old)) check_lws_rollout_progress(set, spec, errors);
  };
  FieldErrors errors = new_errors(check, check_stored);
  if (old != nullptr) check_lws_update(set, *old, errors);
  return errors;
}

}  // namespace tpuslice::rules
