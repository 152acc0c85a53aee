// parse_json(). Well-formed documents are read by simdjson, in a third of the time; for what it refuses, nlohmann's
// parser reports where it is malformed, or accepts it (integers beyond 64 bits).
#include <algorithm>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "api/base/pool.h"
#include "api/types/json.h"
#include "api/types/utf8.h"

namespace tpuslice {
namespace {

/// Up to this size a document's parser, which keeps some 20 bytes for each of the text, is kept for the next.
constexpr std::size_t kSmallDocument = 64U << 10U;
/// Parsers that are kept. More of them are seldom in use at a time.
constexpr std::size_t kKeptParsers = 4;

/// Bytes of the document in an error message: nlohmann's messages contain the last token, whatever its length.
constexpr std::size_t kMaxShown = 256;

/// Whether there are more values than `limit`, where an empty object or array counts as two. Each value but the first
/// follows a comma or an opening bracket that is not in a string.
bool has_more_values(std::string_view text, std::size_t limit) {
  if ((text.size() + 1) / 2 <= limit) return false;  // A value takes a byte, as does a separator.
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '[' || c == '{') {
      if (++values > limit) return true;
    }
  }
  return false;
}

bool is_left_out(std::string_view name, const JsonLimits& limits) {
  return std::find(limits.without.begin(), limits.without.end(), name) != limits.without.end();
}

/// Copies a document from simdjson. False if a limit is exceeded; the other parser then reports which.
class Copier {
 public:
  explicit Copier(const JsonLimits& limits) : limits_(limits) {}

  bool copy(simdjson::dom::element from, Json& to, std::size_t depth) const {
    using simdjson::dom::element_type;
    switch (from.type()) {
      case element_type::OBJECT:
        to = Json::object();
        return depth < limits_.depth && copy_object(simdjson::dom::object(from), to, depth + 1);
      case element_type::ARRAY:
        to = Json::array();
        return depth < limits_.depth && copy_array(simdjson::dom::array(from), to, depth + 1);
      case element_type::STRING:
        to = std::string_view(from);
        return true;
      case element_type::INT64:
        copy_number(std::int64_t(from), to);
        return true;
      case element_type::UINT64:
        to = std::uint64_t(from);
        return true;
      case element_type::DOUBLE:
        to = double(from);
        return true;
      case element_type::BOOL:
        to = bool(from);
        return true;
      case element_type::NULL_VALUE:
        break;
    }
    to = nullptr;
    return true;
  }

 private:
  static void copy_number(std::int64_t number, Json& to) {
    if (number < 0) {
      to = number;
    } else {
      to = static_cast<std::uint64_t>(number);
    }
  }

  bool copy_object(simdjson::dom::object from, Json& to, std::size_t depth) const {
    auto& members = to.get_ref<Json::object_t&>();
    for (const auto field : from) {
      if (is_left_out(field.key, limits_)) continue;
      const std::size_t before = members.size();
      const auto member = members.emplace_hint(members.end(), std::string(field.key), nullptr);
      if (members.size() == before && limits_.refuse_duplicate_keys) return false;
      if (!copy(field.value, member->second, depth)) return false;
    }
    return true;
  }

  bool copy_array(simdjson::dom::array from, Json& to, std::size_t depth) const {
    auto& items = to.get_ref<Json::array_t&>();
    items.reserve(from.size());
    for (const auto item : from) {
      if (!copy(item, items.emplace_back(), depth)) return false;
    }
    return true;
  }

  const JsonLimits& limits_;
};

bool read_with(simdjson::dom::parser& parser, std::string_view text, const JsonLimits& limits, Json& document) {
  simdjson::dom::element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return false;
  return Copier(limits).copy(root, document, 0);
}

bool read_fast(std::string_view text, const JsonLimits& limits, Json& document) {
  if (text.empty()) return false;  // simdjson would copy from a null pointer, which is undefined.
  if (text.size() > kSmallDocument) {
    simdjson::dom::parser parser;
    return read_with(parser, text, limits, document);
  }
  // Never destroyed, since threads may still parse while the program ends.
  static auto& parsers = *new Pool<simdjson::dom::parser>(kKeptParsers);
  return parsers.with([&](simdjson::dom::parser& parser) { return read_with(parser, text, limits, document); });
}

/// Builds the document from parser events, so that depth is known before a level is entered: the parser itself does not
/// recurse, but destroying and printing a document do.
class JsonBuilder {
 public:
  // Names required by nlohmann's SAX interface.
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  explicit JsonBuilder(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(number_integer_t value) { return add(value); }
  bool number_unsigned(number_unsigned_t value) { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) { return add(value); }
  bool string(string_t& value) { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return enter(Json::value_t::object); }
  bool start_array(std::size_t /*size*/) { return enter(Json::value_t::array); }
  bool end_object() { return leave(); }
  bool end_array() { return leave(); }
  bool key(string_t& name) {
    if (skipped_ > 0) return true;
    if (is_left_out(name, limits_)) {
      skip_next_ = true;
      return true;
    }
    Json& object = *open_.back();
    if (limits_.refuse_duplicate_keys && object.contains(name)) {
      error_ = Error::invalid_argument("JSON has the key \"{}\" twice in one object", clip(name, kMaxShown));
      return false;
    }
    member_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string_view what = exception.what();
    if (const auto colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    error_ = Error::invalid_argument("JSON is malformed at byte {}: {}", position, clip(std::string(what), kMaxShown));
    return false;
  }

  Result<Json> finish(bool accepted) {
    if (error_) return *error_;
    if (!accepted) return Error::invalid_argument("JSON is malformed");
    return std::move(root_);
  }

 private:
  /// The value as root, array item or member, whichever is due.
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (member_ != nullptr) {
      *member_ = std::move(value);
      return std::exchange(member_, nullptr);
    }
    open_.back()->push_back(std::move(value));
    return &open_.back()->back();
  }
  template <typename T>
  bool add(T&& value) {
    if (!std::exchange(skip_next_, false) && skipped_ == 0) place(Json(std::forward<T>(value)));
    return true;
  }
  bool enter(Json::value_t container) {
    if (std::exchange(skip_next_, false) || skipped_ > 0) {
      ++skipped_;
      return true;
    }
    if (open_.size() >= limits_.depth) {
      error_ = Error::invalid_argument("JSON is nested deeper than {} levels", limits_.depth);
      return false;
    }
    open_.push_back(place(Json(container)));
    return true;
  }
  bool leave() {
    if (skipped_ > 0) {
      --skipped_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;  ///< Only the innermost one grows, so the pointers of the others stay good.
  Json* member_ = nullptr;   ///< Receives the value of the last key.
  bool skip_next_ = false;   ///< The last key is one of JsonLimits::without.
  std::size_t skipped_ = 0;  ///< Open levels that are left out; those above are in open_.
  std::optional<Error> error_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error::invalid_argument("JSON has {} bytes, at most {} are accepted", text.size(), limits.bytes);
  }
  if (has_more_values(text, limits.values)) {
    return Error::invalid_argument("JSON has more than {} values", limits.values);
  }
  try {
    Json document;
    if (read_fast(text, limits, document)) return document;
    JsonBuilder builder(limits);
    const bool accepted = Json::sax_parse(text.begin(), text.end(), &builder);
    return builder.finish(accepted);
  } catch (const std::exception& exception) {
    return Error::invalid_argument("JSON cannot be read: {}", exception.what());
  }
}

}  // namespace tpuslice
