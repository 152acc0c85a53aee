// Base64 (RFC 4648): Secrets, continue tokens, kubeconfig data.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tpuslice::sim {

[[nodiscard]] std::string encode_base64(std::string_view bytes);
/// Nothing for what is no base64. The alphabets of both standard and URL-safe base64, padding optional.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);
/// URL-safe, without padding.
[[nodiscard]] std::string encode_base64_url(std::string_view bytes);

}  // namespace tpuslice::sim
