#include "tests/laws/jobset_breaches.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "api/types/validation_names.h"
#include "controllers/jobset/labels.h"
#include "webhook/rules/jobset/validator.h"

namespace tpuslice::jobset {
namespace {

using runtime::Action;
using runtime::ActionKind;

bool has_ended(const JobView& job) {
  return job.condition("Complete") != nullptr || job.condition("Failed") != nullptr;
}

bool has_ended_or_will(const JobView& job) { return has_ended(job) || job.condition("FailureTarget") != nullptr; }

/// By the labels alone, as whoever reads them; what failed and has none is of no attempt that goes on.
bool is_of_attempt_before(const JobView& job, const JobSetStatus& status) {
  const auto before = [&](const std::string& attempt, int now) {
    const bool failed = job.condition("Failed") != nullptr || job.condition("FailureTarget") != nullptr;
    return attempt.empty() ? now > 0 && failed : std::stoi(attempt) < now;
  };
  if (before(job.label(kRestartAttempt), status.restarts)) return true;
  const std::string index = job.label(tpu::kJobIndex);
  if (index.empty() || index == "x") return false;
  const int own = status.restarts_of(job.label(tpu::kReplicatedJobName), std::stoi(index));
  return before(job.label(kJobRestartAttempt), own);
}

class Judge {
 public:
  Judge(const JobSetObserved& seen, const runtime::Plan& plan)
      : seen_(seen),
        plan_(plan),
        spec_(JobSetSpec::read(seen.jobset)),
        before_(JobSetStatus::read(seen.jobset)),
        after_(plan.status ? read_status(seen, *plan.status) : before_) {}

  std::vector<std::string> judge() {
    if (is_left_alone(seen_)) {
      if (!plan_.stages.empty()) out_.emplace_back("it acts on what is to be left alone");
      return out_;
    }
    std::set<std::string> written;
    for (const Action& action : actions_of(plan_)) {
      // Size and suspension of a Job may be patched by one plan: neither is about the other.
      const std::string deed = action.kind == ActionKind::kPatch ? action.body.make()->dump() : std::string();
      const bool first = written.insert(action.type.resource() + " " + action.key.name + " " + deed).second;
      if (!first) complain(action, "is written twice");
      switch (action.kind) {
        case ActionKind::kCreate:
          judge_create(action);
          break;
        case ActionKind::kPatch:
          judge_patch(action);
          break;
        case ActionKind::kDelete:
          judge_delete(action);
          break;
      }
    }
    judge_status();
    if (plan_.requeue_after && *plan_.requeue_after <= Duration{}) out_.emplace_back("it is due again at once");
    return out_;
  }

 private:
  static JobSetStatus read_status(const JobSetObserved& seen, const runtime::StatusPatch& patch) {
    Object jobset = seen.jobset;
    jobset.mutable_json()["status"] = patch.status;
    return JobSetStatus::read(jobset);
  }

  void complain(const Action& action, const std::string& what) {
    out_.push_back(fmt::format("{} {}: {}", action.type.plural, action.key.name, what));
  }

  const JobView* job(const std::string& name) const {
    const auto found = std::ranges::find(seen_.jobs, name, [](const JobPtr& each) { return each->key.name; });
    return found == seen_.jobs.end() ? nullptr : found->get();
  }
  bool any_job(const std::function<bool(const JobView&)>& holds) const {
    return std::ranges::any_of(seen_.jobs, [&](const JobPtr& each) { return holds(*each); });
  }
  bool has_failed_now(const JobView& job) const {
    if (is_of_attempt_before(job, before_) || job.condition("Complete") != nullptr) return false;
    return job.condition("Failed") != nullptr ||
           (spec_.restart_at_failure_target && job.condition("FailureTarget") != nullptr);
  }

  void judge_create(const Action& action) {
    if (before_.finished()) complain(action, "is created for a JobSet that has ended");
    if (any_job([this](const JobView& each) { return has_failed_now(each); })) {
      complain(action, "is created while a failure is not dealt with");
    }
    if (action.type == kServices && seen_.service != nullptr) complain(action, "exists");
    for (const auto& claim : seen_.claims) {
      if (action.type == kVolumeClaims && claim->key == action.key) complain(action, "exists");
    }
    if (action.type == kJobs) judge_new_job(action);
  }

  void judge_new_job(const Action& action) {
    if (job(action.key.name) != nullptr) complain(action, "exists");
    const Json made = action.body.make().value();
    const auto label = [&](std::string_view name) { return string_at(made, {"metadata", "labels", name}); };
    if (bool_at(made, {"spec", "suspend"}) != spec_.suspended) complain(action, "is not suspended as its JobSet is");
    if (label(kRestartAttempt) != std::to_string(before_.restarts)) complain(action, "is of another attempt");
    if (fmt::format("{}-{}-{}", spec_.key.name, label(tpu::kReplicatedJobName), label(tpu::kJobIndex)) !=
        action.key.name) {
      complain(action, "has labels of another");
    }
    if (!check_dns1035_label(action.key.name).empty()) complain(action, "has an illegal name");
    for (const auto& [key, value] : made["metadata"]["labels"].items()) {
      if (!check_label_key(key).empty() || !check_label_value(value.get<std::string>()).empty()) {
        complain(action, "has an illegal label " + key);
      }
    }
    if (spec_.failure && spec_.failure->blocking &&
        any_job([this](const JobView& each) { return is_of_attempt_before(each, before_); })) {
      complain(action, "is created beside Jobs of the attempt before");
    }
    judge_start(action, label(tpu::kReplicatedJobName));
  }

  /// Only when those before it are ready.
  void judge_start(const Action& action, const std::string& replicated_job) {
    const ReplicatedJob* of = spec_.find(replicated_job);
    if (of == nullptr) return complain(action, "has no place");
    const auto reached = [&](const std::string& name, bool complete) {
      const auto found = after_.jobs.find(name);
      const ReplicatedJobStatus status = found == after_.jobs.end() ? ReplicatedJobStatus{} : found->second;
      return (complete ? status.succeeded : status.begun()) == spec_.find(name)->replicas;
    };
    for (const Dependency& dependency : of->depends_on) {
      if (!reached(dependency.name, dependency.complete)) complain(action, "does not wait for " + dependency.name);
    }
    if (!spec_.in_order || spec_.suspended) return;
    for (const ReplicatedJob& earlier : spec_.jobs) {
      if (&earlier == of) return;
      if (!reached(earlier.name, false)) complain(action, "does not wait for its turn");
    }
  }

  void judge_patch(const Action& action) {
    if (action.preconditions.uid.empty()) complain(action, "is patched without a uid");
    if (action.type == kServices) {
      const bool ours = seen_.service->controller && seen_.service->controller->uid == spec_.uid;
      if (!ours || action.preconditions.uid != seen_.service->uid) complain(action, "is somebody else's");
      return;
    }
    const JobView* live = job(action.key.name);
    if (live == nullptr || live->uid != action.preconditions.uid) return complain(action, "is not what was seen");
    if (live->deletion) complain(action, "is patched while it is being deleted");
    const Json patch = action.body.make().value();
    const Json* suspend = find_path(patch, {"spec", "suspend"});
    if (suspend == nullptr || *suspend == true) return;
    if (spec_.suspended) complain(action, "is resumed, but its JobSet is suspended");
    if (before_.finished()) complain(action, "is resumed, but its JobSet has ended");
    if (has_ended(*live) || !live->suspended) complain(action, "is resumed without need");
    if (is_of_attempt_before(*live, before_)) complain(action, "is resumed, but its attempt is over");
    judge_start(action, live->label(tpu::kReplicatedJobName));
  }

  /// Its successor's pods may come while its own go. By the JobSet as it is written, without a template made of it.
  bool may_overlap(const JobView& job) const {
    const ReplicatedJob* of = spec_.find(job.label(tpu::kReplicatedJobName));
    if (of == nullptr || before_.finished()) return false;
    const Json& pod = of->job_template->at("spec").at("template");
    const std::string topology = string_at(pod, {"spec", "nodeSelector", "cloud.google.com/gke-tpu-topology"});
    const int hosts = topology == "4x4" ? 4 : topology == "2x4" ? 2 : 0;
    const bool gated = string_at(pod, {"metadata", "annotations", tpu::kGating}) != "off";
    const bool whole = hosts > 0 && of->parallelism == hosts && of->completions == hosts;
    const bool seen_all = has_ended_or_will(job) || job.ready == hosts;
    const bool in_turn = spec_.failure && spec_.failure->blocking;
    const bool still = job.suspended || spec_.suspended;
    return spec_.restart_at_failure_target && !in_turn && !still && whole && gated && seen_all;
  }

  void judge_delete(const Action& action) {
    if (action.preconditions.uid.empty()) complain(action, "is deleted without a uid");
    if (action.type.plural == kJobSets.plural) {
      if (!before_.finished() || !spec_.ttl) complain(action, "is deleted before its time");
      return;
    }
    const JobView* live = job(action.key.name);
    if (live == nullptr || live->uid != action.preconditions.uid) return complain(action, "is not what was seen");
    const bool over = before_.finished() && !has_ended(*live);
    if (!over && !is_of_attempt_before(*live, before_)) complain(action, "is deleted, but its attempt is not over");
    const bool stuck = live->deletion && seen_.now - *live->deletion >= Options{}.stuck_after;
    if (live->deletion && !stuck) complain(action, "is deleted again");
    const bool before_pods = action.propagation == runtime::Propagation::kBackground;
    if (stuck && !before_pods) complain(action, "still waits for its pods");
    if (!stuck && before_pods) {
      if (!may_overlap(*live)) complain(action, "goes before its pods");
      if (action.preconditions.resource_version != live->resource_version)
        complain(action, "goes whatever it has done");
    }
    const bool ending = has_ended_or_will(*live);
    const int pods = live->active + live->succeeded;
    if (!ending && !live->suspended && !live->deletion && (!live->started || pods < live->parallelism)) {
      complain(action, "is deleted while its pods are being created");
    }
  }

  void judge_status() {
    if (plan_.status && plan_.status->status == runtime::status_of(seen_.jobset))
      out_.emplace_back("the status is not new");
    if (after_.restarts < before_.restarts || after_.restarts > before_.restarts + 1) {
      out_.push_back(fmt::format("restarts go from {} to {}", before_.restarts, after_.restarts));
    }
    const int own = own_restarts(after_) - own_restarts(before_);
    const bool failed = any_job([this](const JobView& each) { return has_failed_now(each); });
    if (own < 0) out_.emplace_back("restarts of single Jobs decrease");
    if ((after_.restarts > before_.restarts || own > 0) && !failed)
      out_.emplace_back("it restarts, but nothing failed");
    const int most = spec_.failure ? spec_.failure->max_restarts : 0;
    const int counted = after_.all_counted_restarts();
    if (counted > before_.all_counted_restarts() && counted > most) {
      out_.push_back(fmt::format("it counts {} restarts of {}", counted, most));
    }
    if (after_.finished() != !after_.terminal_state.empty()) out_.emplace_back("its terminal state contradicts it");
    if (before_.finished() && (!after_.finished() || after_.terminal_state != before_.terminal_state ||
                               after_.restarts != before_.restarts || own != 0)) {
      out_.emplace_back("it has ended, and begins anew");
    }
    if (failed && !before_.finished() && !after_.finished() && after_.restarts == before_.restarts && own == 0) {
      out_.emplace_back("a failure has no consequence");
    }
  }

  int own_restarts(const JobSetStatus& status) const {
    int total = 0;
    for (const ReplicatedJob& job : spec_.jobs) {
      for (int index = 0; index < 10; ++index) total += status.restarts_of(job.name, index);
    }
    return total;
  }

  const JobSetObserved& seen_;
  const runtime::Plan& plan_;
  const JobSetSpec spec_;
  const JobSetStatus before_;
  const JobSetStatus after_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<Action> actions_of(const runtime::Plan& plan) {
  std::vector<Action> out;
  for (const runtime::Stage& stage : plan.stages) out.insert(out.end(), stage.actions.begin(), stage.actions.end());
  return out;
}

bool is_left_alone(const JobSetObserved& seen) {
  if (seen.jobset.deletion_timestamp() || JobSetSpec::read(seen.jobset).managed_elsewhere()) return true;
  const bool finished = JobSetStatus::read(seen.jobset).finished();
  return !finished && !webhook::validate_jobset(seen.jobset.json(), nullptr).empty();
}

std::vector<std::string> breaches(const JobSetObserved& seen, const runtime::Plan& plan) {
  return Judge(seen, plan).judge();
}

std::vector<std::string> faults_of(const JobSetObserved& seen) {
  std::vector<std::string> out;
  if (is_left_alone(seen)) return out;
  const JobSetSpec spec = JobSetSpec::read(seen.jobset);
  const JobSetStatus status = JobSetStatus::read(seen.jobset);
  std::set<std::string> names;
  for (const JobPtr& job : seen.jobs) {
    names.insert(job->key.name);
    if (is_of_attempt_before(*job, status)) out.push_back(job->key.name + " is of an attempt that is over");
    if (status.finished() && !has_ended(*job)) out.push_back(job->key.name + " goes on");
    const bool placed = spec.find(job->label(tpu::kReplicatedJobName)) != nullptr;
    if (!status.finished() && placed && !has_ended(*job) && spec.suspended && !job->suspended) {
      out.push_back(job->key.name + " is not suspended");
    }
  }
  if (status.finished()) return out;
  const bool waits = find_condition(status.conditions, kJobsStarted) != nullptr;
  for (const ReplicatedJob& job : spec.jobs) {
    for (int index = 0; index < job.replicas; ++index) {
      if (!waits && !names.contains(job_name(spec, job, index))) {
        out.push_back(job_name(spec, job, index) + " is missing");
      }
    }
  }
  if (spec.dns && seen.service == nullptr) out.emplace_back("the service is missing");
  if (seen.claims.size() != spec.claims.size()) out.emplace_back("a claim is missing");
  return out;
}

}  // namespace tpuslice::jobset
