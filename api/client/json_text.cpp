#include "api/client/json_text.h"

#include <utility>

namespace tpuslice::client {
namespace {

constexpr std::size_t kTypical = 4096;

/// Has nothing to escape and no character of several bytes. Looks at all of it, since that is done many bytes at a
/// time.
bool is_plain(const std::string& text) {
  unsigned special = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    special |= static_cast<unsigned>(byte < 0x20) | static_cast<unsigned>(byte >= 0x7f) |
               static_cast<unsigned>(byte == '"') | static_cast<unsigned>(byte == '\\');
  }
  return special == 0;
}

void append_slowly(const Json& json, std::string& out) {
  out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_string(const std::string& text, std::string& out) {
  if (!is_plain(text)) return append_slowly(Json(text), out);
  out += '"';
  out += text;
  out += '"';
}

void append(const Json& json, std::string& out) {
  char before = 0;
  switch (json.type()) {
    case Json::value_t::object:
      before = '{';
      for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) {
        out += std::exchange(before, ',');
        append_string(key, out);
        out += ':';
        append(value, out);
      }
      out += before == '{' ? "{}" : "}";
      return;
    case Json::value_t::array:
      before = '[';
      for (const Json& value : json) {
        out += std::exchange(before, ',');
        append(value, out);
      }
      out += before == '[' ? "[]" : "]";
      return;
    case Json::value_t::string:
      return append_string(json.get_ref<const std::string&>(), out);
    default:
      return append_slowly(json, out);
  }
}

}  // namespace

std::string to_text(const Json& json) {
  std::string out;
  out.reserve(kTypical);
  append(json, out);
  return out;
}

}  // namespace tpuslice::client
