// StatefulSetPods: the pods of a StatefulSet: what one looks like when it is made, and what can be read from it later.
#pragma once

#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// A new pod from `pods`, the template of `revision`: its identity and its claims are of the set.
[[nodiscard]] Json make_stateful_pod(const Json& set, const Json& pods, int ordinal, const std::string& revision);

/// The number at the end of the name of a pod of the set; nothing where the name is not of the set.
[[nodiscard]] std::optional<int> ordinal_of(const Json& set, const Json& pod);
[[nodiscard]] int first_ordinal(const Json& set);
[[nodiscard]] int wanted_replicas(const Json& set);
/// Whether the set has a place for this ordinal.
[[nodiscard]] bool in_range(const Json& set, int ordinal);

/// The ControllerRevision it was made from, by its label.
[[nodiscard]] std::string pod_revision(const Json& pod);
/// Whether its labels say which pod it is, and its volumes are the claims of the set.
[[nodiscard]] bool identity_matches(const Json& pod);
[[nodiscard]] bool volumes_match(const Json& set, const Json& pod);
void correct_identity(const Json& set, Json& pod);
void correct_volumes(const Json& set, Json& pod);

/// Whether the API server has it, rather than only this controller.
[[nodiscard]] bool pod_created(const Json& pod);
[[nodiscard]] bool running_and_ready(const Json& pod);
/// Ready, and that for spec.minReadySeconds.
[[nodiscard]] bool pod_available(const Json& set, const Json& pod, Timestamp now);
/// How long until a pod that is ready is available; nothing where time alone does not make it so.
[[nodiscard]] std::optional<Duration> until_available(const Json& set, const Json& pod, Timestamp now);

}  // namespace tpuslice::sim
