// The parts of validate_leaderworkerset(). All append to `errors`.
#pragma once

#include <vector>

#include "controllers/leaderworkerset/rules/group_slices.h"
#include "controllers/leaderworkerset/rules/validator.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// metadata.name, and the length of names and labels derived from it.
void check_lws_name(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors);

/// Types, enumerations and required fields; Kubernetes' rules for pod templates of StatefulSets.
void check_lws_schema(const Json& set, const GroupTemplate& group, FieldErrors& errors);

/// spec.replicas, size, subgroups and the annotations of exclusive placement.
void check_lws_counts(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors);

/// spec.rolloutStrategy.rollingUpdateConfiguration.
void check_lws_rollout(const Json& set, FieldErrors& errors);
/// A rolling update may replace groups: not both limits are 0 of the replicas.
void check_lws_rollout_progress(const Json& set, const LeaderWorkerSetSpec& spec, FieldErrors& errors);

/// Whether groups or subgroups with TPUs are whole slices.
void check_lws_slices(const LeaderWorkerSetSpec& spec, FieldErrors& errors);

/// Immutable fields.
void check_lws_update(const Json& set, const Json& old, FieldErrors& errors);

}  // namespace tpuslice::rules
