// Pod mutation: adds to a TPU pod all that it needs as a host of its slice. Pure; no cache, no lock, no waiting.
//
// Our controllers apply it to the pods they are about to create, and the webhook server to all other pods. Equal pods
// and options give equal results; a second application changes nothing.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::rules {

struct WorkloadKind;

/// The kinds in order of precedence: a pod belongs to the first kind that it matches. Borrowed: they live as long as
/// the program.
using WorkloadKinds = std::span<const WorkloadKind* const>;

struct MutationOptions {
  /// The kinds whose pods have an identity.
  WorkloadKinds kinds = {};
  /// Node label whose values are whole slices; pods may name another with the annotation tpuslice.dev/topology-key.
  std::string topology_key = "cloud.google.com/gke-nodepool";
  /// Other keys that pods of multi-host slices may name, besides those of GKE (tpu/topology_key.h); empty: any. A slice
  /// occupies all nodes that have the value of its nodes for its key, so a key with few values would occupy a cluster.
  std::set<std::string, std::less<>> topology_keys = {};
  /// Pods of multi-host slices get the scheduling gate, which the slice controllers remove; unless they have the
  /// annotation tpuslice.dev/gating: off, another schedulerName, a schedulingGroup or a workloadRef.
  bool gate = false;
  /// Injects the environment of GKE's device plugin (tpu/device_env.h), for clusters whose device plugin sets none.
  bool device_env = false;
  /// Kinds that our controllers serve, such as "JobSet". Their pods, with TPUs or without, also get what upstream's own
  /// webhook adds (PodSteps in workload_kinds.h).
  std::set<std::string, std::less<>> served_kinds = {};
};

/// The pod with slice label, annotations, environment, affinities, toleration and gate; a RayCluster's also with
/// hostname and subdomain. Unchanged if it asks for no TPUs and needs nothing of its kind; only labelled as a pod
/// without slice if it asks for TPUs but no known kind numbers it (tpu/identity.h).
///
/// Errors: InvalidArgument, naming the field, if the pod contradicts itself (an index beyond its slice, a topology that
/// its accelerator does not have), has a name that Kubernetes does not accept, or would get more environment than
/// kMaxAddedEnv (env_budget.h). Time and memory are at most a constant times the size of the pod plus that.
[[nodiscard]] Result<Json> mutate_pod(Json pod, const MutationOptions& options);

struct PodReview {
  Json patch;  ///< RFC 6902; empty if nothing changed.
  /// About a TPU pod that is accepted but will probably not work: an unknown accelerator, a host of a multi-host slice
  /// without identity, host network without the cluster's DNS.
  std::vector<std::string> warnings;
};

/// Mutates the pod in place, as mutate_pod(). After an error the pod is partly changed.
[[nodiscard]] Result<PodReview> review_pod(Json& pod, const MutationOptions& options);

}  // namespace tpuslice::rules
