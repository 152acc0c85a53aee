#include "api/sim/schema/formats.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "api/base/clock.h"
#include "api/types/validation_names.h"

namespace tpuslice::sim {
namespace {

struct Format {
  std::string_view name;
  const char* pattern;  ///< Null where a function below checks it.
};

constexpr const char* kOctet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";

constexpr std::array kPatterns = {
    Format{"date", "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"},
    Format{"byte", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
    Format{"uuid", "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    Format{"uri", "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s]+$"},
    Format{"mac", "(?i)^([0-9a-f]{2}[:-]){5}[0-9a-f]{2}$"},
    Format{"duration", "^[0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h)([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))*$"},
};

/// Formats that the API server checks and this program does not: a CRD that uses one is refused.
constexpr std::array<std::string_view, 10> kRefused = {"bsonobjectid", "isbn",     "isbn10",   "isbn13", "creditcard",
                                                       "ssn",          "hexcolor", "rgbcolor", "cidr",   "email"};

bool is_ipv4(const std::string& text) {
  static const RE2 kAddress(fmt::format("^({0}\\.){{3}}{0}$", kOctet));
  return RE2::PartialMatch(text, kAddress);
}

bool is_ipv6(const std::string& text) {
  static const RE2 kFull("(?i)^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$");
  static const RE2 kShort("(?i)^(([0-9a-f]{1,4}(:[0-9a-f]{1,4})*)?)::(([0-9a-f]{1,4}(:[0-9a-f]{1,4})*)?)$");
  if (RE2::PartialMatch(text, kFull)) return true;
  return RE2::PartialMatch(text, kShort) && std::count(text.begin(), text.end(), ':') <= 7;
}

}  // namespace

bool usable_format(std::string_view format) {
  return std::find(kRefused.begin(), kRefused.end(), format) == kRefused.end();
}

bool matches_format(std::string_view format, const std::string& value) {
  if (format == "date-time" || format == "datetime") return parse_rfc3339(value).has_value();
  if (format == "ipv4") return is_ipv4(value);
  if (format == "ipv6") return is_ipv6(value);
  if (format == "hostname") return check_dns1123_subdomain(value).empty();
  for (const Format& each : kPatterns) {
    if (each.name == format) return matches_pattern(each.pattern, value);
  }
  return true;
}

bool matches_pattern(const std::string& pattern, const std::string& value) {
  // Per thread, so that no lock is needed; a cluster has few patterns, a fuzzer has many.
  constexpr std::size_t kMost = 1000;
  static thread_local std::map<std::string, std::unique_ptr<RE2>, std::less<>> compiled;
  auto found = compiled.find(pattern);
  if (found == compiled.end()) {
    if (compiled.size() >= kMost) compiled.clear();
    found = compiled.emplace(pattern, std::make_unique<RE2>(pattern, RE2::Quiet)).first;
  }
  return found->second->ok() && RE2::PartialMatch(value, *found->second);
}

std::string pattern_error(const std::string& pattern) {
  const RE2 compiled(pattern, RE2::Quiet);
  return compiled.ok() ? std::string() : compiled.error();
}

std::string_view json_type(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  return value.is_number_integer() ? "integer" : "number";
}

std::size_t text_length(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

}  // namespace tpuslice::sim
