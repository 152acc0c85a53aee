// The parts of validate_jobset(). All append to `errors`.
#pragma once

#include <string>
#include <vector>

#include "controllers/jobset/rules/spec.h"
#include "controllers/jobset/rules/validator.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

using jobset::JobSetSpec;
using jobset::ReplicatedJob;

/// metadata.name, or the longest name that metadata.generateName can become; empty if it has neither.
[[nodiscard]] std::string longest_jobset_name(const Json& jobset);

/// Types, enumerations, bounds and required fields outside of the pod templates.
/// Source: upstream's CRD; the fields of the Job template as Kubernetes checks them when it creates the Job.
void check_jobset_schema(const Json& jobset, FieldErrors& errors);

/// spec.successPolicy, failurePolicy, startupPolicy and coordinator.
void check_jobset_policies(const Json& jobset, const JobSetSpec& spec, FieldErrors& errors);

/// spec.volumeClaimPolicies. Does not compare with claims that exist.
void check_jobset_volumes(const Json& jobset, const JobSetSpec& spec, FieldErrors& errors);

/// Replicated jobs whose Jobs are TPU slices. Node selectors may be missing while the JobSet is suspended: a queue sets
/// them before it resumes the JobSet.
void check_jobset_slices(const JobSetSpec& spec, FieldErrors& errors);

/// spec.scheduling: the rules of JobSet's KEP-969, and what this operator does not do.
void check_jobset_scheduling(const JobSetSpec& spec, FieldErrors& errors);
[[nodiscard]] std::vector<std::string> warn_jobset_scheduling(const JobSetSpec& spec);

/// Immutable fields.
void check_jobset_update(const Json& jobset, const JobSetSpec& spec, const Json& old, const JobSetSpec& old_spec,
                         FieldErrors& errors);

}  // namespace tpuslice::rules
