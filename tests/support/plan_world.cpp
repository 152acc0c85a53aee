#include "tests/support/plan_world.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/types/patch.h"
#include "tests/support/preconditions.h"

namespace tpuslice::plan {
namespace {

constexpr const char* kForegroundDeletion = "foregroundDeletion";

/// Whether all elements of the list have a name.
bool is_named_list(const Json& list) {
  return list.is_array() &&
         std::ranges::all_of(list, [](const Json& each) { return !string_at(each, {"name"}).empty(); });
}

/// A strategic merge patch of the lists that planners send: elements with a name are merged by it, other lists are
/// replaced.
Json merge_by_name(Json live, const Json& patch) {
  if (patch.is_object()) {
    if (!live.is_object()) live = Json::object();
    for (const auto& [key, value] : patch.items()) {
      if (value.is_null()) {
        live.erase(key);
      } else {
        live[key] = merge_by_name(live.value(key, Json()), value);
      }
    }
    return live;
  }
  if (!is_named_list(patch) || !is_named_list(live)) return patch;
  for (const Json& each : patch) {
    const auto found = std::ranges::find(live, each["name"], [](const Json& other) { return other.at("name"); });
    if (found == live.end()) {
      live.push_back(each);
    } else {
      *found = merge_by_name(*found, each);
    }
  }
  return live;
}

}  // namespace

const PlanWorld::Objects& PlanWorld::of_kind(std::string_view kind) const {
  static const Objects kNone;
  const auto found = objects_.find(kind);
  return found == objects_.end() ? kNone : found->second;
}

bool PlanWorld::gone() const {
  return object_.json()["metadata"].contains("deletionTimestamp") &&
         array_at(object_.json(), {"metadata", "finalizers"}).empty();
}

Json& PlanWorld::add(const ResourceType& type, Json object) {
  object["metadata"]["uid"] = fmt::format("uid-{}", ++uids_);
  object["metadata"]["resourceVersion"] = "1";
  Json& added = objects(type)[string_at(object, {"metadata", "name"})];
  added = std::move(object);
  return added;
}

Json* PlanWorld::find(const Action& action) {
  if (action.type == type_ && action.key.name == object_.name()) return gone() ? nullptr : &object_.mutable_json();
  Objects& objects = this->objects(action.type);
  const auto found = objects.find(action.key.name);
  return found == objects.end() ? nullptr : &found->second;
}

Status PlanWorld::create(const Action& action) {
  if (find(action) != nullptr) {
    return Error::of(ErrorCode::kAlreadyExists, "{} {} already exists", action.type.resource(), action.key.name);
  }
  Result<Json> body = action.body.make();
  if (!body) return body.error();
  prepare(action.type, *body);
  add(action.type, *std::move(body));
  return {};
}

void PlanWorld::remove(const Action& action, Json& live) {
  // A delete of other propagation replaces one in the foreground.
  Json finalizers = Json::array();
  for (const Json& each : array_at(live, {"metadata", "finalizers"})) {
    if (each != kForegroundDeletion) finalizers.push_back(each);
  }
  if (action.propagation == Propagation::kForeground) finalizers.push_back(kForegroundDeletion);
  const bool reconciled = &live == &object_.json();
  if (!reconciled && finalizers.empty() && !terminates(action.type)) {
    objects(action.type).erase(action.key.name);
    return;
  }
  Json& metadata = live["metadata"];
  if (finalizers.empty()) {
    metadata.erase("finalizers");
  } else {
    metadata["finalizers"] = std::move(finalizers);
  }
  if (!metadata.contains("deletionTimestamp")) metadata["deletionTimestamp"] = format_rfc3339(now_);
  touch(live);
}

Status PlanWorld::apply(const Action& action) {
  ++writes_;
  if (refusal_) {
    if (const std::optional<Error> refused = refusal_(action)) return *refused;
  }
  if (action.kind == ActionKind::kCreate) {
    RETURN_IF_ERROR(create(action));
    applied(action, Json());
    return {};
  }
  Json* live = find(action);
  if (live == nullptr) return Error::not_found("{} {} not found", action.type.resource(), action.key.name);
  RETURN_IF_ERROR(check_preconditions(action, uid_of(*live), string_at(*live, {"metadata", "resourceVersion"})));
  if (action.kind == ActionKind::kDelete) {
    const Json before = *live;
    remove(action, *live);
    applied(action, before);
    return {};
  }
  const Result<Json> body = action.body.make();
  if (!body) return body.error();
  const Json before =
      std::exchange(*live, action.strategic ? merge_by_name(*live, *body) : apply_merge_patch(*live, *body));
  if (*live != before) touch(*live);
  applied(action, before);
  return {};
}

void PlanWorld::apply(const StatusPatch& status) {
  ++writes_;
  Json& object = object_.mutable_json();
  object["status"] = status.status;
  touch(object);
}

std::optional<Error> PlanWorld::adopt(const Action& action, const Error& exists) {
  if (!action.random_token.empty()) return std::nullopt;
  const Object existing(*find(action));
  const std::optional<ControllerRef> theirs = existing.controller();
  const std::optional<ControllerRef> ours = Object(action.body.make().value()).controller();
  const bool same = theirs && ours ? theirs->uid == ours->uid : !theirs && !ours;
  if (!same) return action.use_existing ? std::nullopt : std::optional(exists);
  if (existing.deletion_timestamp()) return conflict(action, "an object of that name is being deleted");
  return std::nullopt;
}

std::optional<Error> PlanWorld::run(const Action& action) {
  const Status status = apply(action);
  if (status) return std::nullopt;
  const Json* live = find(action);
  const bool other = live == nullptr || uid_of(*live) != action.preconditions.uid;
  switch (status.error().code()) {
    case ErrorCode::kAlreadyExists:
      return live == nullptr ? status.error() : adopt(action, status.error());
    case ErrorCode::kNotFound:
      if (action.kind == ActionKind::kDelete) return std::nullopt;
      return conflict(action, "it was deleted");
    case ErrorCode::kConflict:
      if (action.kind == ActionKind::kDelete && other) return std::nullopt;
      return status.error();
    default:
      return status.error();
  }
}

bool PlanWorld::carry_out_stages(const Plan& plan, std::size_t& left) {
  bool complete = true;
  bool recorded = false;
  for (const Stage& stage : plan.stages) {
    bool goes_on = true;
    for (const Action& action : stage.actions) {
      if (left == 0) return false;
      --left;
      const std::optional<Error> error = run(action);
      if (!error || action.best_effort) continue;
      complete = false;
      goes_on = stage.continue_on_failure;
      if (error->code() != ErrorCode::kConflict && !std::exchange(recorded, true)) {
        last_failure_ = Failure{action.failure_reason, error->message(), now_};
      }
      if (!stage.independent && error->code() != ErrorCode::kAlreadyExists) break;
    }
    if (!goes_on) break;
  }
  return complete;
}

bool PlanWorld::carry_out(const Plan& plan, std::size_t limit) {
  bool complete = carry_out_stages(plan, limit);
  if (complete && plan.status) {
    complete = limit > 0;
    if (complete) apply(*plan.status);
  }
  if (complete && !plan.keeps_failure) last_failure_.reset();
  carried_out(plan, complete);
  return complete;
}

Plan PlanWorld::step() {
  Plan out = plan();
  carry_out(out);
  return out;
}

int PlanWorld::settle(int limit) {
  for (int round = 1; round <= limit; ++round) {
    const Plan done = step();
    if (!done.empty()) {
      advance();
      continue;
    }
    const auto before = objects_;
    advance();
    if (before != objects_) continue;
    const Plan next = plan();
    if (next.empty() && next.requests == done.requests) return round;
  }
  ADD_FAILURE() << "not at rest after " << limit << " plans; the next one: " << plan().reason;
  return limit + 1;
}

}  // namespace tpuslice::plan
