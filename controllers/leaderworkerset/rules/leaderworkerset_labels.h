// Labels, annotations and condition types of LeaderWorkerSets: upstream's, except those under tpuslice.dev/.
#pragma once

#include <string_view>

#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {

/// Labels of pods. The keys are hashes of names, the same for all pods of a group or subgroup.
inline constexpr std::string_view kLwsName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kLwsWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr std::string_view kLwsGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kLwsGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr std::string_view kLwsSubgroupIndex = "leaderworkerset.sigs.k8s.io/subgroup-index";
inline constexpr std::string_view kLwsSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-key";
/// Annotations of pods.
inline constexpr std::string_view kLwsSize = "leaderworkerset.sigs.k8s.io/size";
inline constexpr std::string_view kLwsLeaderName = "leaderworkerset.sigs.k8s.io/leader-name";
inline constexpr std::string_view kLwsLeaderHasTpus = "leaderworkerset.sigs.k8s.io/leader-requests-tpus";
inline constexpr std::string_view kLwsSubgroupSize = "leaderworkerset.sigs.k8s.io/subgroup-size";
inline constexpr std::string_view kLwsSubgroupPolicy = "leaderworkerset.sigs.k8s.io/subgroup-policy-type";
inline constexpr std::string_view kLwsSubdomainPolicy = "leaderworkerset.sigs.k8s.io/subdomainPolicy";

/// Each group, or each subgroup, has one value of this node label for itself.
inline constexpr std::string_view kExclusiveTopology = "leaderworkerset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kSubgroupExclusiveTopology =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";
/// An annotation that, with any value, makes restart policy RecreateGroupOnPodRestart mean RecreateGroupAfterStart.
inline constexpr std::string_view kRecreateAfterStart =
    "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start";

/// Label selector of the watches of pods, StatefulSets and revisions.
inline constexpr std::string_view kChildSelector = kLwsName;

/// Label of leader and worker sets, their pods and revisions: key of the revision.
inline constexpr std::string_view kRevisionKey = "leaderworkerset.sigs.k8s.io/template-revision-hash";
/// Annotation of a leader set: spec.replicas when it was written, without the surge.
inline constexpr std::string_view kReplicas = "leaderworkerset.sigs.k8s.io/replicas";

/// Annotation of a leader set: restart records by group, as JSON (groups/restarts.h).
inline constexpr std::string_view kRestarts = "tpuslice.dev/group-restarts";
/// Annotation of a leader set: hash of the pod template that it has had as it was written (sets/leader_template.h).
inline constexpr std::string_view kLeaderTemplate = "tpuslice.dev/leader-template";
/// Annotation of a LeaderWorkerSet: maximum number of restarts of a group in a row. The same as the field
/// maxGroupRestarts, which is upstream's (KEP-820).
inline constexpr std::string_view kMaxRestarts = "tpuslice.dev/max-group-restarts";
/// Annotation that users set on the leader pod of a group that is not restarted any more: "true" restarts it.
inline constexpr std::string_view kRecover = "leaderworkerset.sigs.k8s.io/recover";
/// Annotation of a worker set: members_hash() of its group when it became complete.
inline constexpr std::string_view kMembers = "tpuslice.dev/group-members";

/// Label value: worker index of a leader.
inline constexpr std::string_view kLeaderIndex = "0";

// Types of conditions.
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kProgressing = "Progressing";
inline constexpr std::string_view kUpdateInProgress = "UpdateInProgress";
/// A group has used up its restarts. Upstream's, of KEP-820; absent until it is True for the first time.
inline constexpr std::string_view kFailed = "Failed";
/// Ours. False: children cannot be created, or groups are no longer restarted.
inline constexpr std::string_view kGroupsHealthy = "tpuslice.dev/GroupsHealthy";
/// Reason of kGroupsHealthy: the claims of the spec are not those of the groups.
inline constexpr std::string_view kVolumeClaimsChanged = "VolumeClaimsChanged";

// Action::failure_reason: of the desired revision, the shared service and the leader set of a set that has groups; of
// other creates; of other patches and deletes.
inline constexpr std::string_view kFailedRollout = "FailedRollout";
inline constexpr std::string_view kFailedCreate = "FailedCreate";
inline constexpr std::string_view kFailedUpdate = "FailedUpdate";

}  // namespace tpuslice::leaderworkerset
