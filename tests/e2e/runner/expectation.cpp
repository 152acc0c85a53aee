#include "tests/e2e/runner/expectation.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::e2e {
namespace {

std::string name_of(const Json& object) { return string_at(object, {"metadata", "name"}, "(object)"); }

std::string as_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// The value, or the part of it that is compared.
Json compared(const FieldCheck& check, const Json& value) {
  if (!check.part) return value;
  std::smatch match;
  const std::string text = as_text(value);
  if (!std::regex_search(text, match, *check.part) || match.size() < 2) return "(no such part in " + text + ")";
  return match[1].str();
}

/// The values of one object; empty if it has none.
std::vector<Json> values_of(const FieldCheck& check, const Json& object) {
  std::vector<Json> values = check.path.values(object);
  for (Json& value : values) value = compared(check, value);
  return values;
}

std::vector<Json> sorted(std::vector<Json> values) {
  std::sort(values.begin(), values.end());
  return values;
}

/// Comparisons of a single value.
std::string mismatch_of_value(const FieldCheck& check, const Json& value, const SavedValues& saved) {
  switch (check.comparison) {
    case Comparison::kEquals:
      return value == check.value ? "" : fmt::format("expected {}", check.value.dump());
    case Comparison::kMatches:
      return std::regex_search(as_text(value), check.pattern) ? "" : "which does not match";
    case Comparison::kNoneOf: {
      const std::vector<Json>& values = saved.at(check.value.get<std::string>());
      return std::find(values.begin(), values.end(), value) == values.end()
                 ? ""
                 : fmt::format("which is one of {}", check.value.get<std::string>());
    }
    case Comparison::kAbsent:
      return "expected to be absent";
    default:
      return "";
  }
}

bool compares_all_values(Comparison comparison) {
  return comparison == Comparison::kAnyOrder || comparison == Comparison::kSameAs;
}

std::string mismatch_of_all(const FieldCheck& check, const std::vector<Json>& all, const SavedValues& saved) {
  const std::string found = fmt::format("{}: found {}", check.path.text(), Json(all).dump());
  const std::vector<Json> in_order = sorted(all);
  switch (check.comparison) {
    case Comparison::kAnyOrder:
      if (in_order == sorted(check.value.get<std::vector<Json>>())) return "";
      return fmt::format("{}, expected {} in any order", found, check.value.dump());
    case Comparison::kSameAs: {
      const std::vector<Json>& values = saved.at(check.value.get<std::string>());
      if (in_order == sorted(values)) return "";
      return fmt::format("{}, expected the same as {}: {}", found, check.value.get<std::string>(), Json(values).dump());
    }
    case Comparison::kAllEqual:
      return in_order.empty() || in_order.front() == in_order.back() ? "" : found + ", expected all to be equal";
    case Comparison::kAllDistinct:
      return std::adjacent_find(in_order.begin(), in_order.end()) == in_order.end()
                 ? ""
                 : found + ", expected all to be distinct";
    default:
      return "";
  }
}

std::string mismatch_of_field(const FieldCheck& check, const std::vector<Json>& objects, const SavedValues& saved) {
  std::vector<Json> all;
  for (const Json& object : objects) {
    const std::vector<Json> values = values_of(check, object);
    if (values.empty() && check.comparison != Comparison::kAbsent && !compares_all_values(check.comparison)) {
      return fmt::format("{} has no {}", name_of(object), check.path.text());
    }
    for (const Json& value : values) {
      const std::string difference = mismatch_of_value(check, value, saved);
      if (!difference.empty()) {
        return fmt::format("{}: {}: found {}, {}", name_of(object), check.path.text(), value.dump(), difference);
      }
      all.push_back(value);
    }
  }
  return mismatch_of_all(check, all, saved);
}

}  // namespace

std::string mismatch(const Expectation& expected, const std::vector<Json>& objects, const SavedValues& saved) {
  if (expected.count ? objects.size() != static_cast<std::size_t>(*expected.count) : objects.empty()) {
    std::string names;
    for (const Json& object : objects) names += " " + name_of(object);
    return fmt::format("found {} objects{}, expected {}", objects.size(), names,
                       expected.count ? std::to_string(*expected.count) : "at least one");
  }
  for (const FieldCheck& check : expected.fields) {
    std::string difference = mismatch_of_field(check, objects, saved);
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace tpuslice::e2e
