// Json: the document type of the program. Keys are sorted, so equal documents print equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/container/flat_map.hpp>
#include <nlohmann/json.hpp>

#include "api/base/result.h"
#include "api/types/shared_string.h"

namespace tpuslice {

using Json = nlohmann::json;

/// The order of keys that mostly begin alike: most comparisons are of two lengths.
struct ShorterFirst {
  using is_transparent = void;
  [[nodiscard]] bool operator()(std::string_view a, std::string_view b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

/// Labels, annotations, node selectors. Flat, as stores keep many small ones; looked into all the time.
using StringMap = boost::container::flat_map<SharedString, SharedString, ShorterFirst>;

/// Limits of what we accept from others.
struct JsonLimits {
  std::size_t bytes = 64U << 20U;  ///< Longest document.
  /// Values, including those that are left out; an empty object or array counts as two. A value can take fifty times
  /// the memory of its text.
  std::size_t values = 1'000'000;
  std::size_t depth = 128;             ///< Deepest nesting; a recursive consumer must never meet more.
  bool refuse_duplicate_keys = false;  ///< Otherwise the last one wins.
  /// Members of these names are left out, wherever they are. They are neither looked into nor counted as depth.
  std::span<const std::string_view> without = {};
};

/// Parses one document. Errors: InvalidArgument, with the byte offset.
[[nodiscard]] Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

/// The member at a path of object keys and array indexes ("spec", "containers", "0"), or nullptr.
[[nodiscard]] const Json* find_path(const Json& json, std::initializer_list<std::string_view> path);

/// Like find_path, but null counts as absent.
[[nodiscard]] const Json* find_set(const Json& json, std::initializer_list<std::string_view> path);

/// The string at a path, or `fallback` where it is absent or no string.
[[nodiscard]] std::string string_at(const Json& json, std::initializer_list<std::string_view> path,
                                    std::string_view fallback = {});

/// Whether the member "name" is this text, as of containers and environment variables.
[[nodiscard]] bool is_named(const Json& json, std::string_view name);

/// The array at a path, or an empty one.
[[nodiscard]] const Json& array_at(const Json& json, std::initializer_list<std::string_view> path);

/// The object at a path, or an empty one.
[[nodiscard]] const Json& object_at(const Json& json, std::initializer_list<std::string_view> path);

/// The whole number at a path, or `fallback`.
[[nodiscard]] std::int64_t int_at(const Json& json, std::initializer_list<std::string_view> path,
                                  std::int64_t fallback = 0);

/// The whole number at a path if it is there and an int32 can hold it.
[[nodiscard]] std::optional<std::int64_t> int32_at(const Json& json, std::initializer_list<std::string_view> path);

/// The truth value at a path, or `fallback`.
[[nodiscard]] bool bool_at(const Json& json, std::initializer_list<std::string_view> path, bool fallback = false);

/// The string members of the object at a path: {"metadata", "labels"}.
[[nodiscard]] StringMap string_map_at(const Json& json, std::initializer_list<std::string_view> path);

/// The value of a key; empty if there is none.
[[nodiscard]] const std::string& value_of(const StringMap& map, std::string_view key);

}  // namespace tpuslice
