// Hashes that become part of object names and annotations. What they return for an input must never change: a changed
// hash renames objects that exist.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpuslice {

/// FNV-1a, 64 bits.
[[nodiscard]] std::uint64_t fnv1a(std::string_view text);

/// `length` (1 to 13) characters of Kubernetes' safe alphabet, without vowels and look-alikes: from FNV-1a.
[[nodiscard]] std::string short_hash(std::string_view text, std::size_t length = 10);

/// Lower case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// Lower case hexadecimal. Where upstream's names have it; not for security.
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

}  // namespace tpuslice
