#include <algorithm>
#include <istream>
#include <map>
#include <optional>
#include <streambuf>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "api/types/utf8.h"
#include "api/types/yaml.h"
#include "api/types/yaml_scalar.h"

namespace tpuslice {
namespace {

/// Exception by which an event handler stops yaml-cpp. Caught in this file.
struct Refused {
  Error error;
};

Error at(const YAML::Mark& mark, std::string_view message) {
  return Error::invalid_argument("YAML line {}, column {}: {}", mark.line + 1, mark.column + 1, message);
}

[[noreturn]] void refuse(const YAML::Mark& mark, std::string_view message) { throw Refused{at(mark, message)}; }

std::size_t count_values(const Json& json) {
  std::size_t count = 1;
  if (!json.is_structured()) return count;
  for (const Json& item : json) count += count_values(item);
  return count;
}

std::size_t depth_of(const Json& json) {
  std::size_t deepest = 0;
  if (!json.is_structured()) return deepest;
  for (const Json& item : json) deepest = std::max(deepest, depth_of(item));
  return deepest + 1;
}

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

/// The value of a scalar with its tag: "?" for a bare word, "!" for a quoted one, or the tag in the document.
Json scalar_value(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
  if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;
  const auto resolve = [&] {
    Result<Json> value = resolve_yaml_scalar(text);
    if (!value) refuse(mark, value.error().message());
    return *std::move(value);
  };
  if (tag == "?" || tag.empty()) return resolve();
  const std::string_view kind =
      std::string_view(tag).starts_with(kCoreTag) ? std::string_view(tag).substr(kCoreTag.size()) : "";
  const bool known = kind == "int" || kind == "float" || kind == "bool" || kind == "null";
  if (!known) refuse(mark, fmt::format("tag \"{}\" is not supported", tag));
  Json value = resolve();
  if (kind == "float" && value.is_number()) return value.get<double>();
  const bool fits = (kind == "int" && value.is_number_integer()) || (kind == "bool" && value.is_boolean()) ||
                    (kind == "null" && value.is_null());
  if (!fits) refuse(mark, fmt::format("\"{}\" is not of type {}", text, kind));
  return value;
}

/// Builds documents from yaml-cpp's events. Its own Node tree would forget lines and duplicate keys, and share what
/// aliases expand to.
class YamlBuilder final : public YAML::EventHandler {
 public:
  explicit YamlBuilder(const YamlLimits& limits) : limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    // At a character that starts no token, yaml-cpp emits empty documents at the same position without end.
    if (mark.pos <= begun_) refuse(mark, "nothing can begin with this character here");
    begun_ = mark.pos;
    open_.clear();
    anchors_.clear();
    root_ = nullptr;
    line_ = mark.line + 1;
    has_content_ = false;
  }
  void OnDocumentEnd() override {
    if (!root_.is_null()) documents_.push_back({std::move(root_), line_});
    root_ = nullptr;
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { put(mark, anchor, nullptr, false); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias stands inside the value it names");
    if (open_.size() + found->second.depth > limits_.depth) refuse_depth(mark);
    count(mark, found->second.values);
    put(mark, YAML::NullAnchor, found->second.value, false);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    // yaml-cpp decodes \N and \_ to single bytes, which are not UTF-8.
    if (!is_utf8(text)) refuse(mark, "the escapes \\N and \\_ are not supported: write \\u0085 and \\u00a0");
    if (awaits_key()) {
      if (anchor != YAML::NullAnchor) anchors_[anchor] = {text, 1, 0};
      return set_key(mark, text, tag == "?" && text == "<<");
    }
    put(mark, anchor, scalar_value(mark, tag, text), false);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, "seq", anchor, Json::array());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, "map", anchor, Json::object());
  }
  void OnMapEnd() override { close(); }

  std::vector<YamlDocument> take_documents() { return std::move(documents_); }

 private:
  struct Anchor {
    Json value;
    std::size_t values = 1;
    std::size_t depth = 0;
  };
  /// A collection whose end has not come.
  struct Open {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor = YAML::NullAnchor;
    bool has_key = false;
    bool merging = false;  ///< The key is "<<".
    std::string key;
    std::vector<Json> merges;  ///< Maps to take missing members from, the first wins.
  };

  [[nodiscard]] bool awaits_key() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().has_key;
  }
  void start_content(const YAML::Mark& mark) {
    if (!has_content_ && !mark.is_null()) line_ = mark.line + 1;
    has_content_ = true;
  }
  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    refuse(mark, fmt::format("nested deeper than {} levels", limits_.depth));
  }
  void count(const YAML::Mark& mark, std::size_t values) {
    values_ += values;
    if (values_ > limits_.nodes) refuse(mark, fmt::format("more than {} values, aliases expanded", limits_.nodes));
  }
  void set_key(const YAML::Mark& mark, std::string key, bool merge) {
    Open& map = open_.back();
    const bool repeated = merge ? !map.merges.empty() : map.value.contains(key);
    if (repeated) refuse(mark, fmt::format("key \"{}\" is there twice", key));
    map.key = std::move(key);
    map.has_key = true;
    map.merging = merge;
  }
  void open(const YAML::Mark& mark, const std::string& tag, std::string_view kind, YAML::anchor_t anchor, Json empty) {
    start_content(mark);
    if (tag != "?" && tag != "!" && !tag.empty() && tag != std::string(kCoreTag) + std::string(kind)) {
      refuse(mark, fmt::format("tag \"{}\" is not supported", tag));
    }
    if (awaits_key()) refuse(mark, "a key must be a scalar");
    if (open_.size() >= limits_.depth) refuse_depth(mark);
    Open level;
    level.value = std::move(empty);
    level.mark = mark;
    level.anchor = anchor;
    open_.push_back(std::move(level));
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    for (Json& from : done.merges) {
      for (auto& [key, value] : from.items()) {
        if (!done.value.contains(key)) done.value[key] = std::move(value);
      }
    }
    put(done.mark, done.anchor, std::move(done.value), true);
  }
  void put(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, bool collection) {
    if (!collection) start_content(mark);
    count(mark, 1);
    if (anchor != YAML::NullAnchor) {
      const std::size_t values = count_values(value);
      count(mark, values);  // The copy that is kept.
      anchors_[anchor] = {value, values, depth_of(value)};
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.is_array()) {
      parent.value.push_back(std::move(value));
      return;
    }
    if (!parent.has_key) {  // An alias or nothing where a key should be.
      if (!value.is_string()) refuse(mark, "a key must be a scalar");
      return set_key(mark, value.get<std::string>(), false);
    }
    parent.has_key = false;
    if (parent.merging) {
      add_merge(mark, parent, std::move(value));
    } else {
      parent.value[parent.key] = std::move(value);
    }
  }
  static void add_merge(const YAML::Mark& mark, Open& parent, Json value) {
    Json list = value.is_array() ? std::move(value) : Json::array({std::move(value)});
    for (Json& from : list) {
      if (!from.is_object()) refuse(mark, "\"<<\" must be followed by a map or a list of maps");
      parent.merges.push_back(std::move(from));
    }
  }

  const YamlLimits& limits_;
  std::vector<YamlDocument> documents_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchor> anchors_;
  Json root_;
  int line_ = 1;
  int begun_ = -1;  ///< The line where the last document began.
  bool has_content_ = false;
  std::size_t values_ = 0;
};

/// Reads from a string_view without a copy.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // NOLINT: streambuf takes a non-const pointer but only reads.
    setg(begin, begin, begin + text.size());
  }
};

/// JSON text is parsed as JSON first: yaml-cpp does not support its tabs and surrogate pairs.
std::optional<Json> try_json(std::string_view text, const YamlLimits& limits) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || (text[start] != '{' && text[start] != '[')) return std::nullopt;
  Result<Json> json = parse_json(text, {.bytes = limits.bytes, .depth = limits.depth, .refuse_duplicate_keys = true});
  if (!json || count_values(*json) > limits.nodes) return std::nullopt;
  return *std::move(json);
}

int line_of(std::string_view text, std::size_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

/// YAML allows no control characters but tab, line ends and DEL; yaml-cpp would take text with a NUL among the first
/// bytes for UTF-16 or UTF-32.
Status check_characters(std::string_view text) {
  if (!is_utf8(text)) return Error::invalid_argument("YAML is not UTF-8 text");
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
  });
  if (control == text.end()) return {};
  return Error::invalid_argument("YAML has the control character 0x{:02x} at byte {}", static_cast<unsigned>(*control),
                                 control - text.begin());
}

}  // namespace

Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error::invalid_argument("YAML has {} bytes, at most {} are accepted", text.size(), limits.bytes);
  }
  if (auto json = try_json(text, limits)) {
    std::vector<YamlDocument> documents;
    documents.push_back({*std::move(json), line_of(text, text.find_first_not_of(" \t\r\n"))});
    return documents;
  }
  RETURN_IF_ERROR(check_characters(text));
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YamlBuilder builder(limits);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_documents();
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const YAML::Exception& error) {
    return at(error.mark.is_null() ? YAML::Mark() : error.mark, error.msg);
  } catch (const std::exception& error) {
    return Error::invalid_argument("YAML cannot be read: {}", error.what());
  }
}

Result<Json> parse_yaml(std::string_view text, const YamlLimits& limits) {
  ASSIGN_OR_RETURN(std::vector<YamlDocument> documents, parse_yaml_documents(text, limits));
  if (documents.empty()) return Json();
  if (documents.size() > 1) {
    return Error::invalid_argument("YAML line {}: a second document, must be one", documents[1].line);
  }
  return std::move(documents.front().value);
}

}  // namespace tpuslice
