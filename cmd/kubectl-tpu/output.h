// The forms of output of kubectl-tpu: tables for people, JSON and YAML for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/text_table.h"

namespace tpuslice::plugin {

enum class Format : std::uint8_t { kTable, kWide, kJson, kYaml, kName };

/// The format of a value of --output; a table for any other text.
[[nodiscard]] Format parse_format(std::string_view output);

enum class Colour : std::uint8_t { kRed, kYellow, kGreen, kGrey };

/// The text between the escape sequences of a terminal.
[[nodiscard]] std::string with_colour(Colour colour, std::string_view text);

}  // namespace tpuslice::plugin
