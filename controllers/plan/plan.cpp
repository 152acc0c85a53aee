#include "controllers/plan/plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/types/json_text.h"
#include "api/types/utf8.h"

namespace tpuslice::plan {
namespace {

constexpr std::size_t kMaxReasons = 4;
constexpr std::size_t kMaxReasonBytes = 512;

std::string_view to_string(ActionKind kind) {
  switch (kind) {
    case ActionKind::kCreate:
      return "create";
    case ActionKind::kPatch:
      return "patch";
    case ActionKind::kDelete:
      return "delete";
  }
  return "unknown";
}

Json to_json(const EventIntent& event) {
  Json out = {{"type", event.type == EventType::kNormal ? "Normal" : "Warning"},
              {"reason", event.reason},
              {"action", event.action},
              {"message", event.message}};
  if (event.regarding) out["regarding"] = event.regarding->kind + " " + event.regarding->key.to_string();
  if (event.related) out["related"] = event.related->kind + " " + event.related->key.to_string();
  return out;
}

Json to_json(const std::vector<EventIntent>& events) {
  Json out = Json::array();
  for (const EventIntent& event : events) out.push_back(to_json(event));
  return out;
}

Json to_json(const Action& action) {
  Json out = {
      {"action", to_string(action.kind)}, {"resource", action.type.resource()}, {"object", action.key.to_string()}};
  if (!action.subresource.empty()) out["subresource"] = action.subresource;
  if (action.strategic) out["patchType"] = "strategic";
  if (action.best_effort) out["optional"] = true;
  if (!action.body.is_null()) {
    const Result<Json> body = action.body.make();
    out["body"] = body ? *body : Json("error: " + body.error().message());
  }
  if (!action.preconditions.uid.empty()) out["uid"] = action.preconditions.uid;
  if (!action.preconditions.resource_version.empty()) out["resourceVersion"] = action.preconditions.resource_version;
  if (action.grace_seconds) out["gracePeriodSeconds"] = *action.grace_seconds;
  if (action.propagation) out["propagationPolicy"] = to_string(*action.propagation);
  if (!action.failure_reason.empty()) out["failureReason"] = action.failure_reason;
  if (!action.random_token.empty()) out["randomToken"] = action.random_token;
  if (action.use_existing) out["useExisting"] = true;
  return out;
}

/// Adds the events of the action; those that it shares only to the first action that has them.
void add_events(const Action& action, std::map<const ActionEvents*, std::string>& first, Json& out) {
  if (action.events == nullptr) return;
  const auto [known, is_first] = first.emplace(action.events.get(), action.key.to_string());
  if (!is_first) {
    out["eventsWith"] = known->second;
    return;
  }
  if (!action.events->on_success.empty()) out["onSuccess"] = to_json(action.events->on_success);
  if (!action.events->on_failure.empty()) out["onFailure"] = to_json(action.events->on_failure);
}

}  // namespace

std::string_view to_string(Propagation propagation) {
  return propagation == Propagation::kForeground ? "Foreground" : "Background";
}

Result<Json> Body::make() const {
  if (make_) return make_();
  return json_;
}

Result<std::string> Body::text() const {
  if (make_text_) return make_text_();
  ASSIGN_OR_RETURN(const Json json, make());
  return print_json(json);
}

Action Action::create(const ResourceType& type, Object object) {
  Action action;
  action.kind = ActionKind::kCreate;
  action.type = type;
  action.key = object.key();
  action.body = std::move(object.mutable_json());
  return action;
}

Action Action::create(const ResourceType& type, ObjectKey key, Body::Maker make, Body::TextMaker make_text) {
  Action action;
  action.kind = ActionKind::kCreate;
  action.type = type;
  action.key = std::move(key);
  action.body = Body(std::move(make), std::move(make_text));
  return action;
}

Action Action::remove(const ResourceType& type, ObjectKey key, Preconditions preconditions) {
  Action action;
  action.kind = ActionKind::kDelete;
  action.type = type;
  action.key = std::move(key);
  action.preconditions = std::move(preconditions);
  return action;
}

Action Action::patch(const ResourceType& type, ObjectKey key, Json merge_patch, Preconditions preconditions) {
  Action action;
  action.kind = ActionKind::kPatch;
  action.type = type;
  action.key = std::move(key);
  action.body = std::move(merge_patch);
  action.preconditions = std::move(preconditions);
  return action;
}

Json status_of(const Object& object) {
  const Json* status = find_path(object.json(), {"status"});
  return status == nullptr ? Json() : *status;
}

void requeue_within(std::optional<Duration>& requeue_after, Duration time) {
  set_earlier(requeue_after, std::max<Duration>(time, std::chrono::milliseconds(1)));
}

std::string summary(const std::vector<std::string>& reasons) {
  std::string out;
  for (std::size_t i = 0; i < reasons.size() && i < kMaxReasons; ++i) {
    out += (i == 0 ? "" : "; ") + clip(reasons[i], kMaxReasonBytes);
  }
  if (reasons.size() > kMaxReasons) out += fmt::format("; and {} more", reasons.size() - kMaxReasons);
  return out;
}

Json to_json(const Plan& plan) {
  Json out = {{"reason", plan.reason}};
  Json stages = Json::array();
  std::map<const ActionEvents*, std::string> first;  // The object of the first action with these events.
  for (const Stage& stage : plan.stages) {
    Json actions = Json::array();
    for (const Action& action : stage.actions) {
      actions.push_back(to_json(action));
      add_events(action, first, actions.back());
    }
    stages.push_back(std::move(actions));
  }
  out["stages"] = std::move(stages);
  if (plan.status) out["status"] = plan.status->status;
  out["events"] = to_json(plan.events);
  for (const WorkloadRequest& request : plan.requests) out["requests"].push_back(to_json(request));
  if (plan.keeps_failure) out["keepsFailure"] = true;
  if (plan.requeue_after) {
    out["requeueAfterSeconds"] = std::chrono::duration_cast<std::chrono::duration<double>>(*plan.requeue_after).count();
  }
  return out;
}

}  // namespace tpuslice::plan
