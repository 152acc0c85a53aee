// Parts of check_workload().
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/sim/schema/field_path.h"
#include "api/types/json.h"

namespace tpuslice::sim {

void check_not_negative(Problems& problems, const FieldPath& path, const Json& spec,
                        std::initializer_list<const char*> names);
/// The members named are what they were.
void check_immutable(Problems& problems, const FieldPath& path, const Json& spec, const Json& old,
                     std::initializer_list<const char*> names);
void check_pod_template(Problems& problems, const FieldPath& path, const Json& pods,
                        const std::vector<std::string>& restart_policies);

/// spec.selector, and that the labels of the template match it.
void check_selector(Problems& problems, const FieldPath& path, std::string_view kind, const Json& spec);

void check_stateful_set(Problems& problems, const Json& set, const Json* old);
void check_revision(Problems& problems, const Json& revision, const Json* old);

void check_job(Problems& problems, const Json& job, const Json* old);
void check_job_status(Problems& problems, const Json& job, const Json& old);
/// Of Jobs and CronJobs.
void check_job_template(Problems& problems, const FieldPath& path, const Json& pods);
/// spec.podFailurePolicy and spec.successPolicy.
void check_job_policies(Problems& problems, const FieldPath& path, const Json& spec);

}  // namespace tpuslice::sim
