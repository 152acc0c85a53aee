#include "cmd/tpu-slice-sim/cluster/jobs/job_sync.h"

#include <algorithm>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

std::vector<std::string> strings_in(const Json& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Json& entry : list) out.push_back(entry.get<std::string>());
  return out;
}

bool holds(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

}  // namespace

JobSync::JobSync(Registry& registry, const JsonPtr& job, std::vector<JsonPtr> pods, FailureStreak& streak)
    : registry_(registry), now_(registry.clock().wall()), job_(*job), pods_(std::move(pods)), streak_(streak) {
  written_ = job_.value("status", Json::object());
  job_["status"] = written_;
  std::stable_sort(pods_.begin(), pods_.end(), [](const JsonPtr& a, const JsonPtr& b) {
    return completion_index(*a).value_or(-1) < completion_index(*b).value_or(-1);
  });
}

JobOutcome JobSync::run() {
  count();
  Json& status = job_["status"];
  if (!status.contains("startTime") && !suspended()) status["startTime"] = format_rfc3339(now_);
  result_ = find_result();
  if (result_) {
    remove_active();
  } else {
    if (!terminating(job_)) manage();
    if (complete()) {
      result_ = JobResult{true, "CompletionsReached", "Reached expected number of succeeded pods"};
    } else if (managed_) {
      set_suspended_condition();
    }
  }
  if (!track()) outcome_.failed = true;
  return outcome_;
}

void JobSync::count() {
  const Json& status = job_.at("status");
  uncounted_succeeded_ = strings_in(array_at(status, {"uncountedTerminatedPods", "succeeded"}));
  uncounted_failed_ = strings_in(array_at(status, {"uncountedTerminatedPods", "failed"}));
  succeeded_ = int_at(status, {"succeeded"}) + static_cast<std::int64_t>(uncounted_succeeded_.size());
  failed_ = int_at(status, {"failed"}) + static_cast<std::int64_t>(uncounted_failed_.size());
  std::vector<JsonPtr> newly_succeeded;
  std::vector<JsonPtr> newly_failed;
  for (const JsonPtr& pod : pods_) {
    if (pod_terminating(*pod)) ++terminating_;
    if (pod_active(*pod)) {
      active_pods_.push_back(pod);
      if (condition_status(*pod, "Ready") == "True") ++ready_;
    }
    const std::string uid = string_at(*pod, {"metadata", "uid"});
    if (tracked(*pod)) held_.insert(uid);
    if (!tracked(*pod) || !valid(*pod)) continue;
    if (string_at(*pod, {"status", "phase"}) == "Succeeded") {
      if (!holds(uncounted_succeeded_, uid)) newly_succeeded.push_back(pod);
    } else if (pod_failed(*pod, job_) && !holds(uncounted_failed_, uid)) {
      newly_failed.push_back(pod);
    }
  }
  active_ = static_cast<std::int64_t>(active_pods_.size());
  succeeded_ += static_cast<std::int64_t>(newly_succeeded.size());
  failed_ += std::count_if(newly_failed.begin(), newly_failed.end(),
                           [this](const JsonPtr& pod) { return apply_failure_policy(job_, *pod).counts; });
  streak_.record(newly_succeeded, newly_failed);
  if (indexed(job_)) count_indexes();
}

void JobSync::count_indexes() {
  const int completions = static_cast<int>(spec_int("completions"));
  succeeded_indexes_ = IndexSet::parse(string_at(job_, {"status", "completedIndexes"}), completions);
  failed_indexes_ = IndexSet::parse(string_at(job_, {"status", "failedIndexes"}), completions);
  for (const JsonPtr& pod : pods_) {
    if (!tracked(*pod) || !valid(*pod)) continue;
    const int index = *completion_index(*pod);
    if (string_at(*pod, {"status", "phase"}) == "Succeeded") succeeded_indexes_.add(index);
    if (per_index() && index_failed(*pod)) failed_indexes_.add(index);
  }
  succeeded_ = succeeded_indexes_.size();
  if (per_index()) find_predecessors();
}

bool JobSync::valid(const Json& pod) const {
  if (!indexed(job_)) return true;
  const auto index = completion_index(pod);
  return index && *index < spec_int("completions");
}

bool JobSync::index_failed(const Json& pod) const {
  if (!pod_failed(pod, job_)) return false;
  const FailurePolicyResult ruling = apply_failure_policy(job_, pod);
  return ruling.fails_index || (ruling.counts && index_failures(pod).counted >= spec_int("backoffLimitPerIndex"));
}

void JobSync::find_predecessors() {
  std::set<int> taken;
  for (const JsonPtr& pod : active_pods_) {
    if (const auto index = completion_index(*pod)) taken.insert(*index);
  }
  const auto age = [](const Json& pod) {
    const IndexFailures failures = index_failures(pod);
    return std::make_pair(failures.counted + failures.ignored, finished_at(pod));
  };
  for (const JsonPtr& pod : pods_) {
    if (!tracked(*pod) || !valid(*pod) || !pod_failed(*pod, job_)) continue;
    const int index = *completion_index(*pod);
    if (succeeded_indexes_.has(index) || failed_indexes_.has(index) || taken.count(index) != 0) continue;
    JsonPtr& last = predecessors_[index];
    if (last == nullptr || age(*pod) >= age(*last)) last = pod;
  }
}

std::int64_t JobSync::spec_int(std::string_view field, std::int64_t fallback) const {
  return int_at(job_, {"spec", field}, fallback);
}

bool JobSync::per_index() const {
  return indexed(job_) && find_path(job_, {"spec", "backoffLimitPerIndex"}) != nullptr;
}

std::optional<JobResult> JobSync::find_result() {
  if (auto before = interim_result(job_)) return before;
  for (const JsonPtr& pod : pods_) {
    if (!pod_failed(*pod, job_)) continue;
    const FailurePolicyResult ruling = apply_failure_policy(job_, *pod);
    if (ruling.fails_job) return JobResult{false, "PodFailurePolicy", *ruling.fails_job};
  }
  if (auto limits = result_of_limits()) return limits;
  return indexed(job_) ? result_of_indexes() : std::nullopt;
}

std::optional<JobResult> JobSync::result_of_limits() {
  if (failed_ > spec_int("backoffLimit", 6) || too_many_restarts()) {
    return JobResult{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
  }
  const Json* deadline = find_path(job_, {"spec", "activeDeadlineSeconds"});
  const auto started = parse_rfc3339(string_at(job_, {"status", "startTime"}));
  if (deadline == nullptr || !started || suspended()) return std::nullopt;
  const Duration left = std::chrono::seconds(deadline->get<std::int64_t>()) - (now_ - *started);
  if (left <= Duration{}) {
    return JobResult{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
  }
  requeue_after(left);
  return std::nullopt;
}

std::optional<JobResult> JobSync::result_of_indexes() const {
  const int failed = failed_indexes_.size();
  if (per_index()) {
    const Json* most = find_path(job_, {"spec", "maxFailedIndexes"});
    if (most != nullptr && failed > most->get<int>()) {
      return JobResult{false, "MaxFailedIndexesExceeded",
                       "Job has exceeded the specified maximal number of failed indexes"};
    }
    if (failed > 0 && failed + succeeded_indexes_.size() >= spec_int("completions")) {
      return JobResult{false, "FailedIndexes", "Job has failed indexes"};
    }
  }
  if (const auto rule = satisfied_success_rule(job_, succeeded_indexes_)) {
    return JobResult{true, "SuccessPolicy", *rule};
  }
  return std::nullopt;
}

bool JobSync::too_many_restarts() const {
  if (string_at(job_, {"spec", "template", "spec", "restartPolicy"}) != "OnFailure") return false;
  std::int64_t restarts = 0;
  for (const JsonPtr& pod : pods_) {
    const std::string phase = string_at(*pod, {"status", "phase"});
    if (phase != "Running" && phase != "Pending") continue;
    for (const char* kind : {"containerStatuses", "initContainerStatuses"}) {
      for (const Json& status : array_at(*pod, {"status", kind})) restarts += int_at(status, {"restartCount"});
    }
  }
  return restarts >= std::max<std::int64_t>(1, spec_int("backoffLimit", 6));
}

bool JobSync::complete() const {
  if (active_ != 0) return false;
  if (find_path(job_, {"spec", "completions"}) == nullptr) return succeeded_ > 0;
  return succeeded_ >= spec_int("completions");
}

void JobSync::set_suspended_condition() {
  Json& status = job_["status"];
  if (suspended()) {
    if (!set_job_condition(status, "Suspended", "True", "JobSuspended", "Job suspended", now_)) return;
    add_event("Normal", "Suspended", "Job suspended");
    // Without a start time, its template may change.
    status.erase("startTime");
  } else if (set_job_condition(status, "Suspended", "False", "JobResumed", "Job resumed", now_)) {
    add_event("Normal", "Resumed", "Job resumed");
    status["startTime"] = format_rfc3339(now_);
  }
}

void JobSync::requeue_after(Duration time) {
  outcome_.requeue_after = std::min(outcome_.requeue_after.value_or(time), time);
}

}  // namespace tpuslice::sim
