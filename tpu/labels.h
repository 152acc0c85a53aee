// Label, annotation and resource names by which TPU workloads are recognised.
#pragma once

#include <string_view>

namespace tpuslice::tpu {

inline constexpr std::string_view kTpuResource = "google.com/tpu";
inline constexpr std::string_view kAcceleratorLabel = "cloud.google.com/gke-tpu-accelerator";
inline constexpr std::string_view kTopologyLabel = "cloud.google.com/gke-tpu-topology";
inline constexpr std::string_view kNodePoolLabel = "cloud.google.com/gke-nodepool";
/// Of a node: "false" turns off routing around failed links in slices of whole cubes.
inline constexpr std::string_view kIciResiliencyLabel = "cloud.google.com/gke-tpu-ici-resiliency";
/// Annotation of a pod that uses a sub-slice or a dynamic slice: its topology instead of its nodes'.
inline constexpr std::string_view kSliceTopologyAnnotation = "cloud.google.com/gke-tpu-slice-topology";
/// Key of the taint on TPU nodes: google.com/tpu=present:NoSchedule.
inline constexpr std::string_view kTpuTaint = "google.com/tpu";

inline constexpr std::string_view kRayCluster = "ray.io/cluster";
inline constexpr std::string_view kRayNodeType = "ray.io/node-type";
inline constexpr std::string_view kRayGroup = "ray.io/group";
inline constexpr std::string_view kRayReplicaName = "ray.io/worker-group-replica-name";
inline constexpr std::string_view kRayReplicaIndex = "ray.io/worker-group-replica-index";
inline constexpr std::string_view kRayHostIndex = "ray.io/replica-host-index";
inline constexpr std::string_view kAppName = "app.kubernetes.io/name";

/// Set by the Job controller: the first is a label and an annotation.
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";

/// Set by the StatefulSet controller.
inline constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";

/// JobSet: labels, but for the last, an annotation.
inline constexpr std::string_view kJobSetName = "jobset.sigs.k8s.io/jobset-name";
inline constexpr std::string_view kJobSetUid = "jobset.sigs.k8s.io/jobset-uid";
inline constexpr std::string_view kReplicatedJobName = "jobset.sigs.k8s.io/replicatedjob-name";
inline constexpr std::string_view kReplicatedJobReplicas = "jobset.sigs.k8s.io/replicatedjob-replicas";
inline constexpr std::string_view kJobIndex = "jobset.sigs.k8s.io/job-index";
inline constexpr std::string_view kJobSetTopologyKey = "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kJobSetNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector";

/// LeaderWorkerSet: labels. The keys are hashes of names, the same for all pods of a group or subgroup.
inline constexpr std::string_view kLwsName = "leaderworkerset.sigs.k8s.io/name";
inline constexpr std::string_view kLwsWorkerIndex = "leaderworkerset.sigs.k8s.io/worker-index";
inline constexpr std::string_view kLwsGroupIndex = "leaderworkerset.sigs.k8s.io/group-index";
inline constexpr std::string_view kLwsGroupKey = "leaderworkerset.sigs.k8s.io/group-key";
inline constexpr std::string_view kLwsSubgroupIndex = "leaderworkerset.sigs.k8s.io/subgroup-index";
inline constexpr std::string_view kLwsSubgroupKey = "leaderworkerset.sigs.k8s.io/subgroup-key";
/// LeaderWorkerSet: annotations.
inline constexpr std::string_view kLwsSize = "leaderworkerset.sigs.k8s.io/size";
inline constexpr std::string_view kLwsLeaderName = "leaderworkerset.sigs.k8s.io/leader-name";
inline constexpr std::string_view kLwsLeaderHasTpus = "leaderworkerset.sigs.k8s.io/leader-requests-tpus";
inline constexpr std::string_view kLwsSubgroupSize = "leaderworkerset.sigs.k8s.io/subgroup-size";
inline constexpr std::string_view kLwsSubgroupPolicy = "leaderworkerset.sigs.k8s.io/subgroup-policy-type";
inline constexpr std::string_view kLwsSubdomainPolicy = "leaderworkerset.sigs.k8s.io/subdomainPolicy";
inline constexpr std::string_view kLwsTopologyKey = "leaderworkerset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view kLwsSubgroupTopologyKey = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

/// Ours: label of every TPU pod: the slice it belongs to, or kNoSlice.
inline constexpr std::string_view kSlice = "tpuslice.dev/slice";
/// Value of kSlice where a pod asks for chips but nothing says of which slice. No slice is named like this.
inline constexpr std::string_view kNoSlice = "none";
/// Scheduling gate of the pods of a slice that waits for nodes.
inline constexpr std::string_view kSliceGate = "tpuslice.dev/slice";

/// Ours: annotations that admission decides.
inline constexpr std::string_view kSliceHosts = "tpuslice.dev/slice-hosts";  ///< How many TPU pods the slice has.
/// Which of them; absent without TPU, and where kBorn says that the completion index is it.
inline constexpr std::string_view kSliceHost = "tpuslice.dev/slice-host";
/// "template": the pod's Job was given all that admission decides before it was created
/// (webhook/rules/template_mutator.h), so admission may pass the pod by.
inline constexpr std::string_view kBorn = "tpuslice.dev/born";
inline constexpr std::string_view kBornOfTemplate = "template";
/// When host 0 may start before the others are there; absent: never.
inline constexpr std::string_view kSliceStart = "tpuslice.dev/slice-start";
inline constexpr std::string_view kFirstHostFirst = "first-host-first";  ///< Its controller makes it a condition.
inline constexpr std::string_view kFirstHostAlone = "first-host-alone";  ///< Its controller may make it a condition.
/// Slices of one namespace with the same value start together or not at all.
inline constexpr std::string_view kSliceGang = "tpuslice.dev/slice-gang";

/// Annotation of a LeaderWorkerSet's leader that is no host, where the group's workers are a slice of several: where it
/// goes. The LeaderWorkerSet controller sets it; without it, exclusive placement has the leader choose, as upstream.
inline constexpr std::string_view kSliceLeader = "tpuslice.dev/slice-leader";
inline constexpr std::string_view kWithSlice = "with-slice";  ///< To the nodes of its workers, once they have some.
inline constexpr std::string_view kAnywhere = "anywhere";     ///< The workers wait for it.

/// Ours: annotations that users set.
inline constexpr std::string_view kTopologyKey =
    "tpuslice.dev/topology-key";  ///< MutationOptions::topology_key; on the pods of a slice always there.
inline constexpr std::string_view kGangSlices = "tpuslice.dev/slices-together";  ///< How many slices start together.
inline constexpr std::string_view kGating = "tpuslice.dev/gating";               ///< "off": no scheduling gate.

/// Ours: annotations that the slice controller writes.
inline constexpr std::string_view kSliceMembers = "tpuslice.dev/slice-members";  ///< Which pods were placed together.
inline constexpr std::string_view kPlacedAt = "tpuslice.dev/placed-at";          ///< RFC 3339.
inline constexpr std::string_view kPlacedIn = "tpuslice.dev/placed-in";          ///< The domain; absent: in none.
/// On host 0: the nodes of the hosts, by index, separated by commas; absent: whichever of the domain.
inline constexpr std::string_view kPlacedOn = "tpuslice.dev/placed-on";
inline constexpr std::string_view kWaiting = "tpuslice.dev/waiting";  ///< Why the slice waits, for people.

}  // namespace tpuslice::tpu
