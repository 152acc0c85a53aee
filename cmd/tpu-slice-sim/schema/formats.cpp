#include "cmd/tpu-slice-sim/schema/formats.h"

#include <re2/re2.h>

#include <map>

#include "api/base/clock.h"
#include "api/types/quantity.h"

namespace tpuslice::sim {
namespace {

constexpr const char* kBase64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

}  // namespace

bool matches_format(std::string_view format, const std::string& value) {
  if (format == "date-time") return parse_rfc3339(value).has_value();
  if (format == "quantity") return Quantity::from_json(value).ok();
  if (format == "byte") return matches_pattern(kBase64, value);
  return true;
}

bool matches_pattern(const std::string& pattern, const std::string& value) {
  // Per thread, so that no lock is needed; a cluster has few patterns, a fuzzer has many.
  constexpr std::size_t kMaxPatterns = 1000;
  static thread_local std::map<std::string, std::unique_ptr<RE2>, std::less<>> compiled;
  auto found = compiled.find(pattern);
  if (found == compiled.end()) {
    if (compiled.size() >= kMaxPatterns) compiled.clear();
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

}  // namespace tpuslice::sim
