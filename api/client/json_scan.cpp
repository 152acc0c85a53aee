#include "api/client/json_scan.h"

#include <array>

#include "api/types/json.h"

namespace tpuslice::client {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The bytes that a scan stops at. A table, since this is the inner loop of every list and watch.
using StopBytes = std::array<bool, 256>;

constexpr StopBytes stop_at(std::string_view bytes) {
  StopBytes out{};
  for (const char c : bytes) out[static_cast<unsigned char>(c)] = true;
  return out;
}

constexpr StopBytes kInNested = stop_at("\"{}[]");

/// The first such byte at or after `at`, or the size of the text.
std::size_t find_stop(std::string_view text, std::size_t at, const StopBytes& stops) {
  while (at < text.size() && !stops[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

/// Ends a number, true, false or null.
bool ends_scalar(char c) { return c == ',' || c == '}' || c == ']' || c == ':' || is_space(c); }

}  // namespace

JsonScanner::JsonScanner(std::string_view text) : text_(text) {
  skip_space();
  if (at_ < text_.size() && (text_[at_] == '{' || text_[at_] == '[')) {
    close_ = text_[at_] == '{' ? '}' : ']';
    ++at_;
  } else {
    state_ = State::kBroken;
  }
}

std::optional<JsonMember> JsonScanner::fail() {
  state_ = State::kBroken;
  return std::nullopt;
}

/// Reads its name. False at the end, or when broken.
bool JsonScanner::begin_member(JsonMember& member) {
  if (state_ == State::kDone || state_ == State::kBroken) return false;
  skip_space();
  if (at_ < text_.size() && text_[at_] == close_) {
    ++at_;
    state_ = State::kDone;
    return false;
  }
  const auto broken = [this] {
    state_ = State::kBroken;
    return false;
  };
  if (state_ == State::kMore) {
    if (at_ >= text_.size() || text_[at_] != ',') return broken();
    ++at_;
    skip_space();
  }
  if (close_ != '}') return true;
  const std::string_view quoted = string();
  if (quoted.size() < 2) return broken();
  member.name = quoted.substr(1, quoted.size() - 2);
  skip_space();
  if (at_ >= text_.size() || text_[at_] != ':') return broken();
  ++at_;
  skip_space();
  return true;
}

bool JsonScanner::find(std::string_view name) {
  JsonMember member;
  while (begin_member(member)) {
    if (member.name == name) return true;
    if (value().empty()) {
      state_ = State::kBroken;
      return false;
    }
    state_ = State::kMore;
  }
  return false;
}

std::optional<JsonMember> JsonScanner::next() {
  JsonMember member;
  if (!begin_member(member)) return std::nullopt;
  member.value = value();
  if (member.value.empty()) return fail();
  state_ = State::kMore;
  return member;
}

void JsonScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

/// The string that starts here, with its quotes; empty if there is none.
std::string_view JsonScanner::string() {
  const std::size_t start = at_;
  if (at_ >= text_.size() || text_[at_] != '"') return {};
  std::size_t at = at_ + 1;
  while (true) {
    at = text_.find('"', at);
    if (at == std::string_view::npos) return {};
    // A quote after an odd number of backslashes is escaped.
    std::size_t first = at;
    while (text_[first - 1] == '\\') --first;
    if ((at - first) % 2 == 0) break;
    ++at;
  }
  at_ = at + 1;
  return text_.substr(start, at_ - start);
}

/// The value that starts here; empty if it has no end.
std::string_view JsonScanner::value() {
  const std::size_t start = at_;
  if (at_ >= text_.size()) return {};
  if (text_[at_] == '"') return string();
  if (text_[at_] != '{' && text_[at_] != '[') {
    while (at_ < text_.size() && !ends_scalar(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::size_t depth = 0;
  while (true) {
    at_ = find_stop(text_, at_, kInNested);
    if (at_ == text_.size()) return {};
    const char c = text_[at_];
    if (c == '"') {
      if (string().empty()) return {};
      continue;
    }
    ++at_;
    if (c == '{' || c == '[') {
      ++depth;
    } else if (--depth == 0) {
      return text_.substr(start, at_ - start);
    }
  }
}

JsonScanner json_members_of(std::string_view object, std::string_view name) {
  JsonScanner scanner(object);
  return JsonScanner(scanner.find(name) ? scanner.rest() : std::string_view());
}

std::string_view json_member(std::string_view object, std::string_view name) {
  JsonScanner scanner(object);
  while (const std::optional<JsonMember> member = scanner.next()) {
    if (member->name == name) return member->value;
  }
  return {};
}

std::optional<std::string> json_string(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  const Result<Json> parsed = parse_json(value);
  if (!parsed || !parsed->is_string()) return std::nullopt;
  return parsed->get<std::string>();
}

}  // namespace tpuslice::client
