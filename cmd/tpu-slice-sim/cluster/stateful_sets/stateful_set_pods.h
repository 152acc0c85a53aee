// StatefulSetPods: creation and state of the pods of a StatefulSet.
#pragma once

#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// A new pod from `pods`, the template of `revision`, with identity and claims.
[[nodiscard]] Json make_stateful_pod(const Json& set, const Json& pods, int ordinal, const std::string& revision);

/// The ordinal at the end of the pod's name, if the name matches the set.
[[nodiscard]] std::optional<int> ordinal_of(const Json& set, const Json& pod);
[[nodiscard]] int first_ordinal(const Json& set);
[[nodiscard]] int desired_replicas(const Json& set);
/// Whether the ordinal is in the range of spec.replicas.
[[nodiscard]] bool in_range(const Json& set, int ordinal);

/// The ControllerRevision in its label.
[[nodiscard]] std::string pod_revision(const Json& pod);
/// Whether the identity labels, and the claim volumes, are as desired.
[[nodiscard]] bool identity_matches(const Json& pod);
[[nodiscard]] bool volumes_match(const Json& set, const Json& pod);
void correct_identity(const Json& set, Json& pod);
void correct_volumes(const Json& set, Json& pod);

/// Whether the pod exists in the API server.
[[nodiscard]] bool pod_created(const Json& pod);
[[nodiscard]] bool running_and_ready(const Json& pod);
/// Ready for spec.minReadySeconds.
[[nodiscard]] bool pod_available(const Json& set, const Json& pod, Timestamp now);
/// How long until a ready pod is available; none if the pod is not ready.
[[nodiscard]] std::optional<Duration> until_available(const Json& set, const Json& pod, Timestamp now);

}  // namespace tpuslice::sim
