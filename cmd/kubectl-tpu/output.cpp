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

}  // namespace tpuslice::plugin
