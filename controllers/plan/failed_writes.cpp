#include "controllers/plan/failed_writes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/base/backoff.h"
#include "api/types/utf8.h"

namespace tpuslice::plan {
namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(50);
constexpr Duration kFirstBackoff = std::chrono::seconds(1);
constexpr Duration kSweepInterval = std::chrono::minutes(10);

bool is_of_server(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout || code == ErrorCode::kTooManyRequests ||
         code == ErrorCode::kUnauthorized;
}

bool is_same_write(const FailedWrite& write, const Action& action) {
  return write.kind == action.kind && write.purpose == action.failure_reason &&
         write.subresource == action.subresource && write.resource == action.type.resource();
}

Duration backoff_of(const FailedWrite& write) {
  const Duration cap = is_of_server(write.code) ? FailedWrites::kMaxBackoffOfServer : FailedWrites::kMaxBackoff;
  if (!write.keeps_failing()) return exponential_backoff(write.failures, kFirstRetry, cap);
  const int tolerated = is_refusal(write.code) ? 0 : FailedWrites::kToleratedFailures;
  return exponential_backoff(write.failures - tolerated, kFirstBackoff, cap);
}

using EventsPtr = std::shared_ptr<const ActionEvents>;

/// The number of actions that share events.
std::map<EventsPtr, std::size_t> count_by_events(const Plan& plan) {
  std::map<EventsPtr, std::size_t> counts;
  for (const Stage& stage : plan.stages) {
    for (const Action& action : stage.actions) {
      if (action.events != nullptr) ++counts[action.events];
    }
  }
  return counts;
}

/// An event says that actions have succeeded, so it is not sent while one of those in `wanted` is held back.
void drop_success_of_held(const std::map<EventsPtr, std::size_t>& wanted, Plan& plan) {
  std::map<EventsPtr, EventsPtr> reduced;
  for (const auto& [events, count] : count_by_events(plan)) {
    if (count == wanted.at(events)) continue;
    ActionEvents without = *events;
    without.on_success.clear();
    reduced[events] = std::make_shared<const ActionEvents>(std::move(without));
  }
  for (Stage& stage : plan.stages) {
    for (Action& action : stage.actions) {
      if (const auto found = reduced.find(action.events); found != reduced.end()) action.events = found->second;
    }
  }
}

}  // namespace

bool is_refusal(ErrorCode code) {
  return !is_of_server(code) && code != ErrorCode::kConflict && code != ErrorCode::kNotFound &&
         code != ErrorCode::kCancelled;
}

bool FailedWrite::keeps_failing() const { return is_refusal(code) || failures > FailedWrites::kToleratedFailures; }

bool FailedWrite::is_held(const Preconditions& preconditions, Timestamp now) const {
  if (now >= retry_at || now < last) return false;  // The clock was set back.
  return keeps_failing() || preconditions.resource_version == resource_version;
}

void FailedWrites::record_failure(const Action& action, const Error& error, Timestamp now) {
  if (action.best_effort || error.code() == ErrorCode::kCancelled) return;
  forget_unused(now);
  std::vector<FailedWrite>& of_object = writes_[action.key];
  auto write = std::ranges::find_if(of_object, [&](const FailedWrite& each) { return is_same_write(each, action); });
  if (write == of_object.end()) {
    write = of_object.emplace(of_object.end());
    ++size_;
  }
  // How often a server did not answer says nothing about how long to wait after its refusal, nor the other way round.
  const bool another_reason = is_of_server(write->code) != is_of_server(error.code());
  if (write->failures == 0 || write->uid != action.preconditions.uid || another_reason) {
    *write = {.kind = action.kind,
              .resource = action.type.resource(),
              .subresource = action.subresource,
              .purpose = action.failure_reason,
              .uid = action.preconditions.uid,
              .since = now};
  }
  write->resource_version = action.preconditions.resource_version;
  write->code = error.code();
  write->message = clip(error.message(), kMaxMessageBytes);
  ++write->failures;
  write->last = now;
  const Duration asked = std::min(error.retry_after().value_or(Duration::zero()), kMaxBackoff);
  write->retry_at = now + std::max(backoff_of(*write), asked);
  if (size_ > kMaxWrites) forget_first_due();
}

void FailedWrites::record_success(const Action& action) {
  const auto found = writes_.find(action.key);
  if (found == writes_.end()) return;
  size_ -= std::erase_if(found->second, [&](const FailedWrite& each) { return is_same_write(each, action); });
  if (found->second.empty()) writes_.erase(found);
}

const FailedWrite* FailedWrites::find(const Action& action) const {
  const auto found = writes_.find(action.key);
  if (found == writes_.end()) return nullptr;
  for (const FailedWrite& each : found->second) {
    if (is_same_write(each, action)) return each.uid == action.preconditions.uid ? &each : nullptr;
  }
  return nullptr;
}

const FailedWrite* FailedWrites::find(const ObjectKey& object, std::string_view purpose, std::string_view uid) const {
  const auto found = writes_.find(object);
  if (found == writes_.end()) return nullptr;
  for (const FailedWrite& each : found->second) {
    if (each.purpose == purpose && each.uid == uid && each.subresource.empty()) return &each;
  }
  return nullptr;
}

bool FailedWrites::refuses_patches(const ObjectKey& object, std::string_view uid) const {
  const auto found = writes_.find(object);
  return found != writes_.end() && std::ranges::any_of(found->second, [&](const FailedWrite& each) {
           return each.kind == ActionKind::kPatch && each.subresource.empty() && each.uid == uid &&
                  is_refusal(each.code);
         });
}

void FailedWrites::hold_back(Plan& plan, Timestamp now) const {
  if (writes_.empty()) return;
  const std::map<EventsPtr, std::size_t> wanted = count_by_events(plan);
  std::set<std::pair<std::string, ObjectKey>> held;
  std::size_t left = 0;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    Stage& stage = plan.stages[i];
    bool any = false;
    std::erase_if(stage.actions, [&](const Action& action) {
      const FailedWrite* const failed = action.best_effort ? nullptr : find(action);
      if (failed == nullptr || !failed->is_held(action.preconditions, now)) return false;
      any = true;
      held.emplace(action.type.resource(), action.key);
      requeue_within(plan.requeue_after, failed->retry_at - now);
      return true;
    });
    if (any && !stage.continue_on_failure) plan.stages.resize(i + 1);
  }
  if (held.empty()) return;
  for (Stage& stage : plan.stages) {
    std::erase_if(stage.actions, [&](const Action& action) {
      return action.best_effort && held.contains({action.type.resource(), action.key});
    });
    left += stage.actions.size();
  }
  std::erase_if(plan.stages, [](const Stage& stage) { return stage.actions.empty(); });
  if (left == 0) plan.events.clear();
  drop_success_of_held(wanted, plan);
}

void FailedWrites::forget_unused(Timestamp now) {
  if (now >= swept_ && now < swept_ + kSweepInterval) return;
  swept_ = now;
  for (auto object = writes_.begin(); object != writes_.end();) {
    size_ -= std::erase_if(object->second, [&](const FailedWrite& each) { return now > each.retry_at + kMemory; });
    object = object->second.empty() ? writes_.erase(object) : std::next(object);
  }
}

void FailedWrites::forget_first_due() {
  auto first = writes_.end();
  Timestamp due = Timestamp::max();
  for (auto object = writes_.begin(); object != writes_.end(); ++object) {
    for (const FailedWrite& each : object->second) {
      if (each.retry_at >= due) continue;
      due = each.retry_at;
      first = object;
    }
  }
  if (first == writes_.end()) return;
  size_ -= first->second.size();
  writes_.erase(first);
}

}  // namespace tpuslice::plan
