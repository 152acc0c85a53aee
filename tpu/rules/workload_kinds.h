// WorkloadKind: what admission does for one kind of workload, for its objects and for its pods. Each kind of the
// project has one in its folder (controllers/<kind>/rules); those of Kubernetes are here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tpu/identity.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/pod_draft.h"
#include "tpu/rules/pod_mutator.h"
#include "tpu/rules/refusal.h"
#include "tpu/workload_ref.h"

namespace tpuslice::rules {

/// What upstream's own webhook adds to the pods of a kind; ours does it where our controller serves the kind.
struct PodSteps {
  /// Runs before the identity is read, and sets what the identity depends on.
  Status (*prepare)(PodDraft& pod);
  /// Corrects the identity for pods of our controller.
  void (*adjust)(const Json& pod, tpu::SliceIdentity& identity);
  /// Runs after everything else. `identity` is null for a pod that is not a host of a slice.
  Status (*complete)(PodDraft& pod, const tpu::SliceIdentity* identity, const MutationOptions& options);
};

struct WorkloadKind {
  std::string_view kind;  ///< "JobSet"
  std::string_view group;
  std::string_view version;

  // Objects. Kubernetes' own kinds are not validated by us: path and functions are empty.
  std::string_view path = {};  ///< The path where the API server posts reviews of its objects.
  /// What is wrong with an object; on an update the second is the stored object, else null.
  FieldErrors (*validate)(const Json& object, const Json* old) = nullptr;
  std::vector<UnsupportedField> (*unsupported_fields)(const Json& object) = nullptr;  ///< Null: all are supported.
  std::vector<std::string> (*warn)(const Json& object, const Json* old) = nullptr;

  // Pods. Not set for kinds whose children have the pods: those of a RayJob are pods of its RayCluster.
  std::string_view pod_label = {};  ///< Its value is the workload's name; empty: pods are found by their controller.
  std::string_view uid_label = {};  ///< Its value is the workload's uid; empty: pods have no such label.
  bool uid_in_template = false;     ///< Our controller annotates its pod templates with tpuslice.dev/workload-uid.
  Result<std::optional<tpu::SliceIdentity>> (*identify)(const Json& pod) = nullptr;  ///< Null: no pods of its own.
  const PodSteps* steps = nullptr;                                                   ///< Null: none.
  bool injects_init_containers = false;   ///< They are read and changed, too.
  std::string_view indexes_missing = {};  ///< Advice if pods have no indexes; empty: kNumberedKinds.
};

/// Kubernetes' own kinds whose controllers number the pods: Job and StatefulSet.
[[nodiscard]] std::span<const WorkloadKind> core_kinds();

/// Advice for pods whose kind does not number them.
inline constexpr std::string_view kNumberedKinds =
    "Use a RayCluster, JobSet or LeaderWorkerSet, or an Indexed Job or StatefulSet with a headless service";

/// The first of `kinds` that the pod belongs to; null for a pod of none.
[[nodiscard]] const WorkloadKind* kind_of_pod(const Json& pod, WorkloadKinds kinds);

/// The identity of a pod of one of `kinds` (tpu/identity.h); nothing for a pod of none. Errors: as the kind's reader;
/// InvalidArgument for a quantity of chips that is not a whole number, in pods of any kind.
[[nodiscard]] Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod, WorkloadKinds kinds);

/// The workload of a pod of this kind, as the annotations tpuslice.dev/workload and workload-uid name it; nothing if it
/// is the pod's controller.
[[nodiscard]] std::optional<tpu::WorkloadRef> workload_beyond_controller(const Json& pod, const WorkloadKind& kind);

}  // namespace tpuslice::rules
