#include "api/base/human_duration.h"

#include <fmt/format.h>

namespace tpuslice {
namespace {

std::string two(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  return small == 0 ? fmt::format("{}{}", large, large_unit)
                    : fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return two(days, "d", hours % 24, "h");
  const std::int64_t years = days / 365;
  if (years < 2) return fmt::format("{}d", days);
  if (years < 8) return two(years, "y", days % 365, "d");
  return fmt::format("{}y", years);
}

}  // namespace tpuslice
