// Quantity: an amount of a resource ("500m", "16Gi", "4"), with the arithmetic and the printing of Kubernetes'
// resource.Quantity.
//
// Exact: whole nano units, never a floating point number. Finer amounts are rounded up at parsing, as upstream does.
// Upstream has no upper bound for decimal amounts; here 1.7e29 is refused when parsed and is where sums stay.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice {

enum class QuantityFormat : std::uint8_t {
  kDecimalSI,        ///< 12M
  kBinarySI,         ///< 12Mi
  kDecimalExponent,  ///< 12e6
};

class Quantity {
 public:
  __extension__ using Nanos = __int128;

  /// Zero, DecimalSI.
  Quantity() = default;
  explicit Quantity(std::int64_t value, QuantityFormat format = QuantityFormat::kDecimalSI);

  /// The quantity of so many thousandths.
  static Quantity of_milli(std::int64_t value);

  /// Errors: InvalidArgument, with Kubernetes' wording of what a quantity is.
  static Result<Quantity> parse(std::string_view text);
  /// A JSON string or number, as both are legal in manifests.
  static Result<Quantity> from_json(const Json& json);

  [[nodiscard]] QuantityFormat format() const { return format_; }
  [[nodiscard]] bool is_zero() const { return nanos_ == 0; }
  /// Whole units, rounded away from zero; the nearest int64 where it does not fit.
  [[nodiscard]] std::int64_t value() const;
  /// The same in thousandths.
  [[nodiscard]] std::int64_t milli_value() const;

  /// The sum keeps the receiver's format; zero takes the addend's.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);
  Quantity& operator*=(std::int64_t factor);
  friend Quantity operator+(Quantity a, const Quantity& b) { return a += b; }
  friend Quantity operator-(Quantity a, const Quantity& b) { return a -= b; }
  friend Quantity operator*(Quantity a, std::int64_t factor) { return a *= factor; }

  /// Compares amounts; formats do not matter.
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.nanos_ == b.nanos_; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) { return a.nanos_ <=> b.nanos_; }

  /// The canonical form: largest suffix without a fraction ("1.5Gi" prints "1536Mi").
  [[nodiscard]] std::string to_string() const;

 private:
  Nanos nanos_ = 0;
  QuantityFormat format_ = QuantityFormat::kDecimalSI;
  /// The text as written, where upstream's parser keeps it though it is not canonical ("1.500", "1E3"); empty
  /// otherwise.
  std::string written_;
};

}  // namespace tpuslice
