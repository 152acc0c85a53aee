#include "controllers/jobset/template_mutator.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/rules/jobset_rules.h"
#include "tpu/env_var.h"
#include "tpu/identity.h"
#include "tpu/labels.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::jobset {
namespace {

/// Number of pods of an Indexed Job that starts all at once; 0 for any other Job.
std::int64_t indexed_pods(const Json& job) {
  const std::int64_t completions = int_at(job, {"spec", "completions"});
  const bool at_once = completions > 0 && completions == int_at(job, {"spec", "parallelism"});
  const bool indexed = string_at(job, {"spec", "completionMode"}) == "Indexed";
  // With manualSelector the API server does not label the pods with the Job's name.
  return at_once && indexed && !bool_at(job, {"spec", "manualSelector"}) ? completions : 0;
}

bool has_name_and_namespace(const Json& job) {
  return !string_at(job, {"metadata", "name"}).empty() && !string_at(job, {"metadata", "namespace"}).empty();
}

/// The pod that the Job controller creates for a completion index, in all fields that identity depends on.
/// Source: kubernetes, pkg/controller/job/indexed_job_utils.go; the label is put into the template by the API server.
Json pod_of(const Json& job, std::int64_t index) {
  Json pod = job["spec"]["template"];
  Json& metadata = pod["metadata"];
  metadata["namespace"] = string_at(job, {"metadata", "namespace"});
  metadata["labels"][std::string(tpu::kJobName)] = string_at(job, {"metadata", "name"});
  metadata["annotations"][std::string(tpu::kCompletionIndex)] = std::to_string(index);
  return pod;
}

/// Replaces values that are the pod's index in the first and the last pod by a reference to the completion index.
void refer_to_index(Json& first, Json& last, std::int64_t last_index) {
  for (std::size_t container = 0; container < first["spec"]["containers"].size(); ++container) {
    const std::string position = std::to_string(container);
    const std::size_t variables = array_at(first, {"spec", "containers", position, "env"}).size();
    for (std::size_t at = 0; at < variables; ++at) {
      Json& of_first = first["spec"]["containers"][container]["env"][at];
      Json& of_last = last["spec"]["containers"].at(container)["env"].at(at);
      if (of_first == of_last) continue;
      if (string_at(of_first, {"value"}) != "0" || string_at(of_last, {"value"}) != std::to_string(last_index))
        continue;
      of_first = tpu::EnvVar{.name = string_at(of_first, {"name"}),
                             .value = {},
                             .field_path = fmt::format("metadata.annotations['{}']", tpu::kCompletionIndex)}
                     .to_json();
      of_last = of_first;
    }
  }
}

void remove_index(Json& pod) {
  for (const std::string_view name : {tpu::kCompletionIndex, tpu::kSliceHost}) {
    pod["metadata"]["annotations"].erase(std::string(name));
  }
  pod["metadata"]["labels"].erase(std::string(tpu::kHost));
}

/// The mutated template; nothing if a template cannot express the mutation of all pods.
Result<std::optional<Json>> template_of_slice(const Json& job, const rules::MutationOptions& options) {
  const std::int64_t pods = indexed_pods(job);
  if (pods == 0 || !has_name_and_namespace(job) || find_path(job, {"spec", "template"}) == nullptr) {
    return std::optional<Json>();
  }
  Json first = pod_of(job, 0);
  // The identity of a pod of another kind contains the uid of the Job, which does not exist yet.
  if (rules::kind_of_pod(first, options.kinds) != &kAdmission) return std::optional<Json>();
  Json last = pod_of(job, pods - 1);
  ASSIGN_OR_RETURN(const std::optional<tpu::SliceIdentity> identity, identify_pod(first));
  if (!identity) return std::optional<Json>();
  ASSIGN_OR_RETURN(first, rules::mutate_pod(std::move(first), options));
  ASSIGN_OR_RETURN(last, rules::mutate_pod(std::move(last), options));
  if (identity->hosts != pods) return std::optional<Json>();
  // Fields that are equal in the first and the last pod are equal in all pods.
  refer_to_index(first, last, pods - 1);
  remove_index(first);
  remove_index(last);
  if (first != last) return std::optional<Json>();

  Json mutated = job["spec"]["template"];
  Json& metadata = mutated["metadata"];
  metadata["labels"][std::string(tpu::kSlice)] = first["metadata"]["labels"][std::string(tpu::kSlice)];
  if (pods == 1) metadata["labels"][std::string(tpu::kHost)] = tpu::kHost0;
  metadata["annotations"] = std::move(first["metadata"]["annotations"]);
  metadata["annotations"][std::string(tpu::kMutatedBy)] = tpu::kMutatedByJobTemplate;
  mutated["spec"] = std::move(first["spec"]);
  return std::optional<Json>(std::move(mutated));
}

void remove_mark(Json& job) {
  if (find_path(job, {"spec", "template", "metadata", "annotations", tpu::kMutatedBy}) == nullptr) return;
  job["spec"]["template"]["metadata"]["annotations"].erase(std::string(tpu::kMutatedBy));
}

Result<bool> mutate_well_formed(Json& job, const rules::MutationOptions& options) {
  ASSIGN_OR_RETURN(std::optional<Json> mutated, template_of_slice(job, options));
  if (!mutated) {
    remove_mark(job);
    return false;
  }
  job["spec"]["template"] = std::move(*mutated);
  return true;
}

}  // namespace

Result<bool> mutate_job_template(Json& job, const rules::MutationOptions& options) {
  try {
    return mutate_well_formed(job, options);
  } catch (const Json::exception& error) {
    return Error::invalid_argument("pod template is malformed: {}", error.what());
  }
}

}  // namespace tpuslice::jobset
