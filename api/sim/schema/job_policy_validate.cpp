// What the API server refuses of the rules of Jobs.
#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/workload_checks.h"

namespace tpuslice::sim {
namespace {

constexpr std::size_t kMostRules = 20;
constexpr std::size_t kMostPatterns = 20;
constexpr std::size_t kMostExitCodes = 255;

void check_length(Problems& problems, const FieldPath& path, const Json& list, std::size_t most) {
  if (list.size() <= most) return;
  problems.add(path, "FieldValueTooMany", fmt::format("Too many: {}", list.size()),
               fmt::format("must have at most {} items", most));
}

void check_required_choice(Problems& problems, const FieldPath& path, const Json& object, const char* name,
                           const std::vector<std::string>& supported) {
  if (!string_at(object, {name}).empty()) return check_choice(problems, path, object, name, supported);
  std::string list;
  for (const std::string& each : supported) list += (list.empty() ? "\"" : " \"") + each + "\"";
  problems.required(path.member(name), fmt::format("valid values: [{}]", list));
}

std::set<std::string> container_names_of(const Json& spec) {
  std::set<std::string> names;
  for (const char* kind : {"containers", "initContainers"}) {
    for (const Json& container : array_at(spec, {"template", "spec", kind})) {
      names.insert(string_at(container, {"name"}));
    }
  }
  return names;
}

void check_exit_codes(Problems& problems, const FieldPath& path, const Json& codes, const Json& spec) {
  check_required_choice(problems, path, codes, "operator", {"In", "NotIn"});
  if (codes.contains("containerName") && container_names_of(spec).count(string_at(codes, {"containerName"})) == 0) {
    problems.invalid(path.member("containerName"), codes.at("containerName"),
                     "must be one of the container or initContainer names in the pod template");
  }
  const Json& values = list_at(codes, "values");
  const FieldPath values_path = path.member("values");
  if (values.empty()) problems.invalid(values_path, values, "at least one value is required");
  check_length(problems, values_path, values, kMostExitCodes);
  std::set<Json> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0 && string_at(codes, {"operator"}) == "In") {
      problems.invalid(values_path.item(i), values[i], "must not be 0 for the In operator");
    }
    if (!seen.insert(values[i]).second) problems.duplicate(values_path.item(i), values[i]);
  }
  if (!std::is_sorted(values.begin(), values.end())) problems.invalid(values_path, values, "must be ordered");
}

void check_failure_rule(Problems& problems, const FieldPath& path, const Json& rule, const Json& spec) {
  const std::string action = string_at(rule, {"action"});
  if (action == "FailIndex" && !spec.contains("backoffLimitPerIndex")) {
    problems.invalid(path.member("action"), action, "requires the backoffLimitPerIndex to be set");
  }
  check_required_choice(problems, path, rule, "action", {"Count", "FailIndex", "FailJob", "Ignore"});
  const bool by_code = rule.contains("onExitCodes");
  if (by_code) check_exit_codes(problems, path.member("onExitCodes"), rule.at("onExitCodes"), spec);
  const Json& patterns = list_at(rule, "onPodConditions");
  const FieldPath patterns_path = path.member("onPodConditions");
  check_length(problems, patterns_path, patterns, kMostPatterns);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const FieldPath pattern = patterns_path.item(i);
    const std::string type = string_at(patterns[i], {"type"});
    check_name(problems, pattern.member("type"), type, check_label_key(type));
    check_required_choice(problems, pattern, patterns[i], "status", {"False", "True", "Unknown"});
  }
  if (by_code != patterns.empty()) {
    problems.add(path, "FieldValueInvalid", "Invalid value",
                 by_code ? "specifying both OnExitCodes and OnPodConditions is not supported"
                         : "specifying one of OnExitCodes and OnPodConditions is required");
  }
}

/// Reads "0,2-4". The number of indexes, or what is wrong with it.
std::variant<std::int64_t, std::string> count_indexes_in(std::string_view text, std::int64_t completions) {
  std::int64_t total = 0;
  std::int64_t last = -1;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view range = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (std::count(range.begin(), range.end(), '-') > 1) {
      return fmt::format(
          "the fragment \"{}\" violates the requirement that an index interval can have at most two parts separated by "
          "'-'",
          range);
    }
    std::optional<std::int64_t> first;
    do {
      const std::size_t dash = range.find('-');
      const std::string_view part = range.substr(0, dash);
      range.remove_prefix(dash == std::string_view::npos ? range.size() : dash + 1);
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (error != std::errc() || end != part.data() + part.size()) {
        return fmt::format("cannot convert string to integer for index: \"{}\"", part);
      }
      if (value >= completions) return fmt::format("too large index: \"{}\"", part);
      if (last >= value) return fmt::format("non-increasing order, previous: {}, current: {}", last, value);
      first = first.value_or(value);
      last = value;
    } while (!range.empty());
    total += last - *first + 1;
  }
  return total;
}

void check_success_rule(Problems& problems, const FieldPath& path, const Json& rule, std::int64_t completions) {
  const bool by_index = rule.contains("succeededIndexes");
  const bool by_count = rule.contains("succeededCount");
  if (!by_index && !by_count) {
    problems.required(path, "at least one of succeededCount or succeededIndexes must be specified");
  }
  std::int64_t indexes = 0;
  if (by_index) {
    const auto counted = count_indexes_in(string_at(rule, {"succeededIndexes"}), completions);
    if (const auto* wrong = std::get_if<std::string>(&counted)) {
      problems.invalid(path.member("succeededIndexes"), rule.at("succeededIndexes"),
                       "error parsing succeededIndexes: " + *wrong);
    } else {
      indexes = std::get<std::int64_t>(counted);
    }
  }
  if (!by_count) return;
  check_not_negative(problems, path, rule, {"succeededCount"});
  const std::int64_t count = int_at(rule, {"succeededCount"});
  const auto more_than = [&](std::int64_t most, const char* what) {
    if (count <= most) return;
    problems.invalid(path.member("succeededCount"), count,
                     fmt::format("must be less than or equal to {} (the number of {})", most, what));
  };
  more_than(completions, "specified completions");
  if (by_index) more_than(indexes, "indexes in the specified succeededIndexes field");
}

}  // namespace

void check_job_policies(Problems& problems, const FieldPath& path, const Json& spec) {
  const Json& failure = list_at(map_at(spec, "podFailurePolicy"), "rules");
  const FieldPath failure_path = path.member("podFailurePolicy");
  const FieldPath failure_rules = failure_path.member("rules");
  check_length(problems, failure_rules, failure, kMostRules);
  for (std::size_t i = 0; i < failure.size(); ++i) {
    check_failure_rule(problems, failure_rules.item(i), failure[i], spec);
  }
  if (!spec.contains("successPolicy")) return;
  const FieldPath success_path = path.member("successPolicy");
  if (string_at(spec, {"completionMode"}) != "Indexed") {
    return problems.invalid(success_path, spec.at("successPolicy"), "requires indexed completion mode");
  }
  const FieldPath success_rules = success_path.member("rules");
  const Json& success = list_at(spec.at("successPolicy"), "rules");
  if (success.empty()) {
    problems.required(success_rules, "at least one rules must be specified when the successPolicy is specified");
  }
  check_length(problems, success_rules, success, kMostRules);
  for (std::size_t i = 0; i < success.size(); ++i) {
    check_success_rule(problems, success_rules.item(i), success[i], int_at(spec, {"completions"}));
  }
}

}  // namespace tpuslice::sim
