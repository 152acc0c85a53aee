#include "controllers/plan/changes.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "api/types/patch.h"

namespace tpuslice::plan {

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
  const Json difference = merge_diff(before, plan.status->status);
  plan.status->counts_only = std::ranges::all_of(
      difference.items(), [&](const auto& item) { return std::ranges::find(fields, item.key()) != fields.end(); });
}

std::string join_names(const std::vector<std::string>& names, std::size_t limit) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), limit));
  std::string out = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > limit) out += fmt::format(" and {} more", names.size() - limit);
  return out;
}

}  // namespace tpuslice::plan
