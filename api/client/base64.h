// Base64 as it is in kubeconfigs and credentials: the standard alphabet. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tpuslice::client {

[[nodiscard]] std::string base64_encode(std::string_view bytes);
/// White space between the characters is skipped. Nothing for anything else that is no base64.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace tpuslice::client
