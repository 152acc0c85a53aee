#include "tests/laws/jobset_violations.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "api/types/validation_names.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/validator.h"

namespace tpuslice::jobset {
namespace {

using plan::Action;
using plan::ActionKind;

bool is_finished(const JobView& job) {
  return job.condition("Complete") != nullptr || job.condition("Failed") != nullptr;
}

bool is_finished_or_failing(const JobView& job) {
  return is_finished(job) || job.condition("FailureTarget") != nullptr;
}

/// By the labels alone; a failed Job without an attempt belongs to a previous one.
bool is_of_previous_attempt(const JobView& job, const JobSetStatus& status) {
  const auto before = [&](const std::string& attempt, int now) {
    const bool failed = job.condition("Failed") != nullptr || job.condition("FailureTarget") != nullptr;
    return attempt.empty() ? now > 0 && failed : std::stoi(attempt) < now;
  };
  if (before(job.label(kRestartAttempt), status.restarts)) return true;
  const std::string index = job.label(kJobIndex);
  if (index.empty() || index == "x") return false;
  const int own = status.restarts_of(job.label(kReplicatedJobName), std::stoi(index));
  return before(job.label(kJobRestartAttempt), own);
}

class InvariantChecker {
 public:
  InvariantChecker(const JobSetObserved& seen, const plan::Plan& plan)
      : seen_(seen),
        plan_(plan),
        spec_(JobSetSpec::read(seen.jobset)),
        before_(JobSetStatus::read(seen.jobset)),
        after_(plan.status ? read_status(seen, *plan.status) : before_) {}

  std::vector<std::string> check() {
    if (is_not_reconciled(seen_)) {
      check_foreign();
      return out_;
    }
    std::set<std::string> written;
    for (const Action& action : actions_of(plan_)) {
      // One plan may patch both the size and the suspension of a Job.
      const std::string body = action.kind == ActionKind::kPatch ? action.body.make()->dump() : std::string();
      const bool first = written.insert(action.type.resource() + " " + action.key.name + " " + body).second;
      if (!first) add(action, "is written twice");
      switch (action.kind) {
        case ActionKind::kCreate:
          check_create(action);
          break;
        case ActionKind::kPatch:
          check_patch(action);
          break;
        case ActionKind::kDelete:
          check_delete(action);
          break;
      }
    }
    check_status();
    if (plan_.requeue_after && *plan_.requeue_after <= Duration{}) out_.emplace_back("requeue_after is not positive");
    return out_;
  }

 private:
  static JobSetStatus read_status(const JobSetObserved& seen, const plan::StatusPatch& patch) {
    Object jobset = seen.jobset;
    jobset.mutable_json()["status"] = patch.status;
    return JobSetStatus::read(jobset);
  }

  /// A JobSet of another controller is deleted at the end of its time to live; nothing else is done.
  void check_foreign() {
    const bool expires =
        spec_.managed_by_other() && !seen_.jobset.deletion_timestamp() && before_.finished() && spec_.ttl;
    for (const Action& action : actions_of(plan_)) {
      if (!expires || action.kind != ActionKind::kDelete || action.type != kJobSets) {
        out_.emplace_back("it acts on a JobSet that must not be reconciled");
      }
    }
    if (spec_.managed_by_other() && plan_.status) out_.emplace_back("it writes the status of another controller");
  }

  void add(const Action& action, const std::string& what) {
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
    if (is_of_previous_attempt(job, before_) || job.condition("Complete") != nullptr) return false;
    return job.condition("Failed") != nullptr ||
           (spec_.restart_at_failure_target && job.condition("FailureTarget") != nullptr);
  }

  void check_create(const Action& action) {
    if (before_.finished()) add(action, "is created for a finished JobSet");
    if (any_job([this](const JobView& each) { return has_failed_now(each); })) {
      add(action, "is created before the failure policy was applied");
    }
    if (action.type == kServices && seen_.service != nullptr) add(action, "exists");
    for (const auto& claim : seen_.claims) {
      if (action.type == kVolumeClaims && claim->key == action.key) add(action, "exists");
    }
    if (action.type == kJobs) check_new_job(action);
  }

  void check_new_job(const Action& action) {
    if (job(action.key.name) != nullptr) add(action, "exists");
    const Json created = action.body.make().value();
    const auto label = [&](std::string_view name) { return string_at(created, {"metadata", "labels", name}); };
    if (bool_at(created, {"spec", "suspend"}) != spec_.suspended) add(action, "differs from its JobSet in suspend");
    if (label(kRestartAttempt) != std::to_string(before_.restarts)) add(action, "is of another attempt");
    for (const Json* each : {&created, &created["spec"]["template"]}) {
      const std::string of_execution = string_at(*each, {"metadata", "annotations", kExecutionAttempt});
      const bool executed = after_.execution_attempts.has_value();
      if (of_execution != (executed ? std::to_string(attempt()) : "")) add(action, "is of another execution attempt");
    }
    if (fmt::format("{}-{}-{}", spec_.key.name, label(kReplicatedJobName), label(kJobIndex)) != action.key.name) {
      add(action, "has labels of another Job");
    }
    if (!check_dns1035_label(action.key.name).empty()) add(action, "has an illegal name");
    for (const auto& [key, value] : created["metadata"]["labels"].items()) {
      if (!check_label_key(key).empty() || !check_label_value(value.get<std::string>()).empty()) {
        add(action, "has an illegal label " + key);
      }
    }
    if (spec_.failure && spec_.failure->blocking &&
        any_job([this](const JobView& each) { return is_of_previous_attempt(each, before_); })) {
      add(action, "is created while Jobs of the previous attempt exist");
    }
    check_start(action, label(kReplicatedJobName));
  }

  /// A Job starts only when its predecessors are ready.
  void check_start(const Action& action, const std::string& replicated_job) {
    const ReplicatedJob* of = spec_.find(replicated_job);
    if (of == nullptr) return add(action, "belongs to no replicated job");
    const auto reached = [&](const std::string& name, bool complete) {
      const auto found = after_.jobs.find(name);
      const ReplicatedJobStatus status = found == after_.jobs.end() ? ReplicatedJobStatus{} : found->second;
      return (complete ? status.succeeded : status.started()) == spec_.find(name)->replicas;
    };
    for (const Dependency& dependency : of->depends_on) {
      if (!reached(dependency.name, dependency.complete)) add(action, "does not wait for " + dependency.name);
    }
    if (!spec_.in_order || spec_.suspended) return;
    for (const ReplicatedJob& earlier : spec_.jobs) {
      if (&earlier == of) return;
      if (!reached(earlier.name, false)) add(action, "does not follow the startup order");
    }
  }

  /// The Job controller may be creating its first pods.
  static bool may_get_first_pods(const JobView& job) {
    return !is_finished_or_failing(job) && job.active == 0 && job.succeeded < job.parallelism;
  }

  void check_patch(const Action& action) {
    if (action.preconditions.uid.empty()) add(action, "is patched without a uid");
    if (action.type == kServices) {
      const bool ours = seen_.service->controller && seen_.service->controller->uid == spec_.uid;
      if (!ours || action.preconditions.uid != seen_.service->uid) add(action, "is not owned");
      return;
    }
    if (action.type == kJobSets) {
      attempt_written_ = true;
      const bool as_seen = action.preconditions.resource_version == seen_.jobset.resource_version();
      if (action.preconditions.uid != spec_.uid || !as_seen) add(action, "is not the observed object");
      if (action.body.make().value() != Json({{"status", {{"executionAttempts", attempt()}}}})) {
        add(action, "is patched, but not with its attempt");
      }
      return;
    }
    const JobView* live = job(action.key.name);
    if (live == nullptr || live->uid != action.preconditions.uid) return add(action, "is not the observed object");
    if (live->deletion) add(action, "is patched while it is being deleted");
    const Json patch = action.body.make().value();
    if (find_path(patch, {"metadata", "annotations", kDeletionPendingSince}) != nullptr &&
        (before_.finished() || live->suspended || !may_get_first_pods(*live))) {
      add(action, "is suspended before its deletion without need");
    }
    const Json* suspend = find_path(patch, {"spec", "suspend"});
    if (suspend == nullptr || *suspend == true) return;
    if (spec_.suspended) add(action, "is resumed, but its JobSet is suspended");
    if (before_.finished()) add(action, "is resumed, but its JobSet is finished");
    if (is_finished(*live) || !live->suspended) add(action, "is resumed, but is not suspended");
    if (is_of_previous_attempt(*live, before_)) add(action, "is resumed, but belongs to a previous attempt");
    check_start(action, live->label(kReplicatedJobName));
    const Json* annotation = find_path(patch, {"metadata", "annotations", kExecutionAttempt});
    const std::string next =
        annotation == nullptr ? live->annotation(kExecutionAttempt) : annotation->get<std::string>();
    if (next != std::to_string(attempt())) add(action, "is resumed in another execution attempt");
    const bool counts = is_condition_true(before_.conditions, kSuspended) && before_.execution_attempts != attempt();
    if (counts && !attempt_written_) add(action, "is resumed before the attempt is written");
  }

  /// The execution attempt of Jobs that are created or resumed.
  int attempt() const { return after_.execution_attempts.value_or(-1); }

  /// The restart may overlap, judged by the spec alone.
  bool may_overlap(const JobView& job) const {
    const ReplicatedJob* of = spec_.find(job.label(kReplicatedJobName));
    if (of == nullptr || before_.finished()) return false;
    const Json& pod = of->job_template->at("spec").at("template");
    const std::string topology = string_at(pod, {"spec", "nodeSelector", "cloud.google.com/gke-tpu-topology"});
    const int hosts = topology == "4x4" ? 4 : topology == "2x4" ? 2 : 0;
    const bool gated = string_at(pod, {"metadata", "annotations", tpu::kGating}) != "off";
    const bool whole = hosts > 0 && of->parallelism == hosts && of->completions == hosts;
    const bool all_created = is_finished_or_failing(job) || job.ready == hosts;
    const bool blocking = spec_.failure && spec_.failure->blocking;
    const bool suspended = job.suspended || spec_.suspended;
    return spec_.restart_at_failure_target && !blocking && !suspended && whole && gated && all_created;
  }

  void check_delete(const Action& action) {
    if (action.preconditions.uid.empty()) add(action, "is deleted without a uid");
    if (action.type.plural == kJobSets.plural) {
      if (!before_.finished() || !spec_.ttl) add(action, "is deleted before its TTL");
      return;
    }
    const JobView* live = job(action.key.name);
    if (live == nullptr || live->uid != action.preconditions.uid) return add(action, "is not the observed object");
    const bool left_over = before_.finished() && !is_finished(*live);
    if (!left_over && !is_of_previous_attempt(*live, before_))
      add(action, "is deleted, but belongs to the current attempt");
    const bool stuck = live->deletion && seen_.now - *live->deletion >= Options{}.deletion_timeout;
    if (live->deletion && !stuck) add(action, "is deleted again");
    const bool before_pods = action.propagation == plan::Propagation::kBackground;
    if (stuck && !before_pods) add(action, "is stuck, but waits for its pods");
    if (!stuck && before_pods) {
      if (!may_overlap(*live)) add(action, "is deleted before its pods");
      if (action.preconditions.resource_version != live->resource_version)
        add(action, "is deleted without its resourceVersion");
    }
    if (before_.finished() || live->deletion || !may_get_first_pods(*live)) return;
    const std::optional<Timestamp> pending = parse_rfc3339(live->annotation(kDeletionPendingSince));
    const bool waited = pending && seen_.now >= *pending + Options{}.suspend_timeout;
    const bool acknowledged = !pending || live->condition("Suspended") != nullptr || waited;
    if (!live->suspended || !acknowledged) add(action, "is deleted while its first pods may be being created");
  }

  void check_status() {
    if (plan_.status && plan_.status->status == plan::status_of(seen_.jobset))
      out_.emplace_back("the status is unchanged");
    if (after_.restarts < before_.restarts || after_.restarts > before_.restarts + 1) {
      out_.push_back(fmt::format("restarts go from {} to {}", before_.restarts, after_.restarts));
    }
    check_attempts();
    const int own = own_restarts(after_) - own_restarts(before_);
    const bool failed = any_job([this](const JobView& each) { return has_failed_now(each); });
    if (own < 0) out_.emplace_back("restarts of single Jobs decrease");
    if ((after_.restarts > before_.restarts || own > 0) && !failed)
      out_.emplace_back("it restarts, but nothing failed");
    const int max = spec_.failure ? spec_.failure->max_restarts : 0;
    const std::int64_t counted = after_.all_counted_restarts();
    if (counted > before_.all_counted_restarts() && counted > max) {
      out_.push_back(fmt::format("it counts {} restarts of {}", counted, max));
    }
    if (after_.finished() != !after_.terminal_state.empty())
      out_.emplace_back("terminalState contradicts the conditions");
    if (before_.finished() && (!after_.finished() || after_.terminal_state != before_.terminal_state ||
                               after_.restarts != before_.restarts || own != 0)) {
      out_.emplace_back("a finished JobSet starts again");
    }
    if (failed && !before_.finished() && !after_.finished() && after_.restarts == before_.restarts && own == 0) {
      out_.emplace_back("a failure has no consequence");
    }
  }

  /// They never decrease, and each execution is counted once.
  void check_attempts() {
    const std::optional<int> before = before_.execution_attempts;
    const std::optional<int> after = after_.execution_attempts;
    if (before == after) return;
    if (!after) return out_.emplace_back("the execution attempts are lost"), void();
    if (before && *after != *before + 1) {
      out_.push_back(fmt::format("execution attempts go from {} to {}", *before, *after));
    }
    if (!before && *after < after_.restarts) out_.emplace_back("there are fewer execution attempts than restarts");
    const bool restarted = after_.restarts > before_.restarts;
    const bool resumed = is_condition_true(before_.conditions, kSuspended);
    if (before && !restarted && !resumed) out_.emplace_back("an execution attempt is counted without cause");
    if (!restarted && spec_.suspended) out_.emplace_back("an execution attempt is counted while suspended");
    if (before_.finished()) out_.emplace_back("an execution attempt of a finished JobSet is counted");
  }

  int own_restarts(const JobSetStatus& status) const {
    int total = 0;
    for (const ReplicatedJob& job : spec_.jobs) {
      for (int index = 0; index < 10; ++index) total += status.restarts_of(job.name, index);
    }
    return total;
  }

  const JobSetObserved& seen_;
  const plan::Plan& plan_;
  const JobSetSpec spec_;
  const JobSetStatus before_;
  const JobSetStatus after_;
  bool attempt_written_ = false;
  std::vector<std::string> out_;
};

}  // namespace

bool is_not_reconciled(const JobSetObserved& seen) {
  if (seen.jobset.deletion_timestamp() || JobSetSpec::read(seen.jobset).managed_by_other()) return true;
  const bool finished = JobSetStatus::read(seen.jobset).finished();
  return !finished && !rules::validate_jobset(seen.jobset.json(), nullptr).empty();
}

std::vector<std::string> violations(const JobSetObserved& seen, const plan::Plan& plan) {
  return InvariantChecker(seen, plan).check();
}

std::vector<std::string> defects_at_rest(const JobSetObserved& seen) {
  std::vector<std::string> out;
  if (is_not_reconciled(seen)) return out;
  const JobSetSpec spec = JobSetSpec::read(seen.jobset);
  const JobSetStatus status = JobSetStatus::read(seen.jobset);
  std::set<std::string> names;
  for (const JobPtr& job : seen.jobs) {
    names.insert(job->key.name);
    if (is_of_previous_attempt(*job, status)) out.push_back(job->key.name + " belongs to a previous attempt");
    if (status.finished() && !is_finished(*job)) out.push_back(job->key.name + " is active after the JobSet finished");
    const bool placed = spec.find(job->label(kReplicatedJobName)) != nullptr;
    if (!status.finished() && placed && !is_finished(*job) && spec.suspended && !job->suspended) {
      out.push_back(job->key.name + " is not suspended");
    }
  }
  if (status.finished()) return out;
  const Json* started = find_condition(status.conditions, kJobsStarted);
  const std::string reason = started == nullptr ? "" : string_at(*started, {"reason"});
  const bool waits = reason != "JobsStarted" && reason != "JobsPending" && reason != "Suspended";
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
