// IntOrPercent: a number of groups, or a percentage of the replicas: Kubernetes' IntOrString.
#pragma once

#include <cstdint>
#include <optional>

#include "api/types/json.h"

namespace tpuslice::leaderworkerset {

struct IntOrPercent {
  enum class Rounding : std::uint8_t { kDown, kUp };

  std::int64_t value = 0;
  bool is_percent = false;

  /// A number from 0, or "0%" to "100%", also with leading zeros; nullopt for anything else.
  static std::optional<IntOrPercent> parse(const Json& json);

  [[nodiscard]] std::int64_t scaled(std::int64_t total, Rounding rounding) const;
};

}  // namespace tpuslice::leaderworkerset
