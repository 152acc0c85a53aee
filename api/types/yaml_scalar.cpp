#include "api/types/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "api/base/strings.h"

namespace tpuslice {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

bool all_of(std::string_view text, bool (*test)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), test);
}

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrues = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalses = {"false", "False", "FALSE"};
constexpr std::array<std::string_view, 6> kNotFinite = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};

struct Number {
  bool negative = false;
  int base = 10;
  std::string_view digits;
};

/// Decimal, 0x, 0o, and octal by leading zero; none for text that is not an integer.
std::optional<Number> as_whole(std::string_view word) {
  Number number;
  if (word.starts_with('-') || word.starts_with('+')) {
    number.negative = word.front() == '-';
    word.remove_prefix(1);
  }
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  const auto is_hex = [](char c) { return is_decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  number.digits = word;
  if (word.starts_with("0x") && all_of(word.substr(2), is_hex)) {
    number.base = 16;
    number.digits = word.substr(2);
  } else if (word.starts_with("0o") && all_of(word.substr(2), is_octal)) {
    number.base = 8;
    number.digits = word.substr(2);
  } else if (!all_of(word, is_decimal)) {
    return std::nullopt;
  } else if (word.size() > 1 && word.front() == '0' && all_of(word, is_octal)) {
    number.base = 8;
  }
  return number;
}

/// [-+]? ( .digits | digits ( .digits? )? ) ( [eE] [-+]? digits )?
bool is_float(std::string_view word) {
  const auto take = [&](auto test) {
    const auto end = std::find_if_not(word.begin(), word.end(), test);
    const auto count = static_cast<std::size_t>(end - word.begin());
    word.remove_prefix(count);
    return count;
  };
  const auto take_one_of = [&](std::string_view set) {
    if (word.empty() || set.find(word.front()) == std::string_view::npos) return false;
    word.remove_prefix(1);
    return true;
  };
  take_one_of("+-");
  std::size_t digits = take(is_decimal);
  if (take_one_of(".")) digits += take(is_decimal);
  if (digits == 0) return false;
  if (take_one_of("eE")) {
    take_one_of("+-");
    if (take(is_decimal) == 0) return false;
  }
  return word.empty();
}

/// Numbers of YAML 1.1 only: with underscores, in base 2, and in base 60 ("12:30").
bool is_yaml11_number(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  if (word.empty() || !is_decimal(word.front())) return false;
  std::string plain(word);
  std::erase(plain, '_');
  if (plain.starts_with("0b")) return plain.find_first_not_of("01", 2) == std::string::npos;
  if (plain.find(':') != std::string::npos) return plain.find_first_not_of("0123456789:.") == std::string::npos;
  return plain.size() < word.size() && (as_whole(plain) || is_float(plain));
}

/// "2026-01-01" and "2026-01-01T00:00:00Z" in its many spellings.
bool is_yaml11_time(std::string_view word) {
  return word.size() >= 8 && all_of(word.substr(0, 4), is_decimal) && word[4] == '-' && is_decimal(word[5]) &&
         word.find_first_not_of("0123456789-+:. \tTtZz", 5) == std::string_view::npos;
}

Result<Json> read_double(std::string_view word) {
  std::string_view text = word;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::result_out_of_range) {
    return Error::invalid_argument("number {} is too large or too small for a double", word);
  }
  if (end != text.data() + text.size()) return Error::invalid_argument("number {} cannot be read", word);
  return Json(value);
}

Result<Json> read_whole(std::string_view word, const Number& number) {
  std::uint64_t magnitude = 0;
  const auto end = number.digits.data() + number.digits.size();
  const auto status = std::from_chars(number.digits.data(), end, magnitude, number.base).ec;
  if (status != std::errc()) {
    if (number.base == 10) return read_double(word);
    return Error::invalid_argument("number {} does not fit 64 bits", word);
  }
  static constexpr std::uint64_t kMaxNegative = std::uint64_t{1} << 63U;
  if (!number.negative) {
    // A JSON parser makes it unsigned too, so equal documents compare equal.
    return Json(magnitude);
  }
  if (magnitude > kMaxNegative) return read_double(word);
  return Json(static_cast<std::int64_t>(~magnitude + 1));
}

}  // namespace

Result<Json> resolve_yaml_scalar(std::string_view word) {
  if (is_one_of(word, kNulls)) return Json();
  if (is_one_of(word, kTrues)) return Json(true);
  if (is_one_of(word, kFalses)) return Json(false);
  std::string_view unsigned_word = word;
  if (word.starts_with('-') || word.starts_with('+')) unsigned_word.remove_prefix(1);
  if (is_one_of(unsigned_word, kNotFinite)) {
    return Error::invalid_argument("{} has no JSON value; quote it if it is meant as a string", word);
  }
  if (const auto number = as_whole(word)) return read_whole(word, *number);
  if (is_float(word)) return read_double(word);
  return Json(std::string(word));
}

bool is_ambiguous_yaml_word(std::string_view word) {
  const Result<Json> resolved = resolve_yaml_scalar(word);
  if (!resolved || !resolved->is_string()) return true;
  static constexpr std::array<std::string_view, 10> kTruths = {"y",   "n",    "yes",   "no",   "on",
                                                               "off", "true", "false", "null", "="};
  if (is_one_of(to_lower(word), kTruths) || word == "<<") return true;
  return is_yaml11_number(word) || is_yaml11_time(word);
}

}  // namespace tpuslice
