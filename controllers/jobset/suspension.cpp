#include "controllers/jobset/suspension.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "api/types/quantity.h"
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

constexpr std::array kContainerLists{"containers", "initContainers"};
constexpr std::array kResourceMaps{"requests", "limits"};

/// Merge patch for a map of quantities, which the API server may print in another form; null if nothing changes.
Json quantities_patch(const Json& live, const Json& desired) {
  Json patch;
  for (const auto& [resource, value] : desired.items()) {
    const auto found = live.find(resource);
    if (found != live.end()) {
      const Result<Quantity> before = Quantity::from_json(*found);
      const Result<Quantity> after = Quantity::from_json(value);
      if (*found == value || (before.ok() && after.ok() && *before == *after)) continue;
    }
    patch[resource] = value;
  }
  for (const auto& [resource, value] : live.items()) {
    if (!desired.contains(resource)) patch[resource] = nullptr;
  }
  return patch;
}

/// The member of the container's resources; an empty object if it is absent.
Json quantities_of(const Json* container, const char* map) {
  const Json* found = container == nullptr ? nullptr : find_set(*container, {"resources", map});
  return found != nullptr && found->is_object() ? *found : Json::object();
}

/// Strategic merge patch that gives the pods of `live` requests and limits of `desired`, container by container; null
/// if nothing changes.
Json resources_patch(const Json& live, const Json& desired) {
  Json patch;
  for (const char* list : kContainerLists) {
    std::map<std::string, const Json*> by_name;
    for (const Json& container : array_at(live, {"spec", list})) {
      by_name.emplace(string_at(container, {"name"}), &container);
    }
    for (const Json& container : array_at(desired, {"spec", list})) {
      const std::string name = string_at(container, {"name"});
      const auto found = by_name.find(name);
      const Json* before = found == by_name.end() ? nullptr : found->second;
      Json resources;
      for (const char* map : kResourceMaps) {
        Json changed = quantities_patch(quantities_of(before, map), quantities_of(&container, map));
        if (!changed.is_null()) resources[map] = std::move(changed);
      }
      if (!resources.is_null()) patch[list].push_back({{"name", name}, {"resources", std::move(resources)}});
    }
  }
  return patch;
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

/// Whether the environment in the live template was computed for other chips. `resources`: its resources_patch().
bool has_other_chips(const Json& live, const Json& resources) {
  if (!is_mutated(live)) return false;
  for (const char* list : kContainerLists) {
    for (const Json& container : array_at(resources, {list})) {
      for (const char* map : kResourceMaps) {
        if (find_path(container, {"resources", map, tpu::kTpuResource}) != nullptr) return true;
      }
    }
  }
  return false;
}

/// Whether the slice was created to start with others than now. Its annotation stays in the template, as it may be of
/// another controller, unless the template is replaced.
bool has_other_gang(const Json& live, const Json& desired) {
  constexpr std::array kGangAnnotations{tpu::kSliceGang, tpu::kGangSlices, tpu::kGang};
  return std::ranges::any_of(kGangAnnotations, [&](std::string_view name) {
    const std::string before = string_at(live, {"metadata", "annotations", name});
    return !before.empty() && before != string_at(desired, {"metadata", "annotations", name});
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
    Json resources = resources_patch(live, pod);
    if (has_other_slice_shape(live, pod) || has_other_chips(live, resources) || has_other_gang(live, pod)) {
      out.recreate.push_back(job);
    } else {
      out.resume.push_back({job, template_patch(live, pod), attempt_patch(*job, desired), std::move(resources)});
    }
  }
  return out;
}

}  // namespace tpuslice::jobset
