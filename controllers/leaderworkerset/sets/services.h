// Headless services that give the pods of a LeaderWorkerSet DNS names: one shared, or one per group.
#pragma once

#include <string>

#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/leaderworkerset/sets/worker_set.h"

namespace tpuslice::leaderworkerset {

/// subdomainPolicy Shared: service `<set>` of all pods of the set.
[[nodiscard]] Json build_shared_service(const LeaderWorkerSetSpec& spec);

/// subdomainPolicy UniquePerReplica: service `<set>-<group>` of the pods of one group, owned by the leader.
[[nodiscard]] Json build_group_service(const LeaderWorkerSetSpec& spec, const Leader& leader);

}  // namespace tpuslice::leaderworkerset
