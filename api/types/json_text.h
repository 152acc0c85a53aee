// The text of a document. Kept apart from json.h, which everything includes.
#pragma once

#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice {

/// The document in one line, byte for byte as Json::dump() prints it, in a fraction of its time. Bytes that are not
/// UTF-8 are replaced by U+FFFD.
[[nodiscard]] std::string print_json(const Json& json);

/// Appends the text as a JSON string. Bytes that are not UTF-8 are replaced by U+FFFD.
void append_json_string(std::string& json, std::string_view text);

/// The same as Go's encoding/json prints it: characters that are special in HTML are escaped ("\\u003c"). Hashes of
/// upstream's controllers are computed from this text.
[[nodiscard]] std::string print_go_json(const Json& json);

}  // namespace tpuslice
