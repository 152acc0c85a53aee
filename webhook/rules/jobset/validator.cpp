#include "webhook/rules/jobset/validator.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "api/types/validation_names.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/jobset/rules.h"

namespace tpuslice::webhook {
namespace {

using Errors = std::vector<FieldError>;
using Jobs = std::vector<ReplicatedJob>;

constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kShownName = 100;  // Of a name in a message; somebody may have sent a megabyte.

/// Complains of `child`, a name that a Job or pod of `job` will have. False if there was something to complain of.
bool check_child_name(const ReplicatedJob& job, std::string_view kind, const std::string& child, Errors& errors) {
  const Complaints complaints = check_dns1035_label(child);
  if (child.size() > kLongestLabel) {
    errors.push_back(invalid_value(
        job.path + ".name", job.name,
        fmt::format("{} {} has {} characters, at most {} are allowed: shorten this name or "
                    "that of the JobSet by {}",
                    kind, clip(child, kShownName), child.size(), kLongestLabel, child.size() - kLongestLabel),
        kJobSetRule));
  } else if (!complaints.empty()) {
    errors.push_back(invalid_value(job.path + ".name", job.name,
                                   fmt::format("{} {}: {}", kind, child, complaints.front()), kJobSetRule));
  }
  return complaints.empty();
}

/// The longest names decide. A pod's hostname is its name without the random end.
void check_child_names(const std::string& jobset, const ReplicatedJob& job, Errors& errors) {
  if (jobset.empty()) return;  // The API server asks for a name itself.
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
  for (const std::string& complaint : check_dns1035_label(group->get<std::string>())) {
    errors.push_back(invalid_value(job.path + ".groupName", *group, complaint, kJobSetRule));
  }
}

void check_pod_total(const ReplicatedJob& job, Errors& errors) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (job.replicas < 0 || job.parallelism < 0 || job.replicas * job.parallelism <= kMost) return;
  errors.push_back(invalid_value(job.path + ".replicas", job.replicas,
                                 fmt::format("times parallelism, {}, is more than {}; use at most {}", job.parallelism,
                                             kMost, kMost / job.parallelism),
                                 kJobSetRule));
}

/// What the job may depend on: the ones before it, `earlier`.
void check_dependencies(const ReplicatedJob& job, const std::set<std::string>& earlier, bool first, Errors& errors) {
  const Json* list = find_set(*job.json, {"dependsOn"});
  if (list == nullptr) return;
  if (first) {
    errors.push_back(forbidden(job.path + ".dependsOn", "there is no replicated job before the first", kJobSetRule));
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
      errors.push_back(invalid_value(path, *name, "is there twice", kJobSetRule));
    } else if (text == job.name) {
      errors.push_back(invalid_value(path, *name, "a replicated job cannot wait for itself", kOurRule));
    } else if (!earlier.contains(text)) {
      errors.push_back(
          invalid_value(path, *name, "must be the name of a replicated job earlier in the list", kJobSetRule));
    }
  }
}

void check_replicated_jobs(const Json& jobset, const Jobs& jobs, Errors& errors) {
  const std::string name = longest_jobset_name(jobset);
  std::set<std::string> earlier;
  for (const ReplicatedJob& job : jobs) {
    if (earlier.contains(job.name)) {
      errors.push_back(invalid_value(job.path + ".name", job.name,
                                     "is the name of an earlier replicated job; names are unique", kJobSetRule));
    }
    check_child_names(name, job, errors);
    check_group_label(job, errors);
    check_pod_total(job, errors);
    check_dependencies(job, earlier, &job == &jobs.front(), errors);
    earlier.insert(job.name);
  }
}

void check_subdomain(const Json& jobset, Errors& errors) {
  const std::string subdomain = string_at(jobset, {"spec", "network", "subdomain"});
  if (subdomain.empty()) return;
  for (const std::string& complaint : check_dns1035_label(subdomain)) {
    errors.push_back(
        invalid_value("spec.network.subdomain", subdomain, "is the name of a Service: " + complaint, kJobSetRule));
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
  if (manager.size() > kLongestLabel) {
    refuse(fmt::format("has {} characters, at most {} are allowed", manager.size(), kLongestLabel));
  }
  const std::size_t slash = manager.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == manager.size()) {
    refuse("must be a domain and a path, for example acme.io/foo; leave it out to have the JobSet managed here");
    return;
  }
  for (const std::string& complaint : check_dns1123_subdomain(manager.substr(0, slash))) refuse(complaint);
  constexpr std::string_view kPathCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~%!$&'()*+,;=:";
  if (manager.find_first_not_of(kPathCharacters, slash + 1) != std::string::npos) {
    refuse("has a character after the first '/' that no path may have (RFC 3986)");
  }
}

Errors check_object(const Json& jobset) {
  Errors errors;
  check_jobset_schema(jobset, errors);
  const Jobs jobs = replicated_jobs(jobset);
  check_replicated_jobs(jobset, jobs, errors);
  check_subdomain(jobset, errors);
  check_jobset_policies(jobset, jobs, errors);
  check_jobset_manager(jobset, errors);
  check_jobset_volumes(jobset, jobs, errors);
  check_jobset_slices(jobset, jobs, errors);
  return errors;
}

}  // namespace

std::vector<FieldError> validate_jobset(const Json& jobset, const Json* old) {
  if (!jobset.is_object()) return {invalid_value("spec", jobset, "a JobSet is an object", kKubernetesRule)};
  Errors errors = check_object(jobset);
  if (old == nullptr) return errors;
  if (!errors.empty()) errors = new_errors(std::move(errors), check_object(*old));
  check_jobset_update(jobset, *old, errors);
  return errors;
}

std::vector<UnservedField> unserved_jobset_fields(const Json& jobset) {
  if (string_at(jobset, {"spec", "failurePolicy", "restartStrategy"}) != "InPlaceRestart") return {};
  return {{"spec.failurePolicy.restartStrategy",
           "containers are not restarted in place; use Recreate or BlockingRecreate"}};
}

}  // namespace tpuslice::webhook
