#include "controllers/jobset/suspension.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

using runtime::Action;

/// Members of `wanted` that `live` lacks or has otherwise; null for none.
Json missing_members(const Json& live, const Json& wanted) {
  Json out;
  for (const auto& [key, value] : wanted.items()) {
    if (!live.is_object() || !live.contains(key) || live[key] != value) out[key] = value;
  }
  return out;
}

/// `live` and, behind it, what of `wanted` it lacks; null if it lacks nothing.
Json union_of(const Json& live, const Json& wanted) {
  Json out = live.is_array() ? live : Json::array();
  const std::size_t before = out.size();
  for (const Json& item : wanted) {
    if (std::ranges::find(out, item) == out.end()) out.push_back(item);
  }
  return out.size() == before ? Json() : out;
}

Json member_of(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found == nullptr ? Json() : *found;
}

/// What of the pod template `live` has to change; null for nothing.
Json template_patch(const Json& live, const Json& wanted) {
  Json patch;
  for (const char* map : {"labels", "annotations"}) {
    Json changed = missing_members(member_of(live, {"metadata", map}), member_of(wanted, {"metadata", map}));
    if (!changed.is_null()) patch["metadata"][map] = std::move(changed);
  }
  Json selector =
      missing_members(member_of(live, {"spec", "nodeSelector"}), member_of(wanted, {"spec", "nodeSelector"}));
  if (!selector.is_null()) patch["spec"]["nodeSelector"] = std::move(selector);
  for (const char* list : {"tolerations", "schedulingGates"}) {
    Json changed = union_of(member_of(live, {"spec", list}), member_of(wanted, {"spec", list}));
    if (!changed.is_null()) patch["spec"][list] = std::move(changed);
  }
  return patch;
}

bool is_born_right(const Json& pod) { return !string_at(pod, {"metadata", "annotations", tpu::kBorn}).empty(); }

/// The pods are told of a slice that is not the one they are going to be.
bool is_of_another_slice(const Json& live, const Json& wanted) {
  if (!is_born_right(live)) return false;
  constexpr std::array kOfSlice{tpu::kAcceleratorLabel, tpu::kTopologyLabel};
  return std::ranges::any_of(kOfSlice, [&](std::string_view label) {
    return string_at(live, {"spec", "nodeSelector", label}) != string_at(wanted, {"spec", "nodeSelector", label});
  });
}

class Resumption {
 public:
  Resumption(const JobBuilder& builder, Changes& changes) : builder_(builder), changes_(changes) {}

  Status resume(const JobView& job, std::size_t replicated_job) {
    ASSIGN_OR_RETURN(const Json live, parse_json(job.pod_template.empty() ? "{}" : job.pod_template));
    const auto pods = is_born_right(live) ? JobBuilder::Pods::kBornRight : JobBuilder::Pods::kAsWritten;
    ASSIGN_OR_RETURN(const Json wanted, builder_.build(replicated_job, index_of(job).value_or(0), pods));
    const Json& pod = wanted["spec"]["template"];
    if (is_of_another_slice(live, pod)) {
      renew(job);
      return {};
    }
    Json patch = {{"spec", {{"suspend", false}}}};
    Json of_template = template_patch(live, pod);
    if (!of_template.is_null()) {
      // The template of a Job that has started before can be changed only after that is taken back.
      if (job.started) reset(job);
      patch["spec"]["template"] = std::move(of_template);
    }
    changes_.jobs.push_back(Action::patch(kJobs, job.key, std::move(patch), {.uid = job.uid}));
    resumed_.push_back(job.key.name);
    return {};
  }

  void tell() {
    if (resumed_.empty()) return;
    changes_.reasons.push_back(
        fmt::format("resuming {} job{} ({})", resumed_.size(), resumed_.size() == 1 ? "" : "s", join_names(resumed_)));
  }

 private:
  void reset(const JobView& job) {
    Action action = Action::patch(kJobs, job.key, {{"status", {{"startTime", nullptr}}}}, {.uid = job.uid});
    action.subresource = "status";
    changes_.resets.push_back(std::move(action));
  }

  void renew(const JobView& job) {
    Action action = Action::remove(kJobs, job.key, {.uid = job.uid});
    action.propagation = runtime::Propagation::kForeground;
    changes_.deletes.push_back(std::move(action));
    changes_.reasons.push_back(
        fmt::format("job {} was made for another accelerator or topology: deleting it", job.key.name));
  }

  const JobBuilder& builder_;
  Changes& changes_;
  std::vector<std::string> resumed_;
};

}  // namespace

void suspend_jobs(const std::vector<JobPtr>& active, Changes& changes) {
  std::vector<std::string> names;
  for (const JobPtr& job : active) {
    if (job->suspended || job->deletion) continue;
    changes.jobs.push_back(Action::patch(kJobs, job->key, {{"spec", {{"suspend", true}}}}, {.uid = job->uid}));
    names.push_back(job->key.name);
  }
  if (!names.empty()) {
    changes.reasons.push_back(
        fmt::format("suspending {} job{} ({})", names.size(), names.size() == 1 ? "" : "s", join_names(names)));
  }
  changes.set_condition(kSuspended, true, "SuspendedJobs", "jobset is suspended");
  changes.set_condition(kRestarting, false, "JobSetSuspended", "jobset is suspended");
}

Status resume_jobs(const std::vector<JobPtr>& active, const Startup& startup, const JobBuilder& builder,
                   Changes& changes) {
  Resumption resumption(builder, changes);
  for (const JobPtr& job : active) {
    if (!job->suspended || job->deletion) continue;
    const ReplicatedJob* of = changes.spec.find(replicated_job_of(*job));
    if (of == nullptr || std::ranges::find(startup.may_start, of) == startup.may_start.end()) continue;
    RETURN_IF_ERROR(resumption.resume(*job, static_cast<std::size_t>(of - changes.spec.jobs.data())));
  }
  resumption.tell();
  if (!startup.in_progress) changes.set_condition(kSuspended, false, "ResumeJobs", "jobset is resumed");
  return {};
}

}  // namespace tpuslice::jobset
