// Token authentication of Ray (spec.authOptions): environment, volume, and the Secret that holds the token.
//
// The operator may create Secrets but not read them. It creates the Secret with a new token when it creates the head,
// and again only if the head cannot start without it: a running head would not know another token.
#pragma once

#include <vector>

#include "controllers/plan/plan.h"
#include "controllers/raycluster/head.h"

namespace tpuslice::raycluster {

/// Adds what a container needs to authenticate: the mode, and the token of the Secret or the mount of a service
/// account's. Does not override variables of the container.
void add_token_auth(const RayClusterSpec& spec, Json& container);

/// The same for the Ray container and wait-gcs-ready of a pod, with the volume that they mount.
void add_pod_token_auth(const RayClusterSpec& spec, Json& pod_spec);

/// The cluster's Secret is to be created: with the head in `decision`, or because one of `heads` waits for it.
[[nodiscard]] bool needs_auth_secret(const RayClusterSpec& spec, const HeadDecision& decision,
                                     const std::vector<PodPtr>& heads);

/// The creation of the cluster's Secret with a random token.
[[nodiscard]] plan::Action create_auth_secret(const RayClusterSpec& spec);

}  // namespace tpuslice::raycluster
