#include "controllers/jobset/rules/validator.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "controllers/jobset/rules/validator_parts.h"
#include "tpu/rules/limits.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

constexpr std::size_t kMaxLabelLength = 63;
constexpr std::size_t kMaxObjectNameLength = 253;
constexpr std::size_t kMaxShownNameLength = 100;  // In messages: the name may have a megabyte.

/// Checks `child`, the name of a Job or pod of `job`. Returns whether it is valid.
bool check_child_name(const ReplicatedJob& job, std::string_view kind, const std::string& child, Errors& errors) {
  const ErrorMessages details = check_dns1035_label(child);
  if (child.size() > kMaxLabelLength) {
    errors.push_back(invalid_value(job.path + ".name", job.name,
                                   fmt::format("{} {} must be no more than {} characters, has {}: shorten this name or "
                                               "that of the JobSet by {}",
                                               kind, clip(child, kMaxShownNameLength), kMaxLabelLength, child.size(),
                                               child.size() - kMaxLabelLength),
                                   kJobSetRule));
  } else if (!details.empty()) {
    errors.push_back(invalid_value(job.path + ".name", job.name, fmt::format("{} {}: {}", kind, child, details.front()),
                                   kJobSetRule));
  }
  return details.empty();
}

/// Checks the longest names. A pod's hostname is its name without the random suffix.
void check_child_names(const std::string& jobset, const ReplicatedJob& job, Errors& errors) {
  if (jobset.empty()) return;  // The API server requires a name.
  const std::int64_t last_job = std::max<std::int64_t>(job.replicas - 1, 0);
  const std::string job_name = fmt::format("{}-{}-{}", jobset, job.name, last_job);
  if (!check_child_name(job, "Job name", job_name, errors)) return;
  if (!job.indexed || !job.completions) return;
  const std::int64_t last_pod = std::max<std::int64_t>(*job.completions - 1, 0);
  check_child_name(job, "pod name", fmt::format("{}-{}-xxxxx", job_name, last_pod), errors);
}

void check_group_label(const ReplicatedJob& job, Errors& errors) {
  const Json* group = find_set(*job.json, {"groupName"});
  if (group == nullptr || !group->is_string()) return;
  for (const std::string& detail : check_dns1035_label(group->get<std::string>())) {
    errors.push_back(invalid_value(job.path + ".groupName", *group, detail, kJobSetRule));
  }
}

/// The API server refuses Jobs with a podFailurePolicy whose pods restart.
void check_pod_failure_policy(const ReplicatedJob& job, Errors& errors) {
  if (find_set(*job.json, {"template", "spec", "podFailurePolicy"}) == nullptr || job.pod_template == nullptr) return;
  const Json* const policy = find_set(*job.pod_template, {"spec", "restartPolicy"});
  if (policy != nullptr && *policy != "OnFailure") return;  // check_jobset_schema() reports others than Never.
  errors.push_back(
      invalid_value(job.job_path("template.spec.restartPolicy"), "OnFailure",
                    fmt::format("{}only \"Never\" is supported when {} is specified",
                                policy == nullptr ? "is the default, " : "", job.job_path("podFailurePolicy")),
                    kKubernetesRule));
}

/// The Jobs, and their pods, of all replicated jobs together.
void check_totals(const JobSetSpec& spec, Errors& errors) {
  std::int64_t jobs = 0;
  std::int64_t pods = 0;
  for (const ReplicatedJob& job : spec.jobs) {
    if (job.replicas < 0 || job.parallelism < 0) continue;
    if (jobs + job.replicas > rules::kMaxChildren) {
      errors.push_back(invalid_value(job.path + ".replicas", job.replicas,
                                     fmt::format("must be no more than {}: with the replicated jobs before it, there "
                                                 "are {} Jobs, the maximum of a JobSet is {}",
                                                 rules::kMaxChildren - jobs, jobs + job.replicas, rules::kMaxChildren),
                                     kOurRule));
      return;
    }
    if (pods + job.replicas * job.parallelism > rules::kMaxPods) {
      errors.push_back(
          invalid_value(job.path + ".replicas", job.replicas,
                        fmt::format("must be no more than {} with a parallelism of {}: with the replicated jobs before "
                                    "it, there are {} pods at a time, the maximum of a JobSet is {}",
                                    (rules::kMaxPods - pods) / job.parallelism, job.parallelism,
                                    pods + job.replicas * job.parallelism, rules::kMaxPods),
                        kOurRule));
      return;
    }
    jobs += job.replicas;
    pods += job.replicas * job.parallelism;
  }
}

/// A replicated job may depend on `earlier` ones.
void check_dependencies(const ReplicatedJob& job, const std::set<std::string>& earlier, bool first, Errors& errors) {
  const Json* list = find_set(*job.json, {"dependsOn"});
  if (list == nullptr) return;
  if (first) {
    errors.push_back(
        forbidden(job.path + ".dependsOn", "the first replicated job cannot depend on others", kJobSetRule));
    return;
  }
  std::set<std::string> seen;
  const Json& dependencies = array_at(*list, {});
  for (std::size_t index = 0; index < dependencies.size(); ++index) {
    const Json* name = find_set(dependencies[index], {"name"});
    if (name == nullptr || !name->is_string()) continue;
    const auto text = name->get<std::string>();
    const std::string path = fmt::format("{}.dependsOn[{}].name", job.path, index);
    if (!seen.insert(text).second) {
      errors.add([&] { return duplicate_value(path, *name, kJobSetRule, "it is in the list twice"); });
    } else if (text == job.name) {
      errors.add([&] { return invalid_value(path, *name, "a replicated job cannot depend on itself", kOurRule); });
    } else if (!earlier.contains(text)) {
      errors.add([&] {
        return invalid_value(path, *name, "must be the name of a replicated job earlier in the list", kJobSetRule);
      });
    }
  }
}

void check_replicated_jobs(const Json& jobset, const JobSetSpec& spec, Errors& errors) {
  const std::string name = longest_jobset_name(jobset);
  std::set<std::string> earlier;
  for (const ReplicatedJob& job : spec.jobs) {
    if (earlier.contains(job.name)) {
      errors.push_back(
          duplicate_value(job.path + ".name", job.name, kJobSetRule, "an earlier replicated job has this name"));
    }
    check_child_names(name, job, errors);
    check_group_label(job, errors);
    check_pod_failure_policy(job, errors);
    check_dependencies(job, earlier, &job == &spec.jobs.front(), errors);
    earlier.insert(job.name);
  }
  check_totals(spec, errors);
}

void check_subdomain(const Json& jobset, Errors& errors) {
  const std::string subdomain = string_at(jobset, {"spec", "network", "subdomain"});
  if (subdomain.empty()) return;
  for (const std::string& detail : check_dns1035_label(subdomain)) {
    errors.push_back(
        invalid_value("spec.network.subdomain", subdomain, "as name of a Service: " + detail, kJobSetRule));
  }
}

/// "<domain>/<path>", as in "acme.io/foo".
void check_jobset_manager(const Json& jobset, Errors& errors) {
  constexpr std::string_view kPath = "spec.managedBy";
  const Json* found = find_set(jobset, {"spec", "managedBy"});
  if (found == nullptr || !found->is_string()) return;
  const auto manager = found->get<std::string>();
  const auto refuse = [&](std::string detail) {
    errors.push_back(invalid_value(std::string(kPath), *found, std::move(detail), kJobSetRule));
  };
  if (manager.size() > kMaxLabelLength) {
    refuse(fmt::format("must be no more than {} characters, has {}", kMaxLabelLength, manager.size()));
  }
  const std::size_t slash = manager.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == manager.size()) {
    refuse("must be a domain and a path, for example acme.io/foo; omit it if this operator manages the JobSet");
    return;
  }
  for (const std::string& detail : check_dns1123_subdomain(manager.substr(0, slash))) refuse(detail);
  constexpr std::string_view kPathCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~%!$&'()*+,;=:";
  if (manager.find_first_not_of(kPathCharacters, slash + 1) != std::string::npos) {
    refuse("has a character after the first '/' that is not allowed in a path (RFC 3986)");
  }
}

void check_active_deadline(const Json& jobset, Errors& errors) {
  const Json* seconds = find_set(jobset, {"spec", "activeDeadlineSeconds"});
  if (seconds == nullptr || !seconds->is_number_integer() || *seconds > 0) return;
  errors.push_back(
      invalid_value("spec.activeDeadlineSeconds", *seconds, "must be greater than or equal to 1", kJobSetRule));
}

void check_jobset_object(const Json& jobset, const JobSetSpec& spec, Errors& errors) {
  if (const std::size_t jobs = array_at(jobset, {"spec", "replicatedJobs"}).size(); jobs > rules::kMaxGroups) {
    errors.push_back(too_many("spec.replicatedJobs", jobs, rules::kMaxGroups, kOurRule));
    return;
  }
  check_jobset_schema(jobset, errors);
  check_replicated_jobs(jobset, spec, errors);
  check_subdomain(jobset, errors);
  check_jobset_policies(jobset, spec, errors);
  check_jobset_manager(jobset, errors);
  check_active_deadline(jobset, errors);
  check_jobset_volumes(jobset, spec, errors);
  check_jobset_slices(spec, errors);
  check_jobset_scheduling(spec, errors);
}

}  // namespace

std::string longest_jobset_name(const Json& jobset) {
  const std::string name = string_at(jobset, {"metadata", "name"});
  const std::string prefix = string_at(jobset, {"metadata", "generateName"});
  // The API server refuses longer ones; the name is part of many others.
  if (!name.empty() || prefix.empty()) return clip(name, kMaxObjectNameLength);
  return prefix.substr(0, 58) + "xxxxx";  // The API server appends five characters, to at most 63.
}

FieldErrors validate_jobset(const Json& jobset, const Json* old) {
  if (!jobset.is_object()) return {invalid_value("spec", jobset, "must be an object", kKubernetesRule)};
  const JobSetSpec spec = JobSetSpec::read(jobset);
  const JobSetSpec old_spec = old == nullptr ? JobSetSpec() : JobSetSpec::read(*old);
  FieldCheck check_stored;
  if (old != nullptr) check_stored = [&](Errors& errors) { check_jobset_object(*old, old_spec, errors); };
  Errors errors = new_errors([&](Errors& found) { check_jobset_object(jobset, spec, found); }, check_stored);
  if (old != nullptr) check_jobset_update(jobset, spec, *old, old_spec, errors);
  return errors;
}

FieldErrors validate_stored_jobset(const Typed<JobSetSpec>& jobset) {
  FieldErrors errors;
  check_jobset_object(jobset.json(), jobset.spec(), errors);
  return errors;
}

std::vector<UnsupportedField> unsupported_jobset_fields(const Json& jobset) {
  if (string_at(jobset, {"spec", "failurePolicy", "restartStrategy"}) != "InPlaceRestart") return {};
  return {{"spec.failurePolicy.restartStrategy",
           "containers are not restarted in place; use Recreate or BlockingRecreate"}};
}

}  // namespace tpuslice::rules
