#include "api/types/yaml.h"
#include "api/types/yaml_scalar.h"

namespace tpuslice {
namespace {

/// Longest text of a key; readers refuse longer ones unless they begin with "? ".
constexpr std::size_t kMaxSimpleKey = 900;

std::string double_quoted(std::string_view text) {
  // A JSON string is a double-quoted YAML scalar.
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  // C1 controls, the line ends of Unicode, and the byte order mark.
  return text.find("\xc2\x80") != std::string_view::npos || text.find("\xc2\x85") != std::string_view::npos ||
         text.find("\xe2\x80\xa8") != std::string_view::npos || text.find("\xe2\x80\xa9") != std::string_view::npos ||
         text.find("\xef\xbb\xbf") != std::string_view::npos;
}

/// Whether the text is a single plain scalar, of whatever type.
bool is_bare_word(std::string_view text) {
  static constexpr std::string_view kIndicators = ",[]{}#&*!|>'\"%@`";
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (kIndicators.find(text.front()) != std::string_view::npos) return false;
  const bool mark = text.front() == '-' || text.front() == '?' || text.front() == ':';
  if (mark && (text.size() == 1 || text[1] == ' ')) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

std::string one_line(std::string_view text) {
  if (has_control(text)) return double_quoted(text);
  if (!is_bare_word(text)) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return text.empty() ? double_quoted(text) : quoted + "'";
  }
  return is_ambiguous_yaml_word(text) ? double_quoted(text) : std::string(text);
}

/// Whether the text can be a literal block: lines of ordinary characters, the first of them not indented or empty.
bool is_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\n') return false;
  if (text.find_first_not_of('\n') == std::string_view::npos) return false;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    if (has_control(line) || line.ends_with(' ') || line.starts_with("---") || line.starts_with("...")) return false;
    start = end + 1;
  }
  return true;
}

class Printer {
 public:
  std::string print(const Json& json) {
    if (json.is_structured() && !json.empty()) {
      collection(json, 0, false);
    } else {
      value(json, 0);
    }
    return std::move(out_);
  }

 private:
  /// What follows "key:" or "-", with the line end. `indent` is that of the lines below.
  void value(const Json& json, std::size_t indent) {
    if (json.is_string()) {
      text(json.get_ref<const std::string&>(), indent);
    } else if (json.is_object() && json.empty()) {
      out_ += "{}\n";
    } else if (json.is_array() && json.empty()) {
      out_ += "[]\n";
    } else {
      out_ += json.dump() + "\n";
    }
  }

  void text(std::string_view text, std::size_t indent) {
    if (!is_block(text)) {
      out_ += one_line(text) + "\n";
      return;
    }
    const std::size_t content = text.find_last_not_of('\n') + 1;
    const std::size_t ends = text.size() - content;
    out_ += ends == 0 ? "|-\n" : ends == 1 ? "|\n" : "|+\n";
    // The last line end is the block's own.
    const std::string_view body = ends == 0 ? text : text.substr(0, text.size() - 1);
    for (std::size_t start = 0; start <= body.size();) {
      const std::size_t end = std::min(body.find('\n', start), body.size());
      if (end > start) out_.append(indent == 0 ? 2 : indent, ' ').append(body.substr(start, end - start));
      out_ += '\n';
      start = end + 1;
    }
  }

  /// The items of a collection that is not empty. With `inline_first` the first one continues the current line.
  void collection(const Json& json, std::size_t indent, bool inline_first) {
    for (auto item = json.begin(); item != json.end(); ++item) {
      if (!inline_first) out_.append(indent, ' ');
      inline_first = false;
      if (json.is_object()) {
        member(item.key(), *item, indent);
      } else {
        out_ += "- ";
        nested_or_value(*item, indent + 2, true);
      }
    }
  }

  void member(const std::string& key, const Json& json, std::size_t indent) {
    const std::string name = one_line(key);
    const bool explicit_key = name.size() > kMaxSimpleKey;
    if (explicit_key) {
      out_ += "? " + name + "\n";
      out_.append(indent, ' ');
    } else {
      out_ += name;
    }
    out_ += ':';
    if (!json.is_structured() || json.empty()) {
      out_ += ' ';
      value(json, indent + 2);
      return;
    }
    out_ += '\n';
    // Lists are not indented below their key, as kubectl prints them.
    collection(json, json.is_array() && !explicit_key ? indent : indent + 2, false);
  }

  void nested_or_value(const Json& json, std::size_t indent, bool inline_first) {
    if (json.is_structured() && !json.empty()) {
      collection(json, indent, inline_first);
    } else {
      value(json, indent);
    }
  }

  std::string out_;
};

}  // namespace

std::string to_yaml(const Json& json) { return Printer().print(json); }

}  // namespace tpuslice
