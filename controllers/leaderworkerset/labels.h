// Names by which LeaderWorkerSets and their children are recognised: upstream's, but for those under tpuslice.dev/.
// Those that tell a pod's place in its group are in tpu/labels.h.
#pragma once

#include <string_view>

#include "api/types/resource_type.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {

inline constexpr ResourceType kLeaderWorkerSets{"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet",
                                                "leaderworkersets"};
inline constexpr ResourceType kControllerRevisions{"apps", "v1", "ControllerRevision", "controllerrevisions"};

/// What our watches of pods, StatefulSets, services and revisions select.
inline constexpr std::string_view kChildSelector = tpu::kLwsName;

/// Label of both kinds of StatefulSet, their pods and revisions: the key of the revision they are made from.
inline constexpr std::string_view kRevisionKey = "leaderworkerset.sigs.k8s.io/template-revision-hash";
/// Annotation of a leader set: spec.replicas as it was when the set was written, without the surge.
inline constexpr std::string_view kReplicas = "leaderworkerset.sigs.k8s.io/replicas";
/// Annotation of a LeaderWorkerSet, whatever its value: RecreateGroupOnPodRestart means RecreateGroupAfterStart.
inline constexpr std::string_view kRecreateAfterStart =
    "leaderworkerset.sigs.k8s.io/experimental-recreate-group-after-start";

/// Annotation of a leader set: which groups were restarted, how often in a row and when. JSON.
inline constexpr std::string_view kRestarts = "tpuslice.dev/group-restarts";
/// Annotation of a LeaderWorkerSet: a group is restarted at most so many times in a row.
inline constexpr std::string_view kMaxRestarts = "tpuslice.dev/max-group-restarts";
/// Annotation of a worker set: a hash of the pods that its group was complete with.
inline constexpr std::string_view kMembers = "tpuslice.dev/group-members";

/// The worker index of a leader, as a label has it.
inline constexpr std::string_view kLeaderIndex = "0";

// Types of conditions.
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kProgressing = "Progressing";
inline constexpr std::string_view kUpdateInProgress = "UpdateInProgress";
inline constexpr std::string_view kAccepted = "tpuslice.dev/Accepted";  ///< False: the spec is not carried out.
/// False: children lack that cannot be made, or groups are not restarted any more.
inline constexpr std::string_view kGroupsSound = "tpuslice.dev/GroupsSound";

}  // namespace tpuslice::leaderworkerset
