#include "cmd/kubectl-tpu/output.h"

#include <fmt/format.h>

namespace tpuslice::plugin {

Format parse_format(std::string_view output) {
  if (output == "wide") return Format::kWide;
  if (output == "json") return Format::kJson;
  if (output == "yaml") return Format::kYaml;
  if (output == "name") return Format::kName;
  return Format::kTable;
}

std::string with_colour(Colour colour, std::string_view text) {
  switch (colour) {
    case Colour::kRed:
      return fmt::format("\x1b[31m{}\x1b[0m", text);
    case Colour::kYellow:
      return fmt::format("\x1b[33m{}\x1b[0m", text);
    case Colour::kGreen:
      return fmt::format("\x1b[32m{}\x1b[0m", text);
    case Colour::kGrey:
      return fmt::format("\x1b[90m{}\x1b[0m", text);
  }
  return std::string(text);
}

// The steps of k8s.io/apimachinery's duration.HumanDuration(), without years.
std::string short_age(Duration age) {
  const auto seconds = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(age).count());
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (seconds < 120) return fmt::format("{}s", seconds);
  if (minutes < 10)
    return seconds % 60 == 0 ? fmt::format("{}m", minutes) : fmt::format("{}m{}s", minutes, seconds % 60);
  if (minutes < 180) return fmt::format("{}m", minutes);
  if (hours < 8) return minutes % 60 == 0 ? fmt::format("{}h", hours) : fmt::format("{}h{}m", hours, minutes % 60);
  if (hours < 48) return fmt::format("{}h", hours);
  if (hours < 192) return hours % 24 == 0 ? fmt::format("{}d", days) : fmt::format("{}d{}h", days, hours % 24);
  return fmt::format("{}d", days);
}

}  // namespace tpuslice::plugin
