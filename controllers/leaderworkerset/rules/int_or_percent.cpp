#include "controllers/leaderworkerset/rules/int_or_percent.h"

#include <charconv>
#include <string>

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::int64_t kHundredPercent = 100;

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

}  // namespace tpuslice::leaderworkerset
