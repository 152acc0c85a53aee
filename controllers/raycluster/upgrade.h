// Upgrades: what happens to pods that were built from an earlier spec.
//
// - By default nothing, as upstream: a changed template only reaches pods that are created anyway.
// - spec.upgradeStrategy.type Recreate, as upstream: a change of the spec deletes all pods, which are created again.
// - Annotation tpuslice.dev/upgrade: rolling, of ours: worker replicas are recreated one at a time
// (workers/worker_groups.h).
//   The head is not: without external storage for the GCS, a new head ends all that runs in the cluster.
//
// Every pod says in annotations what it was built from. A pod of an earlier operator has no such annotation, or one of
// another hash version: it counts as current, and gets the annotations of the present spec.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// Upstream's, on heads. Here workers have it as well, since the head may be deleted before them.
inline constexpr std::string_view kSpecHash = "ray.io/upgrade-strategy-recreate-hash";
/// Upstream's: which operator made kSpecHash. An operator does not compare the hash of another one.
inline constexpr std::string_view kSpecHashVersion = "ray.io/kuberay-version";
/// Changed with the input of spec_hash(). Not a KubeRay release, since KubeRay would compare our hash with its own.
inline constexpr std::string_view kHashVersion = "tpu-slice-operator-1";
/// Ours, on workers: template_hash() of their group.
inline constexpr std::string_view kTemplateHash = "tpuslice.dev/template-hash";

/// Hash of the spec without what upstream leaves out: numbers of replicas, workersToDelete, the upgrade strategy, and
/// what Kueue changes: tolerations, scheduling gates and `suspend`.
[[nodiscard]] std::string spec_hash(const RayClusterSpec& spec);
/// Hash of the template (without tolerations and scheduling gates), rayStartParams, resources and labels of the group,
/// and of rayVersion. Nothing that an operator adds counts, so that a new operator replaces no pod.
[[nodiscard]] std::string template_hash(const RayClusterSpec& spec, const WorkerGroup& group);

/// The annotations of a pod of `spec`; `group` is null for the head.
[[nodiscard]] StringMap hash_annotations(const RayClusterSpec& spec, const WorkerGroup* group);

/// True if the pod says that it was built from another template than the one with `hash`.
[[nodiscard]] bool has_other_template(const PodView& pod, std::string_view hash);

struct UpgradeDecision {
  /// A pod that gets annotations.
  struct Record {
    PodPtr pod;
    StringMap annotations;
  };
  bool recreating = false;  ///< Pods of an earlier spec exist: no pod is created.
  std::vector<PodPtr> deletes;
  std::vector<Record> records;
};

/// Deletes all pods if the spec asks for Recreate and one of them was built from another spec. Records the hashes of
/// pods without, if the spec asks for either kind of upgrade.
[[nodiscard]] UpgradeDecision decide_upgrade(const RayClusterSpec& spec, const PodsByType& pods);

}  // namespace tpuslice::raycluster
