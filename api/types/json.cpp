#include "api/types/json.h"

#include <charconv>
#include <vector>

namespace tpuslice {
namespace {

/// Builds the document from parser events, so that depth is known before a level is entered: the parser itself does not
/// recurse, but destroying and printing a document do.
class JsonBuilder {
 public:
  // The names nlohmann's SAX interface asks for.
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
    if (!limits_.without.empty() && name == limits_.without) {
      skip_next_ = true;
      return true;
    }
    Json& object = *open_.back();
    if (limits_.refuse_duplicate_keys && object.contains(name)) {
      error_ = Error::invalid_argument("JSON has the key \"{}\" twice in one object", name);
      return false;
    }
    member_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string_view what = exception.what();
    if (const auto colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    error_ = Error::invalid_argument("JSON is malformed at byte {}: {}", position, what);
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
    if (open_.size() + skipped_ >= limits_.depth) {
      error_ = Error::invalid_argument("JSON is nested deeper than {} levels", limits_.depth);
      return false;
    }
    if (std::exchange(skip_next_, false) || skipped_ > 0) {
      ++skipped_;
    } else {
      open_.push_back(place(Json(container)));
    }
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
  Json* member_ = nullptr;   ///< Where the value of the last key goes.
  bool skip_next_ = false;   ///< The last key is JsonLimits::without.
  std::size_t skipped_ = 0;  ///< Open levels that are left out; those above are in open_.
  std::optional<Error> error_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error::invalid_argument("JSON has {} bytes, at most {} are accepted", text.size(), limits.bytes);
  }
  try {
    JsonBuilder builder(limits);
    const bool accepted = Json::sax_parse(text.begin(), text.end(), &builder);
    return builder.finish(accepted);
  } catch (const std::exception& exception) {
    return Error::invalid_argument("JSON cannot be read: {}", exception.what());
  }
}

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
