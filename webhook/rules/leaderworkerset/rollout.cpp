// How many groups a LeaderWorkerSet updates at once.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "webhook/rules/fields.h"
#include "webhook/rules/leaderworkerset/rules.h"

namespace tpuslice::webhook {
namespace {

constexpr std::string_view kRolloutPath = "spec.rolloutStrategy.rollingUpdateConfiguration";
constexpr std::int64_t kFull = 100;  // Percent.

/// A number of groups, or a share of them.
struct Amount {
  std::int64_t value = 0;
  bool percent = false;

  enum class Rounding : std::uint8_t { kDown, kUp };
  [[nodiscard]] std::int64_t of(std::int64_t replicas, Rounding rounding) const {
    if (!percent) return value;
    return (value * replicas + (rounding == Rounding::kUp ? kFull - 1 : 0)) / kFull;
  }
};

/// A whole number from 0, or "0%" to "100%". Longer spellings such as "007%" are legal too.
std::optional<Amount> parse_amount(const Json& json) {
  if (json.is_number()) {
    const auto number = int_at(json, {});
    return number && *number >= 0 ? std::optional<Amount>({*number, false}) : std::nullopt;
  }
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end + 1 != text.data() + text.size() || *end != '%') return std::nullopt;
  if (text.front() == '-' || value > kFull) return std::nullopt;
  return Amount{value, true};
}

const Json* configured(const Json& set, std::string_view field) {
  return find_set(set, {"spec", "rolloutStrategy", "rollingUpdateConfiguration", field});
}

/// Nothing where the field is wrong.
std::optional<Amount> amount_at(const Json& set, std::string_view field, std::int64_t fallback) {
  const Json* found = configured(set, field);
  return found == nullptr ? Amount{fallback, false} : parse_amount(*found);
}

}  // namespace

LwsRollout read_lws_rollout(const Json& set, const LwsGroups& groups) {
  LwsRollout rollout;
  if (const auto unavailable = amount_at(set, "maxUnavailable", 1); unavailable) {
    rollout.max_unavailable = unavailable->of(groups.replicas, Amount::Rounding::kDown);
  }
  if (const auto surge = amount_at(set, "maxSurge", 0); surge) {
    rollout.max_surge = std::min(surge->of(groups.replicas, Amount::Rounding::kUp), groups.replicas);
  }
  if (const Json* partition = configured(set, "partition"); partition != nullptr) {
    rollout.partition = std::max<std::int64_t>(int_at(*partition, {}).value_or(0), 0);
  }
  return rollout;
}

void check_lws_rollout(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors) {
  const auto path = [](std::string_view field) { return fmt::format("{}.{}", kRolloutPath, field); };
  const auto unavailable = amount_at(set, "maxUnavailable", 1);
  const auto surge = amount_at(set, "maxSurge", 0);
  for (const auto& [field, amount] : {std::pair("maxUnavailable", unavailable), std::pair("maxSurge", surge)}) {
    if (amount) continue;
    errors.push_back(invalid_value(path(field), *configured(set, field),
                                   "must be a whole number from 0 to 2147483647, or a percentage from 0% to 100%",
                                   kLeaderWorkerSetRule));
  }
  if (const Json* partition = configured(set, "partition"); partition != nullptr) {
    const auto number = int_at(*partition, {});
    if (!number || *number < 0) {
      errors.push_back(invalid_value(path("partition"), *partition, "must be a whole number from 0 to 2147483647",
                                     kLeaderWorkerSetRule));
    }
  }
  if (!unavailable || !surge || groups.replicas == 0) return;
  if (unavailable->of(groups.replicas, Amount::Rounding::kDown) > 0) return;
  if (surge->of(groups.replicas, Amount::Rounding::kUp) > 0) return;
  // Absent it would be 1, so it is there.
  errors.push_back(invalid_value(path("maxUnavailable"), *configured(set, "maxUnavailable"),
                                 fmt::format("is no group of {} while maxSurge is 0, so none could be updated: set at "
                                             "least 1 or {}%, or maxSurge: 1",
                                             groups.replicas, (kFull + groups.replicas - 1) / groups.replicas),
                                 kLeaderWorkerSetRule));
}

}  // namespace tpuslice::webhook
