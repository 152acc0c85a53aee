// Percent-encoding of URLs (RFC 3986).
#pragma once

#include <string>
#include <string_view>

#include "api/base/result.h"

namespace tpuslice {

/// Letters, digits and "-._~".
[[nodiscard]] bool is_unreserved(char c);
/// Keeps unreserved characters; everything else becomes %XX. Right for path segments and query values alike.
[[nodiscard]] std::string percent_encode(std::string_view text);
/// Errors: InvalidArgument for a '%' without two hex digits. In a query, '+' means a space.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

}  // namespace tpuslice
