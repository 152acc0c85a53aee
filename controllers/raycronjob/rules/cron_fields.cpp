#include "controllers/raycronjob/rules/cron_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/base/strings.h"

namespace tpuslice::raycronjob {
namespace {

/// What one field may have.
struct FieldRange {
  std::string_view name;
  int min = 0;
  int max = 0;
  std::span<const std::string_view> names = {};  ///< Names of the values from `min` on, in lower case.
};

constexpr std::array<std::string_view, 12> kMonthNames{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdayNames{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

constexpr std::array<FieldRange, 5> kRanges{{{"minute", 0, 59},
                                             {"hour", 0, 23},
                                             {"day of month", 1, 31},
                                             {"month", 1, 12, kMonthNames},
                                             {"day of week", 0, 6, kWeekdayNames}}};

struct FieldValues {
  std::uint64_t bits = 0;
  bool any = false;  ///< One item is "*" or "?" without a step above 1.
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

/// Splits at the separator; unlike split(), "" has one part, and "1," has two.
std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Only digits: a sign is refused.
std::optional<int> number_of(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return parse_count(text);
}

std::string describe(const FieldRange& range) {
  if (range.names.empty()) return fmt::format("{} to {}", range.min, range.max);
  return fmt::format("{} to {}, or {} to {}", range.min, range.max, range.names.front(), range.names.back());
}

Error wrong(const FieldRange& range, std::string_view item, std::string_view problem) {
  return Error::invalid_argument("{} \"{}\": {}", range.name, item, problem);
}

Result<int> read_value(const FieldRange& range, std::string_view text, std::string_view item) {
  const auto name = std::ranges::find(range.names, to_lower(text));
  std::optional<int> value = number_of(text);
  if (name != range.names.end()) value = range.min + static_cast<int>(name - range.names.begin());
  if (!value) return wrong(range, item, fmt::format("\"{}\" is not a value of this field, {}", text, describe(range)));
  if (*value >= range.min && *value <= range.max) return *value;
  // Other programs know 7 as a second Sunday.
  const bool sunday = range.names.size() == kWeekdayNames.size() && *value == 7;
  return wrong(range, item,
               fmt::format("{} is out of range, {}{}", *value, describe(range), sunday ? "; Sunday is 0" : ""));
}

Result<FieldValues> read_item(const FieldRange& range, const std::string& item) {
  const std::vector<std::string> range_and_step = parts_of(item, '/');
  if (range_and_step.size() > 2) return wrong(range, item, "has more than one step");
  const std::vector<std::string> ends = parts_of(range_and_step[0], '-');
  if (ends.size() > 2) return wrong(range, item, "has more than one hyphen");
  FieldValues out;
  int first = range.min;
  int last = range.max;
  if (range_and_step[0] == "*" || range_and_step[0] == "?") {
    out.any = true;
  } else {
    ASSIGN_OR_RETURN(first, read_value(range, ends[0], item));
    last = first;
    if (ends.size() == 2) {
      ASSIGN_OR_RETURN(last, read_value(range, ends[1], item));
    } else if (range_and_step.size() == 2) {
      last = range.max;
    }
  }
  if (first > last) return wrong(range, item, "the range ends before it begins");
  int step = 1;
  if (range_and_step.size() == 2) {
    const std::optional<int> number = number_of(range_and_step[1]);
    if (!number || *number == 0) {
      return wrong(range, item, fmt::format("the step is \"{}\", it must be a number above 0", range_and_step[1]));
    }
    // A longer step has no effect, and would not end the loop in time.
    step = std::min(*number, range.max + 1);
    out.any = out.any && step == 1;
  }
  for (int value = first; value <= last; value += step) out.bits |= std::uint64_t{1} << static_cast<unsigned>(value);
  return out;
}

Result<FieldValues> read_field(const FieldRange& range, const std::string& text) {
  FieldValues out;
  for (const std::string& item : parts_of(text, ',')) {
    if (item.empty()) return wrong(range, text, "the list has an empty item");
    ASSIGN_OR_RETURN(const FieldValues values, read_item(range, item));
    out.bits |= values.bits;
    out.any = out.any || values.any;
  }
  return out;
}

bool has(std::uint64_t bits, int value) { return ((bits >> static_cast<unsigned>(value)) & 1U) != 0; }

constexpr std::array<int, 13> kMaxDays{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

/// Whether a month of the fields has a day of the fields. A weekday alone is in every month.
bool is_in_calendar(const CronFields& fields) {
  if (fields.any_day || !fields.any_weekday) return true;
  for (int month = 1; month <= 12; ++month) {
    if (!has(fields.months, month)) continue;
    for (int day = 1; day <= kMaxDays.at(static_cast<std::size_t>(month)); ++day) {
      if (has(fields.days, day)) return true;
    }
  }
  return false;
}

}  // namespace

Result<CronFields> CronFields::parse(std::string_view text) {
  const std::vector<std::string> words = words_of(text);
  if (words.size() != kRanges.size()) {
    return Error::invalid_argument(
        "has {} fields, expected 5: minute, hour, day of month, month and day of week, such as \"30 2 * * 1-5\"; or a "
        "descriptor, such as @daily",
        words.size());
  }
  std::array<FieldValues, kRanges.size()> values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSIGN_OR_RETURN(values.at(i), read_field(kRanges.at(i), words[i]));
  }
  CronFields out;
  out.minutes = values[0].bits;
  out.hours = values[1].bits;
  out.days = values[2].bits;
  out.months = values[3].bits;
  out.weekdays = values[4].bits;
  out.any_day = values[2].any;
  out.any_weekday = values[4].any;
  if (!is_in_calendar(out)) {
    return Error::invalid_argument("day of month \"{}\" is in no month of \"{}\", so there is never a run", words[2],
                                   words[3]);
  }
  return out;
}

bool CronFields::matches(cctz::civil_day day) const {
  if (!has(months, static_cast<int>(day.month()))) return false;
  const bool by_day = has(days, day.day());
  // cctz counts from Monday.
  const bool by_weekday = has(weekdays, (static_cast<int>(cctz::get_weekday(day)) + 1) % 7);
  return any_day || any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

}  // namespace tpuslice::raycronjob
