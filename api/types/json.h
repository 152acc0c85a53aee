// Json: the document type of the program. Keys are sorted, so equal documents print equal bytes.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/base/result.h"

namespace tpuslice {

using Json = nlohmann::json;

/// Limits of what we accept from others.
struct JsonLimits {
  std::size_t bytes = 64U << 20U;  ///< Longest document.
  std::size_t depth = 128;         ///< Deepest nesting; a recursive consumer must never meet more.
};

/// Parses one document. Errors: InvalidArgument, with the byte offset.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

/// The member at a path of object keys and array indexes ("spec", "containers", "0"), or nullptr.
[[nodiscard]] const Json* find_path(const Json& json, std::initializer_list<std::string_view> path);

/// The string at a path, or `fallback` where it is absent or no string.
[[nodiscard]] std::string string_at(const Json& json, std::initializer_list<std::string_view> path,
                                    std::string_view fallback = {});

}  // namespace tpuslice
