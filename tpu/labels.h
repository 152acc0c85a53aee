// Names of labels, annotations, resources and scheduling gates of TPU workloads.
#pragma once

#include <array>
#include <string_view>

namespace tpuslice::tpu {

inline constexpr std::string_view kTpuResource = "google.com/tpu";
inline constexpr std::string_view kAcceleratorLabel = "cloud.google.com/gke-tpu-accelerator";
inline constexpr std::string_view kTopologyLabel = "cloud.google.com/gke-tpu-topology";
inline constexpr std::string_view kNodePoolLabel = "cloud.google.com/gke-nodepool";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
/// Label of a node: nodes of one block are close to each other in the network.
inline constexpr std::string_view kBlockLabel = "cloud.google.com/gce-topology-block";
/// Label of a node: "false" turns off routing around failed links in slices of whole cubes.
inline constexpr std::string_view kIciResiliencyLabel = "cloud.google.com/gke-tpu-ici-resiliency";
/// Annotation of a pod that uses a sub-slice or a dynamic slice: its topology instead of its nodes'.
inline constexpr std::string_view kSliceTopologyAnnotation = "cloud.google.com/gke-tpu-slice-topology";
/// Key of the taint on TPU nodes: google.com/tpu=present:NoSchedule.
inline constexpr std::string_view kTpuTaint = "google.com/tpu";

inline constexpr std::string_view kAppName = "app.kubernetes.io/name";

/// Set by the Job controller: the first is a label and an annotation.
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kJobName = "batch.kubernetes.io/job-name";

/// Set by the StatefulSet controller.
inline constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";

/// Our own labels and annotations begin with this.
inline constexpr std::string_view kAnnotationPrefix = "tpuslice.dev/";
/// Ours: label of every TPU pod: the slice it belongs to, or kNoSlice.
inline constexpr std::string_view kSlice = "tpuslice.dev/slice";
/// Value of kSlice for a pod that asks for chips but has no slice. No slice key has this form.
inline constexpr std::string_view kNoSlice = "none";
/// Ours: label of host 0 of a slice, with the value kHost0: a client that selects it reads one pod of each slice. The
/// slice controllers set it on a pod that admission has not seen. What a pod is follows from its annotations: users can
/// set the label, too.
inline constexpr std::string_view kHost = "tpuslice.dev/host";
inline constexpr std::string_view kHost0 = "0";
/// Scheduling gate of the pods of a slice that waits for nodes.
inline constexpr std::string_view kSliceGate = "tpuslice.dev/slice";
/// Reason of the condition DisruptionTarget of pods whose slice is preempted by one of higher priority.
inline constexpr std::string_view kPreemptionBySlice = "PreemptionBySliceController";

/// Ours: annotations that admission sets.
/// The workload of a pod whose controller is not the workload: "JobSet.v1alpha2.jobset.x-k8s.io/train".
inline constexpr std::string_view kWorkload = "tpuslice.dev/workload";
/// Absent if it is unknown. Pods of LeaderWorkerSets have it from their templates.
inline constexpr std::string_view kWorkloadUid = "tpuslice.dev/workload-uid";
inline constexpr std::string_view kSliceHosts = "tpuslice.dev/slice-hosts";  ///< How many TPU pods the slice has.
/// Host index; absent without TPUs, and if kMutatedBy says that the completion index is the host index.
inline constexpr std::string_view kSliceHost = "tpuslice.dev/slice-host";
/// "job-template": the Job was created with a pod template that already contains all that admission adds, so the
/// pod needs no admission.
inline constexpr std::string_view kMutatedBy = "tpuslice.dev/mutated-by";
inline constexpr std::string_view kMutatedByJobTemplate = "job-template";
/// When host 0 may be placed before the others exist; absent: never.
inline constexpr std::string_view kSliceStart = "tpuslice.dev/slice-start";
/// Never, although upstream's controller of that kind would wait for host 0.
inline constexpr std::string_view kTogether = "together";
/// At once: the controller waits until host 0 has a node before it creates the other hosts.
inline constexpr std::string_view kOthersFollowHost0 = "others-follow-host-0";
/// If no other host is created for a while: the controller may wait until host 0 runs.
inline constexpr std::string_view kHost0IfAlone = "host-0-if-alone";
/// The same as kHost0IfAlone for a controller, a StatefulSet, that may wait for each host before it creates the next.
/// It recreates hosts that are lost.
inline constexpr std::string_view kHostByHost = "host-by-host";
/// Slices of one namespace with the same value, a gang, start together or not at all.
inline constexpr std::string_view kSliceGang = "tpuslice.dev/slice-gang";

/// Annotation of a LeaderWorkerSet's leader without TPUs beside a multi-host slice of workers: where it is placed. Set
/// by the LeaderWorkerSet controller; without it, exclusive placement puts the leader first, as upstream.
inline constexpr std::string_view kSliceLeader = "tpuslice.dev/slice-leader";
inline constexpr std::string_view kWithSlice = "with-slice";  ///< In the domain of its workers, after them.
inline constexpr std::string_view kAnywhere = "anywhere";     ///< On any node; the workers wait for it.

/// Ours: annotations that users set.
/// Overrides MutationOptions::topology_key; admission sets it on all pods of a slice.
inline constexpr std::string_view kTopologyKey = "tpuslice.dev/topology-key";
/// Number of slices of the gang; "1": the slice starts alone. Absent: admission sets it for the slices of a multislice.
inline constexpr std::string_view kGangSlices = "tpuslice.dev/slices-together";
/// Name of a gang of slices of several groups or workloads of the namespace; kGangSlices says how many.
inline constexpr std::string_view kGang = "tpuslice.dev/gang";
inline constexpr std::string_view kGating = "tpuslice.dev/gating";  ///< "off": no scheduling gate.

/// Grace period of the other hosts when their slice is torn down or restarted because one was lost or failed
/// (tpu/teardown_grace.h).
inline constexpr std::string_view kTeardownGrace = "tpuslice.dev/teardown-grace-period-seconds";

/// Whether and how the cluster autoscaler is asked for nodes: one of kScaleUpChoices; absent: as --scale-up.
inline constexpr std::string_view kScaleUp = "tpuslice.dev/scale-up";
inline constexpr std::array<std::string_view, 4> kScaleUpChoices = {"auto", "scout", "provisioning-request", "off"};

/// Ours: annotations that the slice controllers write.
/// Annotation of a scout, of a provisioning request and of its PodTemplate: "<namespace>/<slice key>".
inline constexpr std::string_view kScaleUpFor = "tpuslice.dev/scale-up-for";
/// Annotation of a provisioning request and of its PodTemplate: the accelerator.
inline constexpr std::string_view kScaleUpAccelerator = "tpuslice.dev/scale-up-accelerator";
/// Annotation of a scout pod: the domains that its affinity excludes, separated by commas.
inline constexpr std::string_view kScoutAvoids = "tpuslice.dev/scout-avoids";
/// Hash of the pods that were placed together.
inline constexpr std::string_view kSliceMembers = "tpuslice.dev/slice-members";
inline constexpr std::string_view kPlacedAt = "tpuslice.dev/placed-at";  ///< RFC 3339.
/// The domain; absent if released without one.
inline constexpr std::string_view kPlacedIn = "tpuslice.dev/placed-in";
/// On host 0: the nodes of the hosts, by host index, separated by commas; absent: any node of the domain.
inline constexpr std::string_view kPlacedOn = "tpuslice.dev/placed-on";
/// RFC 3339: since when the slice, or one that it replaces, waits for nodes; absent: since its pods were created.
inline constexpr std::string_view kQueuedSince = "tpuslice.dev/queued-since";
inline constexpr std::string_view kWaiting = "tpuslice.dev/waiting";  ///< The waiting reason.
/// The same in one word (plan/waiting_code.h).
inline constexpr std::string_view kWaitingReason = "tpuslice.dev/waiting-reason";
/// On a started host: uids, by host index, of those that had succeeded before they were deleted: "1=<uid>,3=<uid>".
inline constexpr std::string_view kRemovedHosts = "tpuslice.dev/removed-hosts";
/// On the pod of a placed slice whose node is not Ready: which node, and what happens when.
inline constexpr std::string_view kNodeNotReady = "tpuslice.dev/node-not-ready";

}  // namespace tpuslice::tpu
