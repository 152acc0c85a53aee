#include "api/types/json.h"

#include <limits>

#include "api/base/strings.h"

namespace tpuslice {

const Json* find_path(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* at = &json;
  for (const std::string_view step : path) {
    if (at->is_object()) {
      const auto member = at->find(step);
      if (member == at->end()) return nullptr;
      at = &*member;
    } else if (at->is_array()) {
      const auto index = parse_integer<std::size_t>(step);
      if (!index || *index >= at->size()) return nullptr;
      at = &(*at)[*index];
    } else {
      return nullptr;
    }
  }
  return at;
}

const Json* find_set(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string string_at(const Json& json, std::initializer_list<std::string_view> path, std::string_view fallback) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string(fallback);
}

bool is_named(const Json& json, std::string_view name) {
  const Json* found = find_path(json, {"name"});
  return found != nullptr && found->is_string() && found->get_ref<const std::string&>() == name;
}

const Json& array_at(const Json& json, std::initializer_list<std::string_view> path) {
  static const Json kNone = Json::array();
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}

const Json& object_at(const Json& json, std::initializer_list<std::string_view> path) {
  static const Json kNone = Json::object();
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_object() ? *found : kNone;
}

std::int64_t int_at(const Json& json, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

std::optional<std::int64_t> int32_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  using Int32 = std::numeric_limits<std::int32_t>;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(Int32::max())) {
    return std::nullopt;
  }
  const auto value = found->get<std::int64_t>();
  if (value < Int32::min() || value > Int32::max()) return std::nullopt;
  return value;
}

bool bool_at(const Json& json, std::initializer_list<std::string_view> path, bool fallback) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_boolean() ? found->get<bool>() : fallback;
}

StringMap string_map_at(const Json& json, std::initializer_list<std::string_view> path) {
  StringMap map;
  const Json* found = find_path(json, path);
  if (found == nullptr || !found->is_object()) return map;
  for (const auto& [key, value] : found->items()) {
    if (value.is_string()) map.emplace(key, value.get<std::string>());
  }
  return map;
}

const std::string& value_of(const StringMap& map, std::string_view key) {
  static const std::string kNone;
  const auto found = map.find(key);
  return found == map.end() ? kNone : found->second.str();
}

}  // namespace tpuslice
