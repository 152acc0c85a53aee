// Walks over the members of one JSON object, or the elements of one array, without reading what is inside them.
//
// For bytes of which only a few fields are read. Linear, no recursion, no allocation: deep nesting and
// broken values cost nothing. What is handed out is balanced, not necessarily valid.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tpuslice::client {

struct JsonMember {
  std::string_view name;   ///< The name as written, without quotes, escapes kept.
  std::string_view value;  ///< The value as written: "{...}", "[...]", "\"text\"", "12".
};

class JsonScanner {
 public:
  /// `text` starts with '{' or '[', white space aside.
  explicit JsonScanner(std::string_view text);

  /// The next member of an object; names are empty for the elements of an array. Nothing at the end or when broken.
  [[nodiscard]] std::optional<JsonMember> next();
  /// Moves on to that member, and up to its value. False at the end.
  [[nodiscard]] bool find(std::string_view name);
  /// The text cannot be an object or array.
  [[nodiscard]] bool broken() const { return state_ == State::kBroken; }
  /// The closing brace was seen.
  [[nodiscard]] bool complete() const { return state_ == State::kDone; }
  /// What follows the closing brace.
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

 private:
  enum class State { kFirst, kMore, kDone, kBroken };

  void skip_space();
  [[nodiscard]] std::string_view string();
  [[nodiscard]] std::string_view value();
  [[nodiscard]] bool begin_member(JsonMember& member);
  std::optional<JsonMember> fail();

  std::string_view text_;
  std::size_t at_ = 0;
  char close_ = '}';
  State state_ = State::kFirst;
};

/// A scanner of the value of member `name`. It does not search for the end of that value first, so a caller that stops
/// early does not scan the text behind it. Broken if there is no such member, or it is not an object or array.
[[nodiscard]] JsonScanner json_members_of(std::string_view object, std::string_view name);

/// The value of a member, as written; empty if there is none.
[[nodiscard]] std::string_view json_member(std::string_view object, std::string_view name);
/// The text of a JSON string value, escapes undone; none if `value` is not a string.
[[nodiscard]] std::optional<std::string> json_string(std::string_view value);

}  // namespace tpuslice::client
