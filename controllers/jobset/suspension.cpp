#include "controllers/jobset/suspension.h"

#include <algorithm>
#include <array>

#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/plan/drift.h"

namespace tpuslice::jobset {
namespace {

/// `live` followed by the elements of `desired` that it lacks; null if it lacks none.
Json union_of(const Json& live, const Json& desired) {
  Json out = live.is_array() ? live : Json::array();
  const std::size_t before = out.size();
  for (const Json& item : desired) {
    if (std::ranges::find(out, item) == out.end()) out.push_back(item);
  }
  return out.size() == before ? Json() : out;
}

Json member_of(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found == nullptr ? Json() : *found;
}

/// Merge patch for the pod template `live`; null if nothing changes.
Json template_patch(const Json& live, const Json& desired) {
  Json patch;
  for (const char* map : {"labels", "annotations"}) {
    Json changed = plan::restore_patch(member_of(desired, {"metadata", map}), member_of(live, {"metadata", map}));
    if (!changed.is_null()) patch["metadata"][map] = std::move(changed);
  }
  Json selector =
      plan::restore_patch(member_of(desired, {"spec", "nodeSelector"}), member_of(live, {"spec", "nodeSelector"}));
  if (!selector.is_null()) patch["spec"]["nodeSelector"] = std::move(selector);
  for (const char* list : {"tolerations", "schedulingGates"}) {
    Json changed = union_of(member_of(live, {"spec", list}), member_of(desired, {"spec", list}));
    if (!changed.is_null()) patch["spec"][list] = std::move(changed);
  }
  return patch;
}

/// Merge patch for the annotation of the Job that says which attempt it runs in; null if nothing changes.
Json attempt_patch(const JobView& job, const Json& desired) {
  const std::string attempt = string_at(desired, {"metadata", "annotations", kExecutionAttempt});
  if (attempt.empty() || attempt == job.annotation(kExecutionAttempt)) return {};
  return {{std::string(kExecutionAttempt), attempt}};
}

bool is_mutated(const Json& pod) { return !string_at(pod, {"metadata", "annotations", tpu::kMutatedBy}).empty(); }

/// Whether the environment in the live template was computed for another accelerator or topology.
bool has_other_slice_shape(const Json& live, const Json& desired) {
  if (!is_mutated(live)) return false;
  constexpr std::array kShapeLabels{tpu::kAcceleratorLabel, tpu::kTopologyLabel};
  return std::ranges::any_of(kShapeLabels, [&](std::string_view label) {
    return string_at(live, {"spec", "nodeSelector", label}) != string_at(desired, {"spec", "nodeSelector", label});
  });
}

}  // namespace

std::vector<JobPtr> jobs_to_suspend(const std::vector<JobPtr>& active) {
  std::vector<JobPtr> out;
  for (const JobPtr& job : active) {
    if (!job->suspended && !job->deletion) out.push_back(job);
  }
  return out;
}

Result<ResumeDecision> decide_resume(const JobSetSpec& spec, const std::vector<JobPtr>& active,
                                     const StartupDecision& startup, const JobBuilder& builder) {
  ResumeDecision out;
  for (const JobPtr& job : active) {
    if (!job->suspended || job->deletion) continue;
    const ReplicatedJob* replicated_job = spec.find(replicated_job_of(*job));
    if (replicated_job == nullptr || std::ranges::count(startup.may_start, replicated_job) == 0) continue;
    ASSIGN_OR_RETURN(const Json live, parse_json(job->pod_template.empty() ? "{}" : job->pod_template));
    const auto pods = is_mutated(live) ? JobBuilder::PodTemplate::kMutated : JobBuilder::PodTemplate::kUnmutated;
    const auto position = static_cast<std::size_t>(replicated_job - spec.jobs.data());
    ASSIGN_OR_RETURN(const Json desired, builder.build(position, index_of(*job).value_or(0), pods));
    const Json& pod = desired["spec"]["template"];
    if (has_other_slice_shape(live, pod)) {
      out.recreate.push_back(job);
    } else {
      out.resume.push_back({job, template_patch(live, pod), attempt_patch(*job, desired)});
    }
  }
  return out;
}

}  // namespace tpuslice::jobset
