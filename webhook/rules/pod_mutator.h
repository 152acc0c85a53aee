// Pod mutation: makes of a TPU pod what it must be to take its place in its slice. Pure; no cache, no lock, no waiting.
//
// It serves twice: our controllers apply it to the pods they are about to create, and the webhook server applies it to
// everybody else's. Same pod, same options, same answer; a second application changes nothing.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::webhook {

struct MutationOptions {
  /// Node label whose values are whole slices; pods may name another with the annotation tpuslice.dev/topology-key.
  std::string topology_key = "cloud.google.com/gke-nodepool";
};

/// The pod with its TPU identity, hostname, subdomain and affinities; unchanged if it asks for no TPU or carries no
/// index labels of a workload we know.
///
/// Errors: InvalidArgument, naming the field, when what the pod says contradicts itself (an index beyond its slice, a
/// topology that its accelerator does not have).
[[nodiscard]] Result<Json> mutate_pod(Json pod, const MutationOptions& options);

}  // namespace tpuslice::webhook
