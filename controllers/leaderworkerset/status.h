// The status of a LeaderWorkerSet: numbers of groups, and how far a rollout is, in upstream's words.
#pragma once

#include <vector>

#include "controllers/leaderworkerset/changes.h"
#include "controllers/leaderworkerset/groups.h"

namespace tpuslice::leaderworkerset {

/// What a status tells of.
struct StatusFacts {
  const LeaderWorkerSetSpec& spec;
  const std::vector<Group>& groups;
  std::string revision_key;  ///< The wanted one.
  int replicas = 0;          ///< Leaders there are, by the leader set.
  Timestamp now;
};

/// The status that replaces `before`: all conditions at once. A condition that comes or changes adds an event.
[[nodiscard]] Json next_status(const Json& before, const StatusFacts& facts, Changes& changes);

/// Sets or takes away the condition kGroupsSound by what `changes` has of problems.
void tell_problems(Json& conditions, std::int64_t generation, Timestamp now, Changes& changes);

/// The status of a set whose spec is refused: nothing but the condition kAccepted changes.
[[nodiscard]] Json refused_status(const Json& before, const LeaderWorkerSetSpec& spec, const std::string& why,
                                  Timestamp now, Changes& changes);

}  // namespace tpuslice::leaderworkerset
