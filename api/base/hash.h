// Hashes that become part of object names and annotations. The hash of an input must never change: a changed hash
// renames objects that exist.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tpuslice {

/// FNV-1a, 64 bits. To hash several texts as one, pass the hash of those before.
[[nodiscard]] std::uint64_t fnv1a(std::string_view text, std::uint64_t before = 0xcbf29ce484222325ULL);

/// FNV-1, 32 bits: Go's hash/fnv.New32, in the names of ControllerRevisions.
[[nodiscard]] std::uint32_t fnv1_32(std::string_view text);

/// Letters and digits that form no words: the alphabet of generated names in Kubernetes.
inline constexpr std::string_view kSafeAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/// `text` with each byte replaced by one of kSafeAlphabet: SafeEncodeString of k8s.io/apimachinery/pkg/util/rand.
[[nodiscard]] std::string safe_encode(std::string text);

/// The FNV-1a hash as `length` (1 to 13) characters of kSafeAlphabet.
[[nodiscard]] std::string short_hash(std::string_view text, std::size_t length = 10);

/// Lower case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);
/// Lower case hexadecimal. For names that upstream derives from SHA-1; not for security.
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

}  // namespace tpuslice
