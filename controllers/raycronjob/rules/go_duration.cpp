#include "controllers/raycronjob/rules/go_duration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tpuslice::raycronjob {
namespace {

using std::chrono::duration_cast;

constexpr Duration kMaxDuration = std::chrono::hours(24 * 365 * 100);

/// The longer of two names with one beginning stands first. The micro sign has two code points.
constexpr std::array<std::pair<std::string_view, Duration>, 8> kUnits{{{"ms", std::chrono::milliseconds(1)},
                                                                       {"us", std::chrono::microseconds(1)},
                                                                       {"\u00b5s", std::chrono::microseconds(1)},
                                                                       {"\u03bcs", std::chrono::microseconds(1)},
                                                                       {"ns", Duration(1)},
                                                                       {"h", std::chrono::hours(1)},
                                                                       {"m", std::chrono::minutes(1)},
                                                                       {"s", std::chrono::seconds(1)}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& rest) {
  const auto end = std::ranges::find_if_not(rest, is_digit);
  const std::string_view digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

/// The unit that `rest` begins with; zero if it is none.
Duration take_unit(std::string_view& rest) {
  const auto unit = std::ranges::find_if(kUnits, [&](const auto& each) { return rest.starts_with(each.first); });
  if (unit == kUnits.end()) return Duration::zero();
  rest.remove_prefix(unit->first.size());
  return unit->second;
}

/// "1.5" of a unit; nothing if it is too long.
std::optional<Duration> amount_of(std::string_view whole, std::string_view fraction, Duration unit) {
  const Duration::rep most = kMaxDuration / unit;
  Duration::rep units = 0;
  for (const char c : whole) {
    if (units > (most - (c - '0')) / 10) return std::nullopt;
    units = units * 10 + (c - '0');
  }
  Duration out = units * unit;
  Duration part = unit;
  for (const char c : fraction) {
    part /= 10;
    out += (c - '0') * part;
  }
  return out;
}

}  // namespace

std::optional<Duration> parse_go_duration(std::string_view text) {
  if (text == "0") return Duration::zero();
  if (text.empty()) return std::nullopt;
  Duration out = Duration::zero();
  while (!text.empty()) {
    const std::string_view whole = take_digits(text);
    std::string_view fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = take_digits(text);
    }
    if (whole.empty() && fraction.empty()) return std::nullopt;
    const Duration unit = take_unit(text);
    if (unit == Duration::zero()) return std::nullopt;
    const std::optional<Duration> amount = amount_of(whole, fraction, unit);
    if (!amount || out + *amount > kMaxDuration) return std::nullopt;
    out += *amount;
  }
  return out;
}

}  // namespace tpuslice::raycronjob
