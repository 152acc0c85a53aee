// Matchers of plans. Each prints what differs, and the whole plan as YAML.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
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

inline const char* verb_of(const Action& action) {
  return action.kind == ActionKind::kCreate ? "create" : action.kind == ActionKind::kPatch ? "patch" : "delete";
}

/// "create train", "patch train-0 status", "delete train-1 Foreground" for each action, by stage.
inline std::vector<std::vector<std::string>> stages_of(const Plan& plan) {
  std::vector<std::vector<std::string>> out;
  for (const Stage& stage : plan.stages) {
    out.emplace_back();
    for (const Action& action : stage.actions) {
      std::string text = fmt::format("{} {}", verb_of(action), action.key.name);
      if (!action.subresource.empty()) text += " " + action.subresource;
      if (action.propagation) text += fmt::format(" {}", to_string(*action.propagation));
      out.back().push_back(std::move(text));
    }
  }
  return out;
}

/// "create StatefulSet serve" for each action, in order.
inline std::vector<std::string> writes_of(const Plan& plan) {
  std::vector<std::string> out;
  for (const Stage& stage : plan.stages) {
    for (const Action& action : stage.actions) {
      out.push_back(fmt::format("{} {} {}", verb_of(action), action.type.kind, action.key.name));
    }
  }
  return out;
}

/// Names of the objects of `type` that the plan creates, patches or deletes, sorted.
inline std::vector<std::string> names_of(const Plan& plan, ActionKind kind, const ResourceType& type) {
  std::vector<std::string> out;
  for (const Stage& stage : plan.stages) {
    for (const Action& action : stage.actions) {
      if (action.kind == kind && action.type == type) out.push_back(action.key.name);
    }
  }
  std::ranges::sort(out);
  return out;
}

/// Explains on `listener` which names are missing or unexpected; returns whether there are none.
inline bool same_names(std::vector<std::string> expected, const std::vector<std::string>& actual,
                       ::testing::MatchResultListener* listener) {
  std::ranges::sort(expected);
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::ranges::set_difference(expected, actual, std::back_inserter(missing));
  std::ranges::set_difference(actual, expected, std::back_inserter(unexpected));
  if (!missing.empty()) *listener << fmt::format("missing: {} ", fmt::join(missing, ", "));
  if (!unexpected.empty()) *listener << fmt::format("unexpected: {}", fmt::join(unexpected, ", "));
  return missing.empty() && unexpected.empty();
}

/// EXPECT_THAT(plan, Creates(kPods, {"train-head", "train-worker-0"})): exactly these, in any order.
MATCHER_P2(Creates, type, names, "creates exactly the given objects") {
  return same_names(names, names_of(arg, ActionKind::kCreate, type), result_listener);
}
inline auto Creates(const ResourceType& type, std::vector<std::string> names) {
  return Creates<ResourceType, std::vector<std::string>>(type, std::move(names));
}
MATCHER_P2(Patches, type, names, "patches exactly the given objects") {
  return same_names(names, names_of(arg, ActionKind::kPatch, type), result_listener);
}
inline auto Patches(const ResourceType& type, std::vector<std::string> names) {
  return Patches<ResourceType, std::vector<std::string>>(type, std::move(names));
}
MATCHER_P2(Deletes, type, names, "deletes exactly the given objects") {
  return same_names(names, names_of(arg, ActionKind::kDelete, type), result_listener);
}
inline auto Deletes(const ResourceType& type, std::vector<std::string> names) {
  return Deletes<ResourceType, std::vector<std::string>>(type, std::move(names));
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
