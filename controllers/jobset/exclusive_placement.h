// Exclusive placement: one Job to a topology domain, as annotations ask for it.
#pragma once

#include <string>

#include "api/types/json.h"

namespace tpuslice::jobset {

/// The strategy for nodes that were labelled beforehand, one Job's name to a domain: the pods select that label and
/// tolerate the taint that goes with it. Nothing where `annotations`, the Job's, do not ask for it.
void select_job_nodes(const StringMap& annotations, const std::string& namespace_name, const std::string& job,
                      Json& pod_spec);

/// Every other way: where the annotations of `pod`, the Job's template, ask for it, the pods of the Job go to one
/// domain, and to none that pods of another Job are in. Slices of several hosts have affinities that say so already,
/// and the slice controller; all other pods get them here, where upstream lets the first pod choose and turns the
/// others away until it has. `marks` are the Job's.
///
/// Upstream lets Jobs of different priority share a domain, so that one can preempt the other node by node. What
/// priority a pod will have, a template does not say.
void keep_to_one_domain(const StringMap& marks, Json& pod);

}  // namespace tpuslice::jobset
