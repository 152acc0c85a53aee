#include "api/types/json_text.h"

#include <array>
#include <charconv>
#include <utility>

#include "api/types/utf8.h"

namespace tpuslice {
namespace {

constexpr auto kNeedsEscape = [] {
  std::array<bool, 256> table{};
  for (std::size_t control = 0; control < 0x20; ++control) table[control] = true;
  table['"'] = table['\\'] = true;
  return table;
}();

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kNamed = "\"\"\\\\\bb\ff\nn\rr\tt";  // A character, and the letter of its escape.

/// Appends the escape sequence of a character that needs one.
void append_escape(std::string& text, char c) {
  for (std::size_t at = 0; at < kNamed.size(); at += 2) {
    if (kNamed[at] != c) continue;
    text += '\\';
    text += kNamed[at + 1];
    return;
  }
  text += "\\u00";
  text += kHex[static_cast<unsigned char>(c) >> 4U];
  text += kHex[static_cast<unsigned char>(c) & 15U];
}

void append_string(std::string& text, std::string_view value) {
  text += '"';
  std::size_t copied = 0;
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (!kNeedsEscape[static_cast<unsigned char>(value[at])]) continue;
    text += value.substr(copied, at - copied);
    append_escape(text, value[at]);
    copied = at + 1;
  }
  text += value.substr(copied);
  text += '"';
}

template <typename Number>
void append_number(std::string& text, Number value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

void append(std::string& text, const Json& json) {
  switch (json.type()) {
    case Json::value_t::object: {
      char before = '{';
      for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) {
        text += std::exchange(before, ',');
        append_string(text, key);
        text += ':';
        append(text, value);
      }
      text += before == '{' ? "{}" : "}";
      return;
    }
    case Json::value_t::array: {
      char before = '[';
      for (const Json& item : json) {
        text += std::exchange(before, ',');
        append(text, item);
      }
      text += before == '[' ? "[]" : "]";
      return;
    }
    case Json::value_t::string:
      return append_string(text, json.get_ref<const std::string&>());
    case Json::value_t::number_integer:
      return append_number(text, json.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return append_number(text, json.get<std::uint64_t>());
    default:  // Booleans, null and floating-point numbers, which are rare.
      text += json.dump();
  }
}

}  // namespace

std::string print_json(const Json& json) {
  std::string text;
  append(text, json);
  if (is_utf8(text)) return text;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_json_string(std::string& json, std::string_view text) {
  if (is_utf8(text)) return append_string(json, text);
  json += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string print_go_json(const Json& json) {
  const std::string text = print_json(json);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (text[i] == '<') {
      out += "\\u003c";
    } else if (text[i] == '>') {
      out += "\\u003e";
    } else if (text[i] == '&') {
      out += "\\u0026";
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      out += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace tpuslice
