// Base64 (RFC 4648): Secrets, CA bundles, JSON patches in admission reviews, continue tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tpuslice {

/// Standard alphabet, padded.
[[nodiscard]] std::string encode_base64(std::string_view bytes);
/// URL-safe alphabet, without padding.
[[nodiscard]] std::string encode_base64_url(std::string_view bytes);
/// Decodes either alphabet, padded or not; white space is skipped. std::nullopt for any other text.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace tpuslice
