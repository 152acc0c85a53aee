// The parts of validate_jobset(), each about one block of the object. All append to `errors`.
#pragma once

#include <vector>

#include "webhook/rules/field_errors.h"
#include "webhook/rules/jobset/fields.h"

namespace tpuslice::webhook {

/// Types, enumerations, bounds and required fields of everything a JobSet has outside of its pod templates.
/// Source: upstream's CRD; the fields of the Job template as Kubernetes checks them when it creates the Job.
void check_jobset_schema(const Json& jobset, std::vector<FieldError>& errors);

/// spec.successPolicy, failurePolicy, startupPolicy and coordinator.
void check_jobset_policies(const Json& jobset, const std::vector<ReplicatedJob>& jobs, std::vector<FieldError>& errors);

/// spec.volumeClaimPolicies. That an existing claim is the one described needs the API server and is not checked here.
void check_jobset_volumes(const Json& jobset, const std::vector<ReplicatedJob>& jobs, std::vector<FieldError>& errors);

/// The TPU slices that replicated jobs are. While the JobSet is suspended, node selectors may be missing: a queue sets
/// them before it resumes.
void check_jobset_slices(const Json& jobset, const std::vector<ReplicatedJob>& jobs, std::vector<FieldError>& errors);

/// What an update from `old` may not change.
void check_jobset_update(const Json& jobset, const Json& old, std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
