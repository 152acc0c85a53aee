// The `format`, `pattern` and `type` keywords of a schema.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice::sim {

/// Whether a string has the format date-time, byte or quantity; true for other formats, which are not checked.
[[nodiscard]] bool matches_format(std::string_view format, const std::string& value);
/// Whether the RE2 pattern matches anywhere in the value. Caches compiled patterns.
[[nodiscard]] bool matches_pattern(const std::string& pattern, const std::string& value);
/// Empty if the pattern compiles.
[[nodiscard]] std::string pattern_error(const std::string& pattern);
/// "string", "integer", "number", "boolean", "array", "object" or "null".
[[nodiscard]] std::string_view json_type(const Json& value);

}  // namespace tpuslice::sim
