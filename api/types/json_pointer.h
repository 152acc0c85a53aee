// JSON pointers (RFC 6901): "/metadata/labels/app.kubernetes.io~1name".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"

namespace tpuslice {

/// The object keys and array indexes of a pointer; none for "", the whole document. Errors: InvalidArgument.
[[nodiscard]] Result<std::vector<std::string>> parse_json_pointer(std::string_view pointer);

/// Appends "/" and `key`, with '~' and '/' escaped.
void append_to_json_pointer(std::string& pointer, std::string_view key);

}  // namespace tpuslice
