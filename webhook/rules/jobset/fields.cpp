#include "webhook/rules/jobset/fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "webhook/rules/fields.h"

namespace tpuslice::webhook {

std::string ReplicatedJob::job_path(std::string_view field) const {
  return fmt::format("{}.template.spec.{}", path, field);
}

std::vector<ReplicatedJob> replicated_jobs(const Json& jobset) {
  std::vector<ReplicatedJob> jobs;
  const Json& list = array_at(jobset, {"spec", "replicatedJobs"});
  for (std::size_t index = 0; index < list.size(); ++index) {
    const Json& json = list[index];
    if (!json.is_object()) continue;
    ReplicatedJob job;
    job.json = &json;
    job.path = fmt::format("spec.replicatedJobs[{}]", index);
    job.name = string_at(json, {"name"});
    job.replicas = int_at(json, {"replicas"}).value_or(1);
    job.parallelism = int_at(json, {"template", "spec", "parallelism"}).value_or(1);
    job.completions = int_at(json, {"template", "spec", "completions"});
    if (!job.completions && find_set(json, {"template", "spec", "parallelism"}) == nullptr) job.completions = 1;
    job.indexed = string_at(json, {"template", "spec", "completionMode"}, "Indexed") == "Indexed";
    job.pod = find_set(json, {"template", "spec", "template"});
    jobs.push_back(std::move(job));
  }
  return jobs;
}

const ReplicatedJob* find_job(const std::vector<ReplicatedJob>& jobs, std::string_view name) {
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const ReplicatedJob& job) { return job.name == name; });
  return found == jobs.end() ? nullptr : &*found;
}

std::string longest_jobset_name(const Json& jobset) {
  const std::string name = string_at(jobset, {"metadata", "name"});
  const std::string prefix = string_at(jobset, {"metadata", "generateName"});
  if (!name.empty() || prefix.empty()) return name;
  return prefix.substr(0, 58) + "xxxxx";  // As the API server generates: five characters, 63 at most.
}

std::string default_rule_name(std::size_t index) { return fmt::format("failurePolicyRule{}", index); }

bool is_suspended(const Json& jobset) { return is_true(jobset, {"spec", "suspend"}); }

}  // namespace tpuslice::webhook
