// Pod mutation: makes of a TPU pod what it must be to take its place in its slice. Pure; no cache, no lock, no waiting.
//
// It serves twice: our controllers apply it to the pods they are about to create, and the webhook server applies it to
// everybody else's. Same pod, same options, same answer; a second application changes nothing.
#pragma once

#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::webhook {

struct MutationOptions {
  /// Node label whose values are whole slices; pods may name another with the annotation tpuslice.dev/topology-key.
  std::string topology_key = "cloud.google.com/gke-nodepool";
  /// Pods of slices of several hosts wait at a scheduling gate for the slice controller, which places slices whole; a
  /// pod stays out of it with the annotation tpuslice.dev/gating: off.
  bool gate = false;
  /// Also adds what GKE's device plugin would (tpu/device_env.h), for clusters whose device plugin sets no environment.
  bool device_env = false;
  /// Our controller serves LeaderWorkerSets: all their pods, with TPUs or without, get what upstream's own webhook
  /// gives them (leaderworkerset/group_member.h).
  bool leader_worker_sets = false;
};

/// The pod with its TPU identity, environment, affinities, toleration and gate, a RayCluster's also with hostname and
/// subdomain. Unchanged if it asks for no TPU, and is none of our LeaderWorkerSets'; only marked as a pod with TPU if
/// it is numbered by no controller that we know (tpu/identity.h).
///
/// Errors: InvalidArgument, naming the field, when what the pod says contradicts itself (an index beyond its slice, a
/// topology that its accelerator does not have).
[[nodiscard]] Result<Json> mutate_pod(Json pod, const MutationOptions& options);

/// The same to the pod itself, and the JSON patch (RFC 6902) that tells what was done; empty where nothing was. After
/// an error the pod is changed in part.
[[nodiscard]] Result<Json> patch_pod(Json& pod, const MutationOptions& options);

/// What is legal about a TPU pod but will probably not work: a slice of several hosts without identity, host network
/// without the cluster's DNS. At most a few sentences for kubectl to print.
[[nodiscard]] std::vector<std::string> warn_pod(const Json& pod);

}  // namespace tpuslice::webhook
