#include "controllers/plan/changes.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace tpuslice::plan {
namespace {

/// Whether the two are equal when objects in them have no members of these names.
bool are_equal_without(std::initializer_list<std::string_view> names, const Json& a, const Json& b) {
  if (a.is_array() && b.is_array()) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const Json& left, const Json& right) { return are_equal_without(names, left, right); });
  }
  if (!a.is_object() || !b.is_object()) return a == b;
  const auto is_left_out = [&](const std::string& name) { return std::ranges::find(names, name) != names.end(); };
  for (const auto& [name, value] : a.items()) {
    if (is_left_out(name)) continue;
    const auto found = b.find(name);
    if (found == b.end() || !are_equal_without(names, value, *found)) return false;
  }
  for (const auto& [name, value] : b.items()) {
    if (!is_left_out(name) && !a.contains(name)) return false;
  }
  return true;
}

}  // namespace

ActionEvents result_events(EventText success, EventText failure, std::string_view action) {
  return {.on_success = {{EventType::kNormal, std::string(success.reason), std::string(action),
                          std::move(success.message)}},
          .on_failure = {
              {EventType::kWarning, std::string(failure.reason), std::string(action), std::move(failure.message)}}};
}

void Changes::event(EventType type, std::string_view reason, std::string message) {
  events.push_back({type, std::string(reason), std::string(kReconciling), std::move(message)});
}

void Changes::count(const CounterDefinition& counter, std::string_view value) {
  measurements.push_back(increment(counter, value));
}

Measurement increment(const CounterDefinition& counter, std::string_view value) {
  Measurement measured{Measurement::Kind::kCount, std::string(counter.name), std::string(counter.help)};
  if (!counter.label.empty()) measured.labels.emplace(counter.label, value);
  return measured;
}

void Changes::count_object(const CounterDefinition& counter, const ObjectKey& object) {
  Measurement measured{Measurement::Kind::kCount, std::string(counter.name), std::string(counter.help)};
  measured.labels = {{std::string(counter.object_label), object.name}, {"namespace", object.namespace_name}};
  measurements.push_back(std::move(measured));
}

void Changes::requeue_within(Duration time) { plan::requeue_within(requeue_after, time); }

Plan to_plan(Changes changes, const Json& before, Json status, std::string status_reason) {
  Plan plan;
  plan.reason = summary(changes.reasons);
  std::erase_if(changes.stages, [](const Stage& stage) { return stage.actions.empty(); });
  plan.stages = std::move(changes.stages);
  if (status != before) {
    if (plan.reason.empty()) plan.reason = std::move(status_reason);
    plan.status = StatusPatch{std::move(status)};
  }
  plan.events = std::move(changes.events);
  plan.measurements = std::move(changes.measurements);
  plan.requeue_after = changes.requeue_after;
  plan.requests = std::move(changes.requests);
  plan.keeps_failure = changes.keeps_failure;
  return plan;
}

void mark_counts(Plan& plan, const Json& before, std::initializer_list<std::string_view> fields) {
  if (!plan.status || !before.is_object()) return;
  plan.status->counts_only = are_equal_without(fields, before, plan.status->status);
}

std::string join_names(const std::vector<std::string>& names, std::size_t limit) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), limit));
  std::string out = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > limit) out += fmt::format(" and {} more", names.size() - limit);
  return out;
}

}  // namespace tpuslice::plan
