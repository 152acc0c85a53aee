// What a plan writes and reports, in the words of the tests, and matchers of plans, which print what differs and the
// whole plan as YAML.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/yaml.h"
#include "controllers/plan/plan.h"

namespace tpuslice::plan {

inline void PrintTo(const Plan& plan, std::ostream* out) { *out << "\n" << to_yaml(to_json(plan)); }

/// The lines that are only in `before` ("-") or only in `after` ("+"), each group after the common line before it.
inline std::string line_difference(const std::string& before, const std::string& after) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      out.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return out;
  };
  const std::vector<std::string> a = lines(before);
  const std::vector<std::string> b = lines(after);
  // Length of the longest common subsequence of the lines from i and j on.
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::string out;
  bool after_common = false;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      after_common = true;
      ++i;
      ++j;
      continue;
    }
    if (after_common) out += "  " + a[i - 1] + "\n";
    after_common = false;
    const bool removed = j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]);
    out += (removed ? "- " + a[i++] : "+ " + b[j++]) + "\n";
  }
  return out;
}

/// An action in words: "create Job train", "patch Job train-0 status", "delete Job train-1 Foreground".
inline std::string write_of(const Action& action) {
  const char* verb = action.kind == ActionKind::kCreate  ? "create"
                     : action.kind == ActionKind::kPatch ? "patch"
                                                         : "delete";
  std::string text = fmt::format("{} {} {}", verb, action.type.kind, action.key.name);
  if (!action.subresource.empty()) text += " " + action.subresource;
  if (action.propagation) text += fmt::format(" {}", to_string(*action.propagation));
  return text;
}

/// The writes of each stage, as write_of() says them.
inline std::vector<std::vector<std::string>> stages_of(const Plan& plan) {
  std::vector<std::vector<std::string>> out;
  for (const Stage& stage : plan.stages) {
    out.emplace_back();
    for (const Action& action : stage.actions) out.back().push_back(write_of(action));
  }
  return out;
}

/// The writes of all stages, in order; with `of`, such as "create Job", only those of that verb and kind.
inline std::vector<std::string> writes_of(const Plan& plan, const std::string& of = {}) {
  std::vector<std::string> out;
  for (const std::vector<std::string>& stage : stages_of(plan)) {
    std::ranges::copy_if(stage, std::back_inserter(out),
                         [&](const std::string& write) { return of.empty() || write.starts_with(of + " "); });
  }
  return out;
}

/// The only action whose write_of() is `write`. Throws what the plan writes if there is none or more than one, so that
/// the test ends.
inline Action action_of(const Plan& plan, std::string_view write) {
  std::vector<Action> found;
  for (const Stage& stage : plan.stages) {
    std::ranges::copy_if(stage.actions, std::back_inserter(found),
                         [&](const Action& action) { return write_of(action) == write; });
  }
  if (found.size() == 1) return found.front();
  throw std::out_of_range(
      fmt::format("{} of \"{}\"; the plan writes: {}", found.size(), write, fmt::join(writes_of(plan), ", ")));
}

/// No writes and no events.
MATCHER(IsEmptyPlan, "writes nothing") { return arg.empty(); }

/// The whole plan; prints the lines that differ.
MATCHER_P(EqualsPlan, expected, "is the given plan") {
  const std::string before = to_yaml(to_json(expected));
  const std::string after = to_yaml(to_json(arg));
  if (before == after) return true;
  *result_listener << "the difference (- expected, + actual) is\n" << line_difference(before, after);
  return false;
}

/// What the plan reports of its actions, in their order; what several of them share once.
inline std::vector<const ActionEvents*> reports_of(const Plan& plan) {
  std::vector<const ActionEvents*> out;
  std::set<const ActionEvents*> seen;
  for (const Stage& stage : plan.stages) {
    for (const Action& action : stage.actions) {
      if (action.events != nullptr && seen.insert(action.events.get()).second) out.push_back(action.events.get());
    }
  }
  return out;
}

/// All events that the plan may send: those of its actions, in their order (success before failure), then its own.
inline std::vector<EventIntent> events_of(const Plan& plan) {
  std::vector<EventIntent> out;
  for (const ActionEvents* events : reports_of(plan)) {
    std::ranges::copy(events->on_success, std::back_inserter(out));
    std::ranges::copy(events->on_failure, std::back_inserter(out));
  }
  std::ranges::copy(plan.events, std::back_inserter(out));
  return out;
}

/// All measurements that the plan may make: those of its actions, in their order, then its own.
inline std::vector<Measurement> measurements_of(const Plan& plan) {
  std::vector<Measurement> out;
  for (const ActionEvents* events : reports_of(plan)) std::ranges::copy(events->measurements, std::back_inserter(out));
  std::ranges::copy(plan.measurements, std::back_inserter(out));
  return out;
}

/// The plan increments counters only that are declared, with the values of their labels.
MATCHER_P(CountsOnly, declared, "increments declared counters only") {
  return std::ranges::all_of(measurements_of(arg), [&](const Measurement& measured) {
    if (measured.kind != Measurement::Kind::kCount) return true;
    *result_listener << measured.name << " " << ::testing::PrintToString(measured.labels) << " ";
    return std::ranges::any_of(declared, [&](const CounterDefinition* counter) {
      if (counter->name != measured.name) return false;
      if (!counter->object_label.empty()) {
        return measured.labels.size() == 2 && measured.labels.contains(std::string(counter->object_label)) &&
               measured.labels.contains("namespace");
      }
      if (counter->label.empty()) return measured.labels.empty();
      const auto value = measured.labels.find(std::string(counter->label));
      return measured.labels.size() == 1 && value != measured.labels.end() &&
             std::ranges::find(counter->values, value->second) != counter->values.end();
    });
  });
}

/// An event with the reason.
MATCHER_P(HasEvent, reason, "has an event with the given reason") {
  return std::ranges::any_of(events_of(arg), [&](const EventIntent& event) { return event.reason == reason; });
}

}  // namespace tpuslice::plan
