// The parts of validate_leaderworkerset(), each about one thing. All append to `errors`.
#pragma once

#include <vector>

#include "webhook/rules/field_errors.h"
#include "webhook/rules/leaderworkerset/groups.h"

namespace tpuslice::webhook {

/// metadata.name, and the names and labels that are made from it.
void check_lws_name(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors);

/// Types, enumerations and required fields; what Kubernetes demands of the pod templates of a StatefulSet.
void check_lws_schema(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors);

/// spec.replicas, size, subgroups and the annotations that go with them.
void check_lws_counts(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors);

/// spec.rolloutStrategy.rollingUpdateConfiguration.
void check_lws_rollout(const Json& set, const LwsGroups& groups, std::vector<FieldError>& errors);

/// The TPU slices that the groups or subgroups are.
void check_lws_slices(const LwsGroups& groups, std::vector<FieldError>& errors);

/// Whether the pod template names an accelerator or a topology.
[[nodiscard]] bool selects_tpu_nodes(const Json& pod);

/// What an update from `old` may not change.
void check_lws_update(const Json& set, const Json& old, std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
