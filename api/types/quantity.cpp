#include "api/types/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <boost/multiprecision/cpp_int.hpp>

#include "api/base/strings.h"

namespace tpuslice {
namespace {

using Nanos = Quantity::Nanos;
using BigInt = boost::multiprecision::cpp_int;

constexpr Nanos kUnit = 1'000'000'000;
// -kMaxNanos is the minimum, so that every value can be negated.
constexpr Nanos kMaxNanos = ~(static_cast<Nanos>(1) << 127U);
constexpr Nanos kMaxBinary = static_cast<Nanos>(std::numeric_limits<std::int64_t>::max()) * kUnit;
constexpr int kFastDigits = 18;  ///< Upstream's fast path takes this many digits; see keeps_text().

struct Suffix {
  std::string_view text;
  int exponent;
};
constexpr std::array<Suffix, 10> kDecimal = {
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
constexpr std::array<Suffix, 6> kBinary = {{{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

/// The text, taken apart; nothing is interpreted yet.
struct Parts {
  bool negative = false;
  std::string whole;  ///< Digits before the point, without leading zeros; "0" when none are left.
  std::string fraction;
  std::string_view suffix;
};

struct Scale {
  QuantityFormat format;
  int exponent;  ///< Power of ten, or of two for BinarySI.
};

std::string_view take_digits(std::string_view& rest) {
  const auto end = std::find_if(rest.begin(), rest.end(), [](char c) { return c < '0' || c > '9'; });
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

Parts split(std::string_view text) {
  Parts parts;
  if (text.starts_with('-') || text.starts_with('+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string_view whole = take_digits(text);
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  parts.whole = whole.empty() ? "0" : std::string(whole);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    parts.fraction = take_digits(text);
  }
  parts.suffix = text;
  return parts;
}

std::optional<Scale> interpret(std::string_view suffix) {
  for (const Suffix& known : kDecimal) {
    if (suffix == known.text) return Scale{QuantityFormat::kDecimalSI, known.exponent};
  }
  for (const Suffix& known : kBinary) {
    if (suffix == known.text) return Scale{QuantityFormat::kBinarySI, known.exponent};
  }
  if (suffix.size() < 2 || (suffix.front() != 'e' && suffix.front() != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.front() == '+') suffix.remove_prefix(1);
  const auto exponent = parse_integer<int>(suffix);
  if (!exponent) return std::nullopt;
  return Scale{QuantityFormat::kDecimalExponent, *exponent};
}

/// Whether the quantity prints as written: upstream's parser has a fast path that takes texts such as "1.500" and "1E3"
/// for canonical. Stored objects contain such texts, so they print the same here.
bool keeps_text(const Parts& parts, const Scale& scale, Nanos nanos) {
  const int digits = static_cast<int>(parts.whole.size() + parts.fraction.size());
  if (scale.format == QuantityFormat::kBinarySI) {
    if (!parts.fraction.empty() || 15 - static_cast<int>(parts.whole.size()) - scale.exponent * 3 / 10 - 1 < 0)
      return false;
    const Nanos count = (nanos < 0 ? -nanos : nanos) / kUnit >> static_cast<unsigned>(scale.exponent);
    return scale.exponent % 10 == 0 && (count & 7) != 0;
  }
  const int exponent = scale.exponent - static_cast<int>(parts.fraction.size());
  const std::string shifted = parts.whole + parts.fraction;
  return digits <= kFastDigits && exponent >= -9 && exponent % 3 == 0 && !shifted.ends_with("000") &&
         shifted.front() != '0';
}

/// |amount| in nanos, rounded up; nothing when it is too large for us.
std::optional<Nanos> magnitude(const Parts& parts, const Scale& scale) {
  std::string digits = parts.whole + parts.fraction;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return Nanos(0);

  const bool binary = scale.format == QuantityFormat::kBinarySI;
  const std::int64_t places =
      std::int64_t{9} - static_cast<std::int64_t>(parts.fraction.size()) + (binary ? 0 : scale.exponent);
  // Decided by the number of digits where the exponent would make astronomical numbers.
  const auto size = static_cast<std::int64_t>(digits.size());
  if (!binary && size + places > 40) return std::nullopt;
  if (!binary && size + places < 0) return Nanos(1);

  BigInt amount(digits);
  if (binary) amount <<= static_cast<unsigned>(scale.exponent);
  const BigInt power = boost::multiprecision::pow(BigInt(10), static_cast<unsigned>(places < 0 ? -places : places));
  if (places >= 0) {
    amount *= power;
  } else {
    amount = (amount + power - 1) / power;
  }
  if (binary && amount > BigInt(kMaxBinary)) return kMaxBinary;
  if (amount > BigInt(kMaxNanos)) return std::nullopt;
  return static_cast<Nanos>(amount);
}

/// a / b, away from zero.
Nanos divide_away(Nanos a, Nanos b) {
  const Nanos quotient = a / b;
  if (a % b == 0) return quotient;
  return a < 0 ? quotient - 1 : quotient + 1;
}

std::int64_t clamp_to_int64(Nanos value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value > Limits::max()) return Limits::max();
  if (value < Limits::min()) return Limits::min();
  return static_cast<std::int64_t>(value);
}

std::string digits_of(Nanos value) { return BigInt(value).str(); }

std::string print_binary(Nanos units) {
  std::size_t suffix = 0;  // One more than the index in kBinary.
  while (units % 1024 == 0 && suffix < kBinary.size()) {
    units /= 1024;
    ++suffix;
  }
  return digits_of(units) + (suffix == 0 ? std::string() : std::string(kBinary.at(suffix - 1).text));
}

std::string print_decimal(Nanos mantissa, QuantityFormat format) {
  int exponent = -9;
  while (mantissa % 1000 == 0) {
    mantissa /= 1000;
    exponent += 3;
  }
  if (format == QuantityFormat::kDecimalSI) {
    for (const Suffix& known : kDecimal) {
      if (known.exponent == exponent) return digits_of(mantissa) + std::string(known.text);
    }
  }
  return digits_of(mantissa) + (exponent == 0 ? std::string() : fmt::format("e{}", exponent));
}

}  // namespace

Quantity::Quantity(std::int64_t value, QuantityFormat format)
    : nanos_(static_cast<Nanos>(value) * kUnit), format_(format) {}

Quantity Quantity::of_milli(std::int64_t value) {
  Quantity result;
  result.nanos_ = static_cast<Nanos>(value) * (kUnit / 1000);
  return result;
}

Result<Quantity> Quantity::parse(std::string_view text) {
  static constexpr std::string_view kForm =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  static constexpr std::size_t kMaxLength = 256;
  if (text.empty()) return Error::invalid_argument("quantity is empty: {}", kForm);
  if (text.size() > kMaxLength)
    return Error::invalid_argument("quantity has {} characters, at most {}", text.size(), kMaxLength);

  const Parts parts = split(text);
  const auto scale = interpret(parts.suffix);
  if (!scale) {
    const bool form = parts.suffix.find_first_not_of("eEinumkKMGTP+-0123456789") == std::string_view::npos;
    return Error::invalid_argument("quantity \"{}\": {}", text, form ? "unable to parse quantity's suffix" : kForm);
  }
  const auto nanos = magnitude(parts, *scale);
  if (!nanos) return Error::invalid_argument("quantity \"{}\" is beyond 1.7e29", text);

  Quantity result;
  result.nanos_ = parts.negative ? -*nanos : *nanos;
  const bool below_one = *nanos > 0 && *nanos < kUnit;
  result.format_ = scale->format == QuantityFormat::kBinarySI && below_one ? QuantityFormat::kDecimalSI : scale->format;
  if (keeps_text(parts, *scale, result.nanos_)) result.written_ = text;
  return result;
}

Result<Quantity> Quantity::from_json(const Json& json) {
  if (json.is_string()) return parse(json.get_ref<const std::string&>());
  if (json.is_number()) return parse(json.dump());
  return Error::invalid_argument("quantity is a JSON {}, must be a string or a number", json.type_name());
}

std::int64_t Quantity::value() const { return clamp_to_int64(divide_away(nanos_, kUnit)); }
std::int64_t Quantity::milli_value() const { return clamp_to_int64(divide_away(nanos_, kUnit / 1000)); }

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  written_.clear();
  if (__builtin_add_overflow(nanos_, other.nanos_, &nanos_)) nanos_ = other.nanos_ > 0 ? kMaxNanos : -kMaxNanos;
  nanos_ = std::max(nanos_, -kMaxNanos);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  Quantity negated = other;
  negated.nanos_ = -negated.nanos_;
  return *this += negated;
}

Quantity& Quantity::operator*=(std::int64_t factor) {
  const bool negative = (nanos_ < 0) != (factor < 0);
  written_.clear();
  if (__builtin_mul_overflow(nanos_, static_cast<Nanos>(factor), &nanos_)) nanos_ = negative ? -kMaxNanos : kMaxNanos;
  nanos_ = std::max(nanos_, -kMaxNanos);
  return *this;
}

std::string Quantity::to_string() const {
  if (!written_.empty()) return written_;
  if (is_zero()) return "0";
  const bool fits_binary = nanos_ % kUnit == 0 && (nanos_ >= 1024 * kUnit || nanos_ <= -1024 * kUnit);
  if (format_ == QuantityFormat::kBinarySI && fits_binary) return print_binary(nanos_ / kUnit);
  return print_decimal(nanos_, format_ == QuantityFormat::kBinarySI ? QuantityFormat::kDecimalSI : format_);
}

}  // namespace tpuslice
