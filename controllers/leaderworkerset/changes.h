// Changes: what the parts of a plan for a LeaderWorkerSet want done.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/runtime/plan.h"

namespace tpuslice::leaderworkerset {

// Reasons of events and problems, where an action fails.
inline constexpr const char* kFailedCreate = "FailedCreate";
inline constexpr const char* kFailedUpdate = "FailedUpdate";

/// What keeps a group, or all of them, from being as they should, and what a person can do about it.
struct Problem {
  std::string reason;  ///< "FailedCreate"
  std::string message;
};

struct Changes {
  std::vector<runtime::Action> revisions;  ///< Before what names them.
  std::vector<runtime::Action> sets;       ///< The leader set and the shared service.
  std::vector<runtime::Action> set_ends;   ///< Worker sets that go: before their pods, which they would make anew.
  std::vector<runtime::Action> ends;       ///< Leaders that go, and their workers with them.
  std::vector<runtime::Action> groups;     ///< Worker sets and services of groups.
  std::vector<runtime::Action> leftovers;  ///< Revisions that nobody needs.
  std::vector<runtime::EventIntent> events;
  std::vector<runtime::Measurement> measurements;
  std::vector<std::string> reasons;  ///< One sentence each.
  std::vector<Problem> problems;
  std::optional<Duration> requeue_after;

  void look_again_in(Duration time);
  void event(runtime::EventType type, std::string_view reason, std::string message, std::optional<ObjectKey> after = {},
             std::optional<runtime::ObjectReference> regarding = {});
  /// An action that is told of, and whose failure is an event.
  void add(std::vector<runtime::Action>& stage, runtime::Action action, std::string reason);
};

}  // namespace tpuslice::leaderworkerset
