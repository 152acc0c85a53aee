// Parts of the validator of RayClusters, one for each feature.
#pragma once

#include <string>
#include <vector>

#include "controllers/raycluster/rules/cluster_view.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// Rules about Ray's autoscaler, and about the fields that only it reads.
void check_autoscaling(const ClusterView& cluster, FieldErrors& errors);

/// Restart policies that version 1 of the autoscaler does not expect.
[[nodiscard]] std::vector<std::string> warn_autoscaling(const ClusterView& cluster);

/// Warns of labels for batch schedulers that KubeRay serves, such as Volcano, and says what to use instead.
[[nodiscard]] std::vector<std::string> warn_batch_scheduling(const ClusterView& cluster);

/// Rules about the fault tolerance of the GCS: spec.gcsFaultToleranceOptions, annotations, and what users write about
/// Redis beside them. `old` is the stored cluster on an update, else null.
void check_fault_tolerance(const ClusterView& cluster, const Json* old, FieldErrors& errors);

/// Warns of options without effect.
[[nodiscard]] std::vector<std::string> warn_fault_tolerance(const ClusterView& cluster);

/// Rules about token authentication, spec.authOptions.
void check_token_auth(const ClusterView& cluster, FieldErrors& errors);

/// Warns of options that protect nothing.
[[nodiscard]] std::vector<std::string> warn_token_auth(const ClusterView& cluster);

}  // namespace tpuslice::rules
