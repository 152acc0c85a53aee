// Status of a LeaderWorkerSet: numbers of groups and conditions, as upstream, and conditions of our own.
#pragma once

#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/groups/groups.h"
#include "controllers/plan/changes.h"

namespace tpuslice::leaderworkerset {

struct StatusInput {
  const LeaderWorkerSetSpec& spec;
  const std::vector<Group>& groups;
  std::string revision_key;  ///< Key of the revision of the spec; empty if groups cannot get it.
  int replicas = 0;          ///< status.replicas of the leader set.
  std::vector<Problem> problems;
  std::vector<int> failed;  ///< Groups that have used up their restarts.
  std::string refused;      ///< Why the API server refuses pods; empty if none is known to be refused.
  Timestamp now;
};

/// The status that replaces `before`. A change of one of upstream's conditions adds an event, as does a new problem.
[[nodiscard]] Json next_status(const Json& before, const StatusInput& input, plan::Changes& changes);

/// The same for a set with an invalid spec. Only the condition Accepted follows it; others are added if missing.
[[nodiscard]] Json refused_status(const Json& before, const LeaderWorkerSetSpec& spec, const Problem& refusal,
                                  Timestamp now, plan::Changes& changes);

/// The same for a set that cannot be served yet, without an event.
[[nodiscard]] Json blocked_status(const Json& before, const LeaderWorkerSetSpec& spec, const Problem& problem,
                                  Timestamp now);

/// The same for a set whose leader set has another owner, with an event once.
[[nodiscard]] Json conflict_status(const Json& before, const LeaderWorkerSetSpec& spec, const Problem& conflict,
                                   Timestamp now, plan::Changes& changes);

}  // namespace tpuslice::leaderworkerset
