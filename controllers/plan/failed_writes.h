// FailedWrites: writes that failed, when each may be tried again, and for how long it has failed. For reconcilers whose
// plans write to objects of many owners: what one owner's objects refuse delays nothing else.
//
//   const FailedWrite* failed = writes.find(pod.key, "FailedPlaceSlice", pod.uid);
//   if (failed != nullptr && failed->keeps_failing()) ...  // The planner leaves the object out, and says why.
//   writes.hold_back(plan, now);  // A write that is planned nevertheless is not sent before it is due.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/plan/plan.h"

namespace tpuslice::plan {

/// A kind of write to one object, and how its last attempts failed.
struct FailedWrite {
  ActionKind kind = ActionKind::kCreate;
  std::string resource = {};  ///< ResourceType::resource()
  std::string subresource = {};
  std::string purpose = {};           ///< Action::failure_reason
  std::string uid = {};               ///< UID of the object; empty for a create.
  std::string resource_version = {};  ///< The precondition of the last attempt; empty without one.
  ErrorCode code = ErrorCode::kInternal;
  std::string message = {};  ///< The error of the last attempt.
  int failures = 0;          ///< In a row, all of the server or all of the write.
  Timestamp since = {};
  Timestamp last = {};
  Timestamp retry_at = {};

  /// The API server or an admission rule refuses the write, so only a change can make it succeed; or it has failed
  /// kToleratedFailures times for reasons that should pass, such as a conflict.
  [[nodiscard]] bool keeps_failing() const;
  /// The write is not due yet. A write to an object that has changed since the last attempt is due at once, unless it
  /// keeps failing: an object that changes all the time would always be due.
  [[nodiscard]] bool is_held(const Preconditions& preconditions, Timestamp now) const;
};

/// The error is an answer to this write, not a state of the server or of the object that passes.
[[nodiscard]] bool is_refusal(ErrorCode code);

/// A value; not thread-safe.
class FailedWrites {
 public:
  /// Failures for reasons that pass are retried after 50 ms, 100 ms and so on this many times.
  static constexpr int kToleratedFailures = 5;
  /// Writes that keep failing are retried after 1 s, 2 s and so on up to:
  static constexpr Duration kMaxBackoff = std::chrono::minutes(5);
  /// The same, if the server is unavailable or overloaded.
  static constexpr Duration kMaxBackoffOfServer = std::chrono::seconds(30);
  /// A write that is not tried again for this long after it was due is forgotten, a little later.
  static constexpr Duration kMemory = std::chrono::hours(1);
  /// Beyond it, the writes to the object of which one is due first are forgotten.
  static constexpr std::size_t kMaxWrites = 4096;
  static constexpr std::size_t kMaxMessageBytes = 512;  ///< "..." follows the first bytes of a longer one.

  /// Best-effort actions are ignored, as they accompany others, and so are cancelled ones.
  void record_failure(const Action& action, const Error& error, Timestamp now);
  void record_success(const Action& action);

  /// Null if the last attempt succeeded, or was made on an object with another uid.
  [[nodiscard]] const FailedWrite* find(const Action& action) const;
  /// The same, for a write to the object itself, not to a subresource.
  [[nodiscard]] const FailedWrite* find(const ObjectKey& object, std::string_view purpose, std::string_view uid) const;
  /// A patch of the object itself is refused.
  [[nodiscard]] bool refuses_patches(const ObjectKey& object, std::string_view uid) const;

  /// Takes the actions that are not due out of the plan, with the optional ones on the same objects and the stages that
  /// depend on them, and requeues the plan when the first is due. If no action is left, neither are events.
  void hold_back(Plan& plan, Timestamp now) const;

  [[nodiscard]] bool empty() const { return writes_.empty(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void forget_unused(Timestamp now);
  void forget_first_due();

  std::map<ObjectKey, std::vector<FailedWrite>> writes_;
  std::size_t size_ = 0;
  Timestamp swept_ = {};  ///< When old writes were forgotten.
};

}  // namespace tpuslice::plan
