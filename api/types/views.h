// PodView, NodeView, JobView, StatefulSetView, ServiceView and ObjectView: what a store keeps of each object.
//
// Decoded from the bytes of a list item or watch event by simdjson, without a document tree: about 2 us and 1 KB a
// pod, where the whole JSON would be 66 us and 39 KB. managedFields and what is not listed here are never kept. Text
// that objects of one workload have in common is shared (SharedString, SharedValue).
//
// A store that has no memory for an object, or cannot decode it, keeps a minimal view: `minimal` is set, and there are
// only key, uid, resource_version, deletion, the controller, a few labels, and of a pod node_name, phase and extended
// resources; of a node all labels, by which pods select it.
// The rest is unknown, not empty: the object exists, and no plan is made from what it has (plan/whole.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/object.h"
#include "api/types/shared_value.h"

namespace tpuslice {

/// Prefixes of the keys of annotations that views keep, and of the labels of pods and Jobs. A whole key is its own
/// prefix: a minimal view keeps that label however many there are, and pods and nodes keep the amount of the extended
/// resource with that name.
using KeptKeys = std::vector<std::string>;

/// What a view in a store counts in the memory budget. Views differ in what they say, not in this.
struct Footprint {
  std::uint32_t bytes = 0;
  friend bool operator==(const Footprint&, const Footprint&) { return true; }
};

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };
[[nodiscard]] std::string_view to_string(PodPhase phase);

struct ContainerView {
  SharedString name;
  bool ready = false;
  std::int32_t restarts = 0;
  SharedString waiting_reason;  ///< "ImagePullBackOff"; empty when not waiting.
  SharedString waiting_message;
  SharedString terminated_reason;  ///< "Error"; empty when not terminated.
  SharedString terminated_message;
  bool terminated = false;
  std::int32_t exit_code = 0;  ///< 0 as well when not terminated.

  /// "StartError, exit code 128: exec: "python": executable file not found"; empty unless it has terminated with
  /// another exit code than 0. A long message is shortened.
  [[nodiscard]] std::string failure() const;

  friend bool operator==(const ContainerView&, const ContainerView&) = default;
};

/// A toleration. An empty key with `exists` tolerates every taint, an empty effect every effect.
struct TolerationView {
  SharedString key;
  SharedString value;
  SharedString effect;
  bool exists = false;  ///< operator: Exists
  friend bool operator==(const TolerationView&, const TolerationView&) = default;
};

/// An amount of a resource: whole units of an extended one, such as "example.com/device"; thousandths of "cpu"; bytes
/// of "memory" and "ephemeral-storage".
struct ResourceAmount {
  SharedString name;
  std::int64_t amount = 0;  ///< Positive.

  /// The amount as manifests have it: "500m" of cpu, "900Gi" of memory.
  [[nodiscard]] std::string quantity() const;

  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

/// Resources by name.
using ResourceAmounts = std::vector<ResourceAmount>;
/// The amount of one of them; 0 if it is absent.
[[nodiscard]] std::int64_t amount_of(const ResourceAmounts& resources, std::string_view name);

/// Resources that every node has.
inline constexpr std::array<std::string_view, 3> kComputeResources = {"cpu", "ephemeral-storage", "memory"};

/// What decides which nodes a pod may have. Equal for the pods of a worker group or Job that wait.
struct PodScheduling {
  ResourceAmounts resources;        ///< Extended ones, as kube-scheduler counts them, that decode() was asked to keep.
  std::vector<SharedString> gates;  ///< spec.schedulingGates
  StringMap node_selector;

  // Only while the pod has no node.
  ResourceAmounts requests;  ///< Those of kComputeResources, as kube-scheduler counts them.
  std::vector<TolerationView> tolerations;
  SharedString node_affinity;       ///< JSON of the required node selector; empty without one.
  SharedString preferred_affinity;  ///< JSON of the list of preferred terms; empty without any.
  /// "spec.resourceClaims[0].resourceClaimTemplateName gpu-template" of each claim, by its template or by its name.
  SharedString resource_claims;
  friend bool operator==(const PodScheduling&, const PodScheduling&) = default;
};

struct PodView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Timestamp> created;
  std::optional<Timestamp> deletion;  ///< Set: the pod is terminating.
  StringMap labels;                   ///< Those that decode() was asked to keep.
  StringMap annotations;              ///< Those that decode() was asked to keep.
  std::optional<ControllerRef> controller;
  bool has_owner = false;  ///< It has an owner reference, of a controller or not.

  std::string node_name;
  SharedString restart_policy;
  SharedValue<PodScheduling> scheduling;
  std::int32_t priority = 0;
  bool never_preempts = false;  ///< preemptionPolicy: Never
  SharedString disruption;      ///< Reason of the condition DisruptionTarget, if it is True.
  std::optional<std::int64_t> active_deadline_seconds;
  /// How long its containers may take to stop: metadata.deletionGracePeriodSeconds of a terminating pod, otherwise
  /// spec.terminationGracePeriodSeconds.
  std::int64_t grace_seconds = 30;

  // Only while the pod has no node.
  SharedString unschedulable;  ///< Message of PodScheduled=False with reason Unschedulable.
  bool nominated = false;      ///< kube-scheduler preempts other pods for it.
  /// Reason and message of PodScheduled=False with another reason than Unschedulable: "SchedulerError: ...". Empty for
  /// SchedulingGated, which may be left from before the gates were removed.
  SharedString scheduling_error;

  PodPhase phase = PodPhase::kPending;
  bool ready = false;      ///< The Ready condition is True.
  bool not_ready = false;  ///< There is a Ready condition, and it is not True. Virtual kubelets may set none.
  SharedString reason;     ///< status.reason, e.g. "Evicted".
  SharedString message;
  std::string pod_ip;
  SharedString ready_reason;  ///< Reason of the Ready condition.
  SharedString ready_message;
  std::vector<ContainerView> containers;  ///< Without init containers.
  bool restarted = false;                 ///< A container, also an init container, was started again.
  bool minimal = false;                   ///< See above.
  Footprint footprint;
  /// The first container or init container that the kubelet cannot start, and why: "container main: ImagePullBackOff".
  /// Does not change while the kubelet retries, unless the container ends in another way.
  SharedString stuck;
  /// The first container or init container that has failed, and how: "container main: OOMKilled, exit code 137". Also
  /// when it has been started again.
  SharedString failure;

  [[nodiscard]] bool terminating() const { return deletion.has_value(); }
  [[nodiscard]] bool finished() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  /// Why it has failed: "Evicted", or `failure`; empty if neither is known.
  [[nodiscard]] const std::string& cause() const { return reason.empty() ? failure : reason; }
  [[nodiscard]] const std::string& label(std::string_view name) const;
  /// Empty if absent or not kept.
  [[nodiscard]] const std::string& annotation(std::string_view name) const;

  static constexpr bool kReadsFixedFields = true;  ///< decode() reads no fields but those of the members.
  /// `keep`: labels, annotations and extended resources to keep; null: all. Errors: InvalidArgument for bytes that are
  /// not a Pod with metadata.name and metadata.uid.
  static Result<PodView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  /// What can be read of any object. Errors: InvalidArgument without a name or a uid.
  static Result<PodView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  /// The same from a parsed document.
  static Result<PodView> from_json(const Json& json);

  friend bool operator==(const PodView&, const PodView&) = default;
};

struct NodeTaint {
  SharedString key;
  SharedString value;
  SharedString effect;
  friend bool operator==(const NodeTaint&, const NodeTaint&) = default;
};

struct NodeView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  StringMap labels;
  bool unschedulable = false;
  bool ready = false;
  std::optional<Timestamp> ready_changed;  ///< When it last became Ready, or ceased to be.
  /// Those of kComputeResources, and extended ones that decode() was asked to keep.
  SharedValue<ResourceAmounts> allocatable;
  std::vector<NodeTaint> taints;
  std::optional<ControllerRef> controller;
  bool minimal = false;  ///< See above.
  Footprint footprint;

  static constexpr bool kReadsFixedFields = true;  ///< The same as in PodView.
  static Result<NodeView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<NodeView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<NodeView> from_json(const Json& json);

  friend bool operator==(const NodeView&, const NodeView&) = default;
};

/// A condition of a Job that controllers read: Complete, Failed, FailureTarget, SuccessCriteriaMet or Suspended.
struct JobCondition {
  std::string type;
  bool is_true = false;
  std::string reason;  ///< "PodFailurePolicy"
  std::string message;
  std::optional<Timestamp> since;  ///< lastTransitionTime
  friend bool operator==(const JobCondition&, const JobCondition&) = default;
};

/// A Job of batch/v1.
struct JobView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Timestamp> created;
  std::optional<Timestamp> deletion;
  StringMap labels;       ///< Those that decode() was asked to keep.
  StringMap annotations;  ///< Those that decode() was asked to keep.
  std::optional<ControllerRef> controller;
  bool foreground_deletion = false;  ///< Its deletion waits for its pods (finalizer foregroundDeletion).

  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions;
  bool suspended = false;     ///< spec.suspend
  StringMap template_labels;  ///< Labels of spec.template that decode() was asked to keep.
  /// Only while suspended: what may then be changed of spec.template, as JSON with the members that are there:
  /// metadata.{labels,annotations} and spec.{affinity,nodeSelector,schedulingGates,tolerations}, and name and resources
  /// of those of spec.{containers,initContainers} that have some.
  std::string pod_template;

  // Numbers of pods, by the Job controller.
  std::int32_t active = 0;
  std::int32_t ready = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t terminating = 0;
  std::optional<Timestamp> started;
  std::vector<JobCondition> conditions;
  bool minimal = false;  ///< See above.
  Footprint footprint;

  [[nodiscard]] bool deleting() const { return deletion.has_value(); }
  [[nodiscard]] const std::string& label(std::string_view name) const;
  /// Empty if absent or not kept.
  [[nodiscard]] const std::string& annotation(std::string_view name) const;
  /// Null unless it is there and True.
  [[nodiscard]] const JobCondition* condition(std::string_view type) const;

  /// Errors: InvalidArgument for bytes that are not a Job with metadata.name and metadata.uid.
  static Result<JobView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<JobView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<JobView> from_json(const Json& json);

  friend bool operator==(const JobView&, const JobView&) = default;
};

/// A StatefulSet of apps/v1.
struct StatefulSetView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Timestamp> deletion;
  StringMap labels;
  StringMap annotations;  ///< All: those of a child may be copied from its owner.
  std::optional<ControllerRef> controller;

  /// The mutable fields of spec except the template. Source: Kubernetes, ValidateStatefulSetUpdate.
  static constexpr std::array<std::string_view, 4> kSettings = {"ordinals", "persistentVolumeClaimRetentionPolicy",
                                                                "replicas", "updateStrategy"};
  Json settings = Json::object();  ///< Those of kSettings that are set.
  std::string pod_template;        ///< spec.template, as JSON.

  // Status, which the StatefulSet controller writes.
  std::int64_t observed_generation = 0;
  std::int32_t replicas_created = 0;  ///< status.replicas
  std::int32_t available = 0;         ///< status.availableReplicas
  std::string current_revision;
  std::string update_revision;
  bool minimal = false;  ///< See above.
  Footprint footprint;

  [[nodiscard]] std::int64_t replicas() const;
  [[nodiscard]] std::int64_t first_ordinal() const;
  [[nodiscard]] std::int64_t partition() const;  ///< Partition of its rolling update.
  [[nodiscard]] const std::string& annotation(std::string_view name) const;

  /// Errors: InvalidArgument for bytes that are not a StatefulSet with metadata.name and metadata.uid.
  static Result<StatefulSetView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<StatefulSetView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<StatefulSetView> from_json(const Json& json);

  friend bool operator==(const StatefulSetView&, const StatefulSetView&) = default;
};

/// A port of a headless service.
struct ServicePort {
  SharedString name;
  SharedString protocol;  ///< "TCP"
  std::int32_t port = 0;
  SharedString target;  ///< Number or name.
  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

/// Maximum number of ports of the headless services that this program writes.
inline constexpr std::size_t kMaxServicePorts = 256;

/// What decides whether a Service is the headless service of certain pods.
struct ServiceView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  StringMap selector;
  bool headless = false;             ///< spec.clusterIP is None.
  bool publishes_not_ready = false;  ///< spec.publishNotReadyAddresses
  std::vector<ServicePort> ports;    ///< Those of a headless service, the first kMaxServicePorts + 1.
  bool minimal = false;              ///< See above.
  Footprint footprint;

  static Result<ServiceView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<ServiceView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<ServiceView> from_json(const Json& json);

  friend bool operator==(const ServiceView&, const ServiceView&) = default;
};

/// A whole object in a store: custom resources, revisions. It is kept as text: parsed, it takes several times the
/// memory.
struct ObjectView {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  StringMap labels;
  std::optional<ControllerRef> controller;
  std::string text;      ///< JSON, without metadata.managedFields. Empty if minimal.
  bool minimal = false;  ///< See above.
  Footprint footprint;

  /// Parses the text. Of a minimal view, the metadata that it has.
  [[nodiscard]] Object object() const;
  /// The same without spec and annotations, which are most of the text of a workload.
  [[nodiscard]] Object object_without_spec() const;

  static Result<ObjectView> decode(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<ObjectView> decode_minimal(std::string_view json, const KeptKeys* keep = nullptr);
  static Result<ObjectView> from_json(Json json);

  friend bool operator==(const ObjectView&, const ObjectView&) = default;
};

}  // namespace tpuslice
