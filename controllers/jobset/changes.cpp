#include "controllers/jobset/changes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/conditions.h"

namespace tpuslice::jobset {

using runtime::EventType;

void Changes::look_again_in(Duration time) {
  const Duration soon = std::max<Duration>(time, std::chrono::milliseconds(1));
  requeue_after = std::min(requeue_after.value_or(soon), soon);
}

void Changes::set_condition(std::string_view type, bool value, std::string_view reason, const std::string& message,
                            EventType of_event) {
  const Json* before = find_condition(status.conditions, type);
  if (before == nullptr && !value) return;
  const Condition condition{std::string(type), value ? "True" : "False", std::string(reason), message, spec.generation};
  const bool news = before == nullptr || string_at(*before, {"status"}) != condition.status ||
                    string_at(*before, {"reason"}) != condition.reason ||
                    string_at(*before, {"message"}) != condition.message;
  tpuslice::set_condition(status.conditions, condition, now);
  if (news) event(of_event, reason, message);
}

void Changes::end_condition(std::string_view type) {
  const Json* before = find_condition(status.conditions, type);
  if (before == nullptr || string_at(*before, {"status"}) != "True") return;
  const Condition condition{std::string(type), "False", string_at(*before, {"reason"}), string_at(*before, {"message"}),
                            spec.generation};
  tpuslice::set_condition(status.conditions, condition, now);
}

void Changes::event(EventType type, std::string_view reason, std::string message, std::optional<ObjectKey> after) {
  events.push_back({type, std::string(reason), "Reconciling", std::move(message), std::move(after)});
}

void Changes::count(std::string name, std::string help, std::map<std::string, std::string> labels) {
  measurements.push_back(
      {runtime::Measurement::Kind::kCount, std::move(name), std::move(help), std::move(labels), 1, std::nullopt});
}

std::string join_names(const std::vector<std::string>& names, std::size_t limit) {
  const std::size_t told = std::min(names.size(), limit);
  std::string out =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(told), ", "));
  if (told < names.size()) out += fmt::format(" and {} more", names.size() - told);
  return out;
}

}  // namespace tpuslice::jobset
