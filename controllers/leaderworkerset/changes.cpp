#include "controllers/leaderworkerset/changes.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::leaderworkerset {

using runtime::ActionKind;
using runtime::EventType;

void Changes::look_again_in(Duration time) {
  const Duration soon = std::max<Duration>(time, std::chrono::milliseconds(1));
  requeue_after = std::min(requeue_after.value_or(soon), soon);
}

void Changes::event(EventType type, std::string_view reason, std::string message, std::optional<ObjectKey> after,
                    std::optional<runtime::ObjectReference> regarding) {
  events.push_back(
      {type, std::string(reason), "Reconciling", std::move(message), std::move(after), std::move(regarding)});
}

void Changes::add(std::vector<runtime::Action>& stage, runtime::Action action, std::string reason) {
  const bool creates = action.kind == ActionKind::kCreate;
  action.failure_reason = creates ? kFailedCreate : kFailedUpdate;
  const char* verb = creates ? "create" : action.kind == ActionKind::kPatch ? "update" : "delete";
  event(EventType::kWarning, action.failure_reason,
        fmt::format("Failed to {} {} {}", verb, action.type.kind, action.key.name), action.key);
  reasons.push_back(std::move(reason));
  stage.push_back(std::move(action));
}

}  // namespace tpuslice::leaderworkerset
