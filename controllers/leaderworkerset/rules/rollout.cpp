// Validation of the limits of a rolling update.
#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/validator_parts.h"

namespace tpuslice::rules {
namespace {

using Rounding = leaderworkerset::IntOrPercent::Rounding;

constexpr std::string_view kRolloutPath = "spec.rolloutStrategy.rollingUpdateConfiguration";

const Json* configured(const Json& set, std::string_view field) {
  return find_set(set, {"spec", "rolloutStrategy", "rollingUpdateConfiguration", field});
}

/// Why `value` is not a number or percentage of groups. Source: Kubernetes' validation of Deployments.
std::string int_or_percent_problem(const Json& value) {
  if (value.is_number_integer()) {
    const bool negative = !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
    return negative ? "must be greater than or equal to 0" : "must be no more than 2147483647";
  }
  if (value.is_string() && value.get_ref<const std::string&>().ends_with('%')) {
    return "must be a percentage from 0% to 100%";
  }
  return "must be an integer or percentage (e.g '5%')";
}

std::string path(std::string_view field) { return fmt::format("{}.{}", kRolloutPath, field); }

}  // namespace

void check_lws_rollout(const Json& set, FieldErrors& errors) {
  const auto unavailable = leaderworkerset::read_max_unavailable(set);
  const auto surge = leaderworkerset::read_max_surge(set);
  for (const auto& [field, amount] : {std::pair("maxUnavailable", unavailable), std::pair("maxSurge", surge)}) {
    if (amount) continue;
    const Json& value = *configured(set, field);
    errors.push_back(invalid_value(path(field), value, int_or_percent_problem(value), kLeaderWorkerSetRule));
  }
  if (const Json* partition = configured(set, "partition"); partition != nullptr) {
    const auto number = int32_at(*partition, {});
    if (!number || *number < 0) {
      errors.push_back(invalid_value(path("partition"), *partition, "must be between 0 and 2147483647, inclusive",
                                     kLeaderWorkerSetRule));
    }
  }
}

void check_lws_rollout_progress(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  const auto unavailable = leaderworkerset::read_max_unavailable(set);
  const auto surge = leaderworkerset::read_max_surge(set);
  const int replicas = spec.replicas;
  if (!unavailable || !surge || replicas == 0) return;
  if (unavailable->scaled(replicas, Rounding::kDown) > 0) return;
  if (surge->scaled(replicas, Rounding::kUp) > 0) return;
  // The default is 1, so the field is set.
  errors.push_back(
      invalid_value(path("maxUnavailable"), *configured(set, "maxUnavailable"),
                    fmt::format("may not be 0 when maxSurge is 0{}: set maxUnavailable to at least 1 or {}%, or "
                                "maxSurge: 1",
                                unavailable->is_percent ? fmt::format(", and is 0 of {} replicas", replicas) : "",
                                (100 + replicas - 1) / replicas),
                    kLeaderWorkerSetRule));
}

}  // namespace tpuslice::rules
