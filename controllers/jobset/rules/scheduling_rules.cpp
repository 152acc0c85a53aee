#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/scheduling.h"
#include "controllers/jobset/rules/validator_parts.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/topology_key.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;
using jobset::SchedulingGroup;

/// podGroupTemplates of upstream's Workload.
constexpr std::int64_t kMaxPodGroups = 8;
constexpr std::string_view kNodePool = "cloud.google.com/gke-nodepool";
constexpr std::array<std::string_view, 3> kPolicyFields = {"schedulingPolicy", "schedulingConstraints",
                                                           "disruptionMode"};

/// A member of a group's policy, "spec.scheduling.schedulingPolicy".
std::string path_of(const SchedulingGroup& group, std::string_view member) {
  return fmt::format("{}.{}", group.path, member);
}

/// An object of which one member must be set.
void check_choice(const SchedulingGroup& group, std::string_view member, std::string_view one, std::string_view other,
                  Errors& errors) {
  const Json* found = find_set(*group.json, {member});
  if (found == nullptr || !found->is_object()) return;
  const bool has_one = find_set(*found, {one}) != nullptr;
  if (has_one != (find_set(*found, {other}) != nullptr)) return;
  errors.push_back(
      invalid_value(path_of(group, member), *found, fmt::format("must have either {} or {}", one, other), kJobSetRule));
}

/// Names in targetReplicatedJobs: of replicated jobs, each once, and all if there is no policy for the others.
void check_targets(const Json& entries, const JobSetSpec& spec, Errors& errors) {
  std::set<std::string> seen;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const Json& targets = array_at(entries[index], {"targetReplicatedJobs"});
    const std::string path = fmt::format("spec.scheduling.replicatedJobs[{}].targetReplicatedJobs", index);
    if (targets.empty()) errors.add([&] { return required_value(path, "name a replicated job", kJobSetRule); });
    for (std::size_t position = 0; position < targets.size(); ++position) {
      if (!targets[position].is_string()) continue;
      const auto& name = targets[position].get_ref<const std::string&>();
      const auto element = [&] { return fmt::format("{}[{}]", path, position); };
      if (spec.find(name) == nullptr) {
        errors.add([&] { return invalid_value(element(), name, "must be the name of a replicated job", kJobSetRule); });
      } else if (!seen.insert(name).second) {
        errors.add(
            [&] { return duplicate_value(element(), name, kJobSetRule, "a replicated job is in one list only"); });
      }
    }
  }
  for (const ReplicatedJob& job : spec.jobs) {
    if (seen.contains(job.name)) continue;
    errors.add([&] {
      return invalid_value(job.path + ".name", job.name,
                           "must be in targetReplicatedJobs of an entry of spec.scheduling.replicatedJobs",
                           kJobSetRule);
    });
  }
}

void check_entries(const Json& entries, Errors& errors) {
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const Json& entry = entries[index];
    const std::string path = fmt::format("spec.scheduling.replicatedJobs[{}]", index);
    for (const std::string_view owner : {"", ".job"}) {
      const Json* claims =
          owner.empty() ? find_set(entry, {"resourceClaims"}) : find_set(entry, {"job", "resourceClaims"});
      if (claims == nullptr || !claims->is_array() || claims->empty()) continue;
      errors.push_back(
          forbidden(fmt::format("{}{}.resourceClaims", path, owner),
                    "claims that pods share need PodGroups, which this operator does not make; name a claim "
                    "in the pod template",
                    kOurRule));
    }
    if (find_set(entry, {"job"}) == nullptr) continue;
    if (array_at(entry, {"targetReplicatedJobs"}).size() > 1) {
      errors.push_back(invalid_value(path + ".targetReplicatedJobs", entry["targetReplicatedJobs"],
                                     "must be one replicated job if job is set", kJobSetRule));
    }
    for (const std::string_view member : kPolicyFields) {
      if (find_set(entry, {member}) == nullptr) continue;
      errors.push_back(forbidden(fmt::format("{}.{}", path, member),
                                 "cannot be combined with job, which makes each Job a group of its own", kJobSetRule));
    }
  }
}

/// Templates that say otherwise how their pods are placed.
void check_templates(const JobSetSpec& spec, Errors& errors) {
  for (const ReplicatedJob& job : spec.jobs) {
    if (find_set(*job.json, {"template", "spec", "scheduling"}) != nullptr) {
      errors.push_back(forbidden(job.job_path("scheduling"), "spec.scheduling of the JobSet is set", kJobSetRule));
    }
    if (job.pod_template == nullptr) continue;
    if (find_set(*job.pod_template, {"spec", "schedulingGroup"}) != nullptr) {
      errors.push_back(forbidden(job.job_path("template.spec.schedulingGroup"), "spec.scheduling is set", kJobSetRule));
    }
    for (const std::string_view name : {tpu::kGangSlices, tpu::kGang}) {
      if (string_at(*job.pod_template, {"metadata", "annotations", name}).empty()) continue;
      errors.push_back(forbidden(fmt::format("{}.metadata.annotations[{}]", job.job_path("template"), name),
                                 "spec.scheduling says which slices start together; remove one of them", kOurRule));
    }
  }
}

void check_min_count(const SchedulingGroup& group, const JobSetSpec& spec, Errors& errors) {
  if (!group.min_count) return;
  const std::string path = path_of(group, "schedulingPolicy.gang.minCount");
  if (group.path == "spec.scheduling" && jobset::has_startup_order(spec)) {
    errors.push_back(invalid_value(path, *group.min_count,
                                   "cannot be set with dependsOn or InOrder: each replicated job is a group of its own",
                                   kJobSetRule));
  } else if (*group.min_count > group.pods()) {
    errors.push_back(invalid_value(path, *group.min_count,
                                   fmt::format("must be no more than the {} pods of the group", group.pods()),
                                   kJobSetRule));
  } else if (*group.min_count != 0 && *group.min_count != group.pods()) {
    errors.push_back(invalid_value(
        path, *group.min_count,
        fmt::format("must be absent or {}: slices are whole, and all of a group start together", group.pods()),
        kOurRule));
  }
}

/// Upstream's PodGroup has one priority.
void check_priorities(const SchedulingGroup& group, Errors& errors) {
  if (group.per_job) return;
  const auto priority_of = [](const ReplicatedJob& job) {
    return job.pod_template == nullptr ? "" : string_at(*job.pod_template, {"spec", "priorityClassName"});
  };
  for (const ReplicatedJob* job : group.jobs) {
    const std::string expected = priority_of(*group.jobs.front());
    if (priority_of(*job) == expected) continue;
    errors.add([&] {
      return invalid_value(
          job->job_path("template.spec.priorityClassName"), priority_of(*job),
          fmt::format("must be \"{}\", as that of {}, which is in the same group", expected, group.jobs.front()->name),
          kJobSetRule);
    });
  }
}

/// Names of the replicated jobs that `job` waits for, directly or not. A job may depend on earlier ones only.
using Dependencies = std::map<std::string, std::set<std::string>, std::less<>>;
Dependencies all_dependencies(const JobSetSpec& spec) {
  Dependencies out;
  for (const ReplicatedJob& job : spec.jobs) {
    std::set<std::string>& own = out[job.name];
    for (const jobset::Dependency& each : job.depends_on) {
      own.insert(each.name);
      if (const auto found = out.find(each.name); found != out.end() && each.name != job.name) {
        own.insert(found->second.begin(), found->second.end());
      }
    }
  }
  return out;
}

/// Slices of one gang exist at the same time, or none starts.
void check_order(const SchedulingGroup& group, const std::vector<const ReplicatedJob*>& jobs, const JobSetSpec& spec,
                 Errors& errors) {
  const Dependencies dependencies = all_dependencies(spec);
  for (const ReplicatedJob* job : jobs) {
    for (const ReplicatedJob* earlier : jobs) {
      if (earlier >= job || (!spec.in_order && !dependencies.at(job->name).contains(earlier->name))) continue;
      errors.add([&] {
        return invalid_value(
            path_of(group, "targetReplicatedJobs"), Json::array({earlier->name, job->name}),
            fmt::format("cannot start together: {} is created when {} has started", job->name, earlier->name),
            kOurRule);
      });
      return;
    }
  }
}

/// What the slice controllers need to start the slices together.
void check_gang(const SchedulingGroup& group, const JobSetSpec& spec, Errors& errors) {
  const std::vector<const ReplicatedJob*> jobs = group.slice_jobs();
  const std::string path =
      find_set(*group.json, {"schedulingPolicy"}) == nullptr ? group.path : path_of(group, "schedulingPolicy");
  if (jobs.empty() && !group.jobs.empty()) {
    errors.push_back(invalid_value(path, Json::parse(R"({"gang": {}})"),
                                   fmt::format("{} has no multi-host TPU slices, and others are not started together: "
                                               "set basic: {{}}",
                                               group.jobs.front()->name),
                                   kOurRule));
    return;
  }
  if (group.per_job) return;
  if (group.slices() > tpu::kMaxSliceHosts) {
    errors.push_back(invalid_value(
        path, group.slices(),
        fmt::format("no more than {} slices start together", static_cast<int>(tpu::kMaxSliceHosts)), kOurRule));
  }
  std::set<std::string> accelerators;
  for (const ReplicatedJob* job : jobs) {
    const std::string accelerator = tpu::node_label(*job->pod_template, tpu::kAcceleratorLabel);
    if (!accelerator.empty()) accelerators.insert(accelerator);
    if (group.slices() < 2) continue;
    if (string_at(*job->pod_template, {"metadata", "annotations", tpu::kGating}) == "off") {
      errors.push_back(
          invalid_value(fmt::format("{}.metadata.annotations[{}]", job->job_path("template"), tpu::kGating), "off",
                        "pods without scheduling gate do not wait for others: remove it, or set basic: {}", kOurRule));
    }
    const std::string scheduler = string_at(*job->pod_template, {"spec", "schedulerName"});
    if (!scheduler.empty() && scheduler != "default-scheduler") {
      errors.push_back(invalid_value(job->job_path("template.spec.schedulerName"), scheduler,
                                     "the slices of a gang are placed for default-scheduler only", kOurRule));
    }
  }
  if (accelerators.size() > 1) {
    errors.push_back(invalid_value(path, Json(accelerators),
                                   "slices of different accelerators do not start together: make groups of them",
                                   kOurRule));
  }
  if (jobs.size() > 1) check_order(group, jobs, spec, errors);
}

/// The topology key of the Job's slices, as far as the template says it.
std::string topology_key_of(const JobSetSpec& spec, const ReplicatedJob& job) {
  std::string key = string_at(*job.pod_template, {"metadata", "annotations", tpu::kTopologyKey});
  if (!key.empty()) return key;
  key = string_at(*job.json, {"template", "metadata", "annotations", jobset::kJobSetTopologyKey});
  if (!key.empty()) return key;
  if (const auto exclusive = spec.annotations.find(jobset::kJobSetTopologyKey); exclusive != spec.annotations.end()) {
    key = exclusive->second;
    return key;
  }
  key = tpu::gke_topology_key(*job.pod_template);
  if (key.empty()) key = kNodePool;
  return key;
}

/// Whether each slice has all its hosts in one value of `key`, because its domain does.
bool keeps_slices_within(std::string_view key, std::string_view topology_key) {
  const bool is_part = tpu::is_gke_topology_key(topology_key) && topology_key != tpu::kDynamicSliceLabel;
  return key == topology_key || key == tpu::kBlockLabel || (key == kNodePool && is_part);
}

void check_constraints(const SchedulingGroup& group, const JobSetSpec& spec, Errors& errors) {
  const std::string key = string_at(*group.json, {"schedulingConstraints", "topology", "0", "key"});
  if (key.empty()) return;
  const auto refuse = [&](const std::string& detail) {
    errors.push_back(invalid_value(path_of(group, "schedulingConstraints.topology[0].key"), key, detail, kOurRule));
  };
  for (const ReplicatedJob* job : group.jobs) {
    if (!jobset::may_be_slices(*job)) {
      return refuse(fmt::format("pods of {} are not hosts of a multi-host slice, and are not placed by it", job->name));
    }
    const std::string topology_key = topology_key_of(spec, *job);
    if (!keeps_slices_within(key, topology_key)) {
      return refuse(fmt::format("a slice of {} is in one {}, which need not be one {}", job->name, topology_key, key));
    }
  }
  if (group.per_job || group.slices() < 2) return;
  if (key != tpu::kBlockLabel) {
    return refuse(
        fmt::format("{} slices are in as many domains: set {} for each Job, in job.schedulingConstraints of an "
                    "entry of replicatedJobs",
                    group.slices(), key));
  }
  if (!group.gang) refuse("only slices that start together are placed in one block: set gang: {}");
}

/// Whether every lost slice or failed pod of the job ends the whole JobSet.
bool ends_with_any_pod(const ReplicatedJob& job) {
  const Json* const limit = find_set(*job.json, {"template", "spec", "backoffLimit"});
  const Json& job_spec = job.job_template == nullptr ? Json::object() : job.job_template->value("spec", Json::object());
  return limit != nullptr && *limit == 0 && find_set(job_spec, {"podFailurePolicy"}) == nullptr &&
         find_set(job_spec, {"backoffLimitPerIndex"}) == nullptr;
}

/// A slice ends whole. What else ends with it is decided by the failure policy.
void check_disruption(const SchedulingGroup& group, const JobSetSpec& spec, Errors& errors) {
  const Json* mode = find_set(*group.json, {"disruptionMode"});
  if (mode == nullptr || !mode->is_object() || group.jobs.empty()) return;
  const bool all = find_set(*mode, {"all"}) != nullptr;
  const auto refuse = [&](const std::string& detail) {
    errors.push_back(invalid_value(path_of(group, "disruptionMode"), *mode, detail, kOurRule));
  };
  const bool has_slices = !group.slice_jobs().empty();
  const bool is_one_slice = has_slices && (group.per_job || (group.jobs.size() == 1 && group.slices() == 1));
  if (!all && is_one_slice) return refuse("the hosts of a slice end together: set all: {}");
  if (!all || is_one_slice) return;
  if (!has_slices) return refuse("pods that are not hosts of a multi-host slice end one by one: set single: {}");
  if (spec.failure && spec.failure->restarts_single_jobs()) {
    return refuse("a rule of spec.failurePolicy restarts single Jobs, so that the others go on");
  }
  for (const ReplicatedJob* job : group.jobs) {
    if (ends_with_any_pod(*job)) continue;
    return refuse(
        fmt::format("the others go on when {} loses a pod: set {}: 0, without podFailurePolicy and "
                    "backoffLimitPerIndex",
                    job->name, job->job_path("backoffLimit")));
  }
}

}  // namespace

void check_jobset_scheduling(const JobSetSpec& spec, Errors& errors) {
  if (spec.scheduling == nullptr || !spec.scheduling->is_object()) return;
  const Json& entries = array_at(*spec.scheduling, {"replicatedJobs"});
  if (!entries.empty()) {
    for (const std::string_view member : kPolicyFields) {
      if (find_set(*spec.scheduling, {member}) == nullptr) continue;
      errors.push_back(forbidden(fmt::format("spec.scheduling.{}", member),
                                 "cannot be combined with replicatedJobs, which has the policies then", kJobSetRule));
    }
    check_targets(entries, spec, errors);
    check_entries(entries, errors);
  }
  check_templates(spec, errors);
  std::int64_t pod_groups = 0;
  std::set<std::string> checked;
  for (const SchedulingGroup& group : jobset::scheduling_groups(spec)) {
    for (const ReplicatedJob* job : group.jobs) pod_groups += group.per_job ? job->replicas : 0;
    pod_groups += group.per_job ? 0 : 1;
    if (checked.insert(group.path).second) {
      check_choice(group, "schedulingPolicy", "basic", "gang", errors);
      check_choice(group, "disruptionMode", "single", "all", errors);
      check_min_count(group, spec, errors);
    }
    check_priorities(group, errors);
    if (group.gang) check_gang(group, spec, errors);
    check_constraints(group, spec, errors);
    check_disruption(group, spec, errors);
  }
  if (pod_groups > kMaxPodGroups) {
    errors.push_back(too_many("spec.scheduling", static_cast<std::size_t>(pod_groups),
                              static_cast<std::size_t>(kMaxPodGroups), kJobSetRule));
  }
}

std::vector<std::string> warn_jobset_scheduling(const JobSetSpec& spec) {
  std::vector<std::string> warnings;
  for (const SchedulingGroup& group : jobset::scheduling_groups(spec)) {
    const std::string key = string_at(*group.json, {"schedulingConstraints", "topology", "0", "key"});
    if (key == tpu::kBlockLabel && !group.per_job && group.slices() > 1) {
      warnings.push_back(fmt::format("{}: one block is preferred, not required, for slices that start together",
                                     path_of(group, "schedulingConstraints")));
    }
    if (!group.gang || group.slice_jobs().empty()) continue;
    for (const ReplicatedJob* job : group.jobs) {
      if (jobset::may_be_slices(*job)) continue;
      warnings.push_back(fmt::format("{}: pods of {} are not hosts of multi-host slices, and start on their own",
                                     group.path, job->name));
    }
  }
  return warnings;
}

}  // namespace tpuslice::rules
