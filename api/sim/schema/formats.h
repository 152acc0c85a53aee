// What the `format`, `pattern` and `type` keywords of a schema accept.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice::sim {

/// Whether a CRD may use the format: one we check, or one the API server ignores too.
[[nodiscard]] bool usable_format(std::string_view format);
/// Of a string; true for formats that are ignored.
[[nodiscard]] bool matches_format(std::string_view format, const std::string& value);
/// RE2 syntax, anywhere in the value. Compiled patterns are kept.
[[nodiscard]] bool matches_pattern(const std::string& pattern, const std::string& value);
/// Empty when the pattern is well-formed.
[[nodiscard]] std::string pattern_error(const std::string& pattern);
/// "string", "integer", "number", "boolean", "array", "object" or "null".
[[nodiscard]] std::string_view json_type(const Json& value);
/// In Unicode code points.
[[nodiscard]] std::size_t text_length(const std::string& text);

}  // namespace tpuslice::sim
