// Exclusive placement: at most one Job per topology domain, requested by annotations.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::jobset {

/// Node selector strategy: nodes were labelled with the Job's name beforehand; the pods select that label and tolerate
/// the taint that goes with it. Does nothing unless `annotations`, the Job's, request it.
void add_job_node_selector(const StringMap& annotations, const std::string& namespace_name, const std::string& job,
                           Json& pod_spec);

/// Without that strategy: if the annotations of `pod`, the Job's pod template, request it, adds affinities that keep
/// the pods of the Job in one domain without pods of other Jobs. Multi-host slices already have such affinities.
/// Upstream instead rejects pods at admission until the first one is scheduled. `labels` are the Job's.
///
/// Upstream lets Jobs of different priority share a domain, so that one can preempt the other; a template does not say
/// which priority its pods get.
void add_exclusive_affinity(const StringMap& labels, Json& pod);

}  // namespace tpuslice::jobset
