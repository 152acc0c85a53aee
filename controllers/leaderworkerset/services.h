// The headless services that give the pods of a LeaderWorkerSet their DNS names: one for all, or one to a group.
#pragma once

#include <string>

#include "api/types/views.h"
#include "controllers/leaderworkerset/spec.h"
#include "controllers/leaderworkerset/worker_set.h"

namespace tpuslice::leaderworkerset {

/// subdomainPolicy Shared: `<set>`, of all pods of the set.
[[nodiscard]] Json build_shared_service(const LeaderWorkerSetSpec& spec);

/// subdomainPolicy UniquePerReplica: `<set>-<group>`, of the pods of one group. It belongs to the leader.
[[nodiscard]] Json build_group_service(const LeaderWorkerSetSpec& spec, const Leader& leader);

struct ServiceVerdict {
  enum class Kind : std::uint8_t {
    kGood,     ///< There is nothing to do.
    kMissing,  ///< To be created.
    kDrifted,  ///< Ours, and not as it should be: to be patched.
    kLeaving,  ///< Being deleted, or left behind by an earlier leader of that name; to be created when it is gone.
    kForeign,  ///< Somebody else's, which does not serve our pods: left alone.
  };
  Kind kind = Kind::kGood;
  Json patch;        ///< kDrifted: the merge patch that restores what is ours.
  std::string flaw;  ///< kForeign: whose it is and what it lacks, for people.
};

/// What is to be done so that the service `wanted`, as built above, is there. `live`: the service of that name, whoever
/// owns it; null without.
[[nodiscard]] ServiceVerdict judge_service(const Json& wanted, const ServiceView* live);

}  // namespace tpuslice::leaderworkerset
