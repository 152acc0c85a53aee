#include "controllers/leaderworkerset/rules/spec.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "tpu/rules/limits.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::int64_t kHundredPercent = 100;

/// Upstream's webhook replaces Default with None.
RestartPolicy read_restart_policy(const Json& set, const StringMap& annotations) {
  const std::string policy = string_at(set, {"spec", "leaderWorkerTemplate", "restartPolicy"});
  if (policy == "None" || policy == "Default") return RestartPolicy::kNone;
  if (policy == "RecreateGroupAfterStart" || annotations.contains(kRecreateAfterStart)) {
    return RestartPolicy::kRecreateGroupAfterStart;
  }
  return RestartPolicy::kRecreateGroupOnPodRestart;
}

std::optional<int> read_max_restarts(const Json& set, const StringMap& annotations) {
  if (const Json* field = find_set(set, {"spec", "leaderWorkerTemplate", "maxGroupRestarts"})) {
    const auto number = int32_at(*field, {});
    return number && *number >= 0 ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }
  const auto annotation = annotations.find(kMaxRestarts);
  return annotation == annotations.end() ? std::nullopt : parse_count(annotation->second);
}

/// A size from 1; 1 if it is absent or invalid, and then `valid` becomes false.
int read_size(const Json& set, std::initializer_list<std::string_view> path, bool& valid) {
  if (find_set(set, path) == nullptr) return 1;
  const auto number = int32_at(set, path);
  if (number && *number >= 1) return static_cast<int>(*number);
  valid = false;
  return 1;
}

std::optional<SubgroupPolicy> read_subgroups(const Json& set, int size, bool& valid) {
  const Json* policy = find_set(set, {"spec", "leaderWorkerTemplate", "subGroupPolicy"});
  if (policy == nullptr) return std::nullopt;
  SubgroupPolicy out;
  out.leader_excluded = string_at(*policy, {"subGroupPolicyType"}) == "LeaderExcluded";
  out.size = read_size(*policy, {"subGroupSize"}, valid);
  const bool divides = (size - 1) % out.size == 0 || (!out.leader_excluded && size % out.size == 0);
  valid = valid && find_set(*policy, {"subGroupSize"}) != nullptr && divides && out.size <= size;
  return out;
}

const Json* find_rollout_field(const Json& set, std::string_view field) {
  return find_set(set, {"spec", "rolloutStrategy", "rollingUpdateConfiguration", field});
}

std::optional<IntOrPercent> read_int_or_percent(const Json& set, std::string_view field, std::int64_t fallback) {
  const Json* found = find_rollout_field(set, field);
  return found == nullptr ? IntOrPercent{fallback, false} : IntOrPercent::parse(*found);
}

Rollout read_rollout(const Json& set, int replicas) {
  using Rounding = IntOrPercent::Rounding;
  Rollout rollout;
  if (const auto unavailable = read_max_unavailable(set)) {
    rollout.max_unavailable = static_cast<int>(unavailable->scaled(replicas, Rounding::kDown));
  }
  if (const auto surge = read_max_surge(set)) {
    rollout.max_surge = static_cast<int>(std::min<std::int64_t>(surge->scaled(replicas, Rounding::kUp), replicas));
  }
  if (rollout.max_surge == 0) rollout.max_unavailable = std::max(rollout.max_unavailable, 1);
  if (const Json* partition = find_rollout_field(set, "partition")) {
    rollout.partition = static_cast<int>(std::max<std::int64_t>(int32_at(*partition, {}).value_or(0), 0));
  }
  return rollout;
}

}  // namespace

std::optional<IntOrPercent> IntOrPercent::parse(const Json& json) {
  if (json.is_number()) {
    const auto number = int32_at(json, {});
    return number && *number >= 0 ? std::optional<IntOrPercent>({*number, false}) : std::nullopt;
  }
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end + 1 != text.data() + text.size() || *end != '%') return std::nullopt;
  if (text.front() == '-' || value > kHundredPercent) return std::nullopt;
  return IntOrPercent{value, true};
}

std::int64_t IntOrPercent::scaled(std::int64_t total, Rounding rounding) const {
  if (!is_percent) return value;
  return (value * total + (rounding == Rounding::kUp ? kHundredPercent - 1 : 0)) / kHundredPercent;
}

GroupTemplate GroupTemplate::read(const Json& set) {
  GroupTemplate group;
  group.size = read_size(set, {"spec", "leaderWorkerTemplate", "size"}, group.valid);
  group.subgroups = read_subgroups(set, group.size, group.valid);
  group.worker = find_set(set, {"spec", "leaderWorkerTemplate", "workerTemplate"});
  group.leader = find_set(set, {"spec", "leaderWorkerTemplate", "leaderTemplate"});
  if (group.leader == nullptr) group.leader = group.worker;
  group.service_per_group = string_at(set, {"spec", "networkConfig", "subdomainPolicy"}) == "UniquePerReplica";
  const Json* claims = find_set(set, {"spec", "leaderWorkerTemplate", "volumeClaimTemplates"});
  if (claims != nullptr && claims->is_array() && !claims->empty()) group.volume_claims = claims;
  group.claim_retention = find_set(set, {"spec", "leaderWorkerTemplate", "persistentVolumeClaimRetentionPolicy"});
  return group;
}

std::optional<IntOrPercent> read_max_unavailable(const Json& set) {
  return read_int_or_percent(set, "maxUnavailable", 1);
}

std::optional<IntOrPercent> read_max_surge(const Json& set) { return read_int_or_percent(set, "maxSurge", 0); }

LeaderWorkerSetSpec LeaderWorkerSetSpec::read(const Json& set) {
  LeaderWorkerSetSpec spec;
  spec.key = {string_at(set, {"metadata", "namespace"}), string_at(set, {"metadata", "name"})};
  spec.uid = string_at(set, {"metadata", "uid"});
  spec.generation = int_at(set, {"metadata", "generation"});
  spec.owner = {string_at(set, {"apiVersion"}), string_at(set, {"kind"}), spec.key.name, spec.uid};
  spec.labels = string_map_at(set, {"metadata", "labels"});
  spec.annotations = string_map_at(set, {"metadata", "annotations"});
  const auto replicas = int32_at(set, {"spec", "replicas"});
  if (replicas && *replicas >= 0 && *replicas <= rules::kMaxChildren) spec.replicas = static_cast<int>(*replicas);
  spec.group = GroupTemplate::read(set);
  spec.restarts = read_restart_policy(set, spec.annotations);
  spec.max_group_restarts = read_max_restarts(set, spec.annotations);
  if (string_at(set, {"spec", "startupPolicy"}) == "LeaderReady") spec.startup = StartupPolicy::kLeaderReady;
  spec.rollout = read_rollout(set, spec.replicas);
  spec.topology_key = value_of(spec.annotations, kExclusiveTopology);
  spec.subgroup_topology_key = value_of(spec.annotations, kSubgroupExclusiveTopology);
  return spec;
}

std::string group_name(const LeaderWorkerSetSpec& spec, int group) {
  return fmt::format("{}-{}", spec.key.name, group);
}

std::optional<int> parse_group_index(const LeaderWorkerSetSpec& spec, std::string_view name) {
  const std::string& set = spec.key.name;
  if (name.size() <= set.size() + 1 || !name.starts_with(set) || name[set.size()] != '-') return std::nullopt;
  const std::string_view digits = name.substr(set.size() + 1);
  const bool canonical = digits == "0" || (digits.front() >= '1' && digits.front() <= '9');
  return canonical ? parse_count(digits) : std::nullopt;
}

}  // namespace tpuslice::leaderworkerset
