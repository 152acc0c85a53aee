#include "api/types/json.h"

#include <charconv>

namespace tpuslice {
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
    const unsigned lead = byte(i);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length == 0) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0U) != 0x80U) return false;
    }
    // Too long for their value, surrogates, and beyond the last code point.
    const unsigned second = byte(i + 1);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f)) return false;
    if ((lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) return false;
    i += length;
  }
  return true;
}

const Json* find_path(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* at = &json;
  for (const std::string_view step : path) {
    if (at->is_object()) {
      const auto member = at->find(step);
      if (member == at->end()) return nullptr;
      at = &*member;
    } else if (at->is_array()) {
      std::size_t index = 0;
      const auto [end, status] = std::from_chars(step.data(), step.data() + step.size(), index);
      if (status != std::errc() || end != step.data() + step.size() || index >= at->size()) return nullptr;
      at = &(*at)[index];
    } else {
      return nullptr;
    }
  }
  return at;
}

std::string string_at(const Json& json, std::initializer_list<std::string_view> path, std::string_view fallback) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string(fallback);
}

const Json& array_at(const Json& json, std::initializer_list<std::string_view> path) {
  static const Json kNone = Json::array();
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_array() ? *found : kNone;
}

std::int64_t int_at(const Json& json, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
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

}  // namespace tpuslice
