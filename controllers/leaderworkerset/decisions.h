// Decisions: what one plan for a LeaderWorkerSet writes and reports. render.h turns them into a Plan.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/restarts.h"
#include "controllers/leaderworkerset/rollout.h"
#include "controllers/plan/plan.h"

namespace tpuslice::leaderworkerset {

/// A write to be made, and the reason for it.
struct PlannedWrite {
  plan::Action action;
  std::string reason;
  PodPtr leader = nullptr;  ///< Leader of the worker set that is created; null for other writes.
};

/// What to do about one child: nothing, a write, or a problem to report in kGroupsHealthy.
struct WriteOrProblem {
  std::optional<PlannedWrite> write = {};
  Problem problem = {};
  std::optional<Duration> requeue_after = {};
};

/// Deletion of a group's leader, worker set and workers. The StatefulSet controller recreates the leader.
struct GroupDeletion {
  Group group;
  std::optional<GroupFailure> failure = {};  ///< Why the group restarts; absent for an update.
};

using GroupDeletions = std::map<int, GroupDeletion>;  ///< By group.

struct Decisions {
  std::string revision_key;             ///< Key of the desired revision.
  plan::ObjectReference revision_name;  ///< Name of the desired revision; without a uid if it does not exist yet.
  bool is_update = false;               ///< The leader set has another revision.
  RolloutStep step;                     ///< What the leader set is to have.
  WriteOrProblem revision;              ///< The desired revision.
  WriteOrProblem shared_service;        ///< subdomainPolicy Shared.
  WriteOrProblem leader_set;
  GroupDeletions deletions;                    ///< Restarts and updates, by group.
  std::vector<WriteOrProblem> group_children;  ///< Worker sets and services of the other groups.
  std::vector<Revision> expired_revisions;
  std::vector<Problem> problems;          ///< Groups that are not restarted.
  Problem last_failure;                   ///< Failure of the previous plan.
  std::optional<Duration> requeue_after;  ///< End of back-offs and of Options::stuck_after.
  bool rollout_waits = false;             ///< Its write failed; this plan is about existing groups only.
};

}  // namespace tpuslice::leaderworkerset
