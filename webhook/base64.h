// Base64 (RFC 4648, standard alphabet, padded): patches in admission reviews, data of Secrets, CA bundles.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tpuslice::webhook {

[[nodiscard]] std::string base64_encode(std::string_view bytes);

/// Nothing for what is no base64. Line breaks are not skipped: the API server writes none.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace tpuslice::webhook
