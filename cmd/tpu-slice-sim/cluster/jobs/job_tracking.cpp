// JobSync: the status of a Job and the finalizers of its pods.
#include <algorithm>

#include "cmd/tpu-slice-sim/cluster/events.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_sync.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr std::size_t kMaxUncounted = 500;

void set_or_leave_out(Json& status, const char* field, std::int64_t value) {
  if (value == 0) {
    status.erase(field);
  } else {
    status[field] = value;
  }
}

}  // namespace

bool release_job_pod(Registry& registry, const Json& pod) {
  if (!tracked(pod)) return true;
  const std::string uid = string_at(pod, {"metadata", "uid"});
  const auto written = registry.modify(
      *registry.resources().find_id("pods"),
      {string_at(pod, {"metadata", "namespace"}), string_at(pod, {"metadata", "name"})}, {},
      [&](Json& json) -> Status {
        if (string_at(json, {"metadata", "uid"}) != uid) return Error::not_found("pod {} does not exist", uid);
        Json& finalizers = json["metadata"]["finalizers"];
        if (!finalizers.is_array()) return {};
        finalizers.erase(std::remove(finalizers.begin(), finalizers.end(), Json(kJobFinalizer)), finalizers.end());
        if (finalizers.empty()) json["metadata"].erase("finalizers");
        return {};
      },
      as_controller("job-controller"));
  return written.ok() || written.error().code() == ErrorCode::kNotFound;
}

bool JobSync::track() {
  // These are from an earlier sync that did not complete.
  count_uncounted();
  const std::vector<JsonPtr> released = collect();
  if (result_ && true_condition(job_, result_->interim()) == nullptr) {
    set_job_condition(job_["status"], result_->interim(), "True", result_->reason, result_->message, now_);
  }
  write_counts();
  if (!flush()) return false;
  bool all = true;
  for (const JsonPtr& pod : released) {
    if (release_job_pod(registry_, *pod)) {
      outcome_.wrote = true;
      held_.erase(string_at(*pod, {"metadata", "uid"}));
    } else {
      all = false;
    }
  }
  count_uncounted();
  write_counts();
  if (all) finish();
  return flush() && all;
}

bool JobSync::releasable(const Json& pod) const {
  if (terminating(job_) || result_ || string_at(pod, {"status", "phase"}) == "Succeeded") return true;
  if (!pod_failed(pod, job_)) return false;
  const auto index = completion_index(pod);
  const auto kept = index ? predecessors_.find(*index) : predecessors_.end();
  return kept == predecessors_.end() ||
         string_at(*kept->second, {"metadata", "uid"}) != string_at(pod, {"metadata", "uid"});
}

/// Adds finished pods to the uncounted ones; returns those whose finalizer can be removed.
std::vector<JsonPtr> JobSync::collect() {
  const auto noted = [](const std::vector<std::string>& list, const std::string& uid) {
    return std::find(list.begin(), list.end(), uid) != list.end();
  };
  std::vector<JsonPtr> released;
  std::size_t indexes = 0;
  for (const JsonPtr& pod : pods_) {
    const std::string uid = string_at(*pod, {"metadata", "uid"});
    if (held_.count(uid) == 0 || !releasable(*pod)) continue;
    released.push_back(pod);
    if (string_at(*pod, {"status", "phase"}) == "Succeeded" && !noted(uncounted_failed_, uid)) {
      // An index counts once.
      if (indexed(job_)) {
        ++indexes;
      } else if (!noted(uncounted_succeeded_, uid)) {
        uncounted_succeeded_.push_back(uid);
      }
    } else if (pod_failed(*pod, job_) || (result_ && !result_->success)) {
      if (!noted(uncounted_failed_, uid) && valid(*pod)) collect_failed(*pod);
    }
    more_to_count_ = indexes + uncounted_succeeded_.size() + uncounted_failed_.size() >= kMaxUncounted;
    if (more_to_count_) break;
  }
  return released;
}

void JobSync::collect_failed(const Json& pod) {
  if (apply_failure_policy(job_, pod).counts) uncounted_failed_.push_back(string_at(pod, {"metadata", "uid"}));
}

void JobSync::count_uncounted() {
  Json& status = job_["status"];
  const auto settle = [&](std::vector<std::string>& uids, const char* counter) {
    const auto counted =
        std::stable_partition(uids.begin(), uids.end(), [&](const std::string& uid) { return held_.count(uid) != 0; });
    set_or_leave_out(status, counter, int_at(status, {counter}) + (uids.end() - counted));
    uids.erase(counted, uids.end());
  };
  settle(uncounted_succeeded_, "succeeded");
  settle(uncounted_failed_, "failed");
}

void JobSync::write_counts() {
  Json& status = job_["status"];
  set_or_leave_out(status, "active", active_);
  status["ready"] = ready_;
  status["terminating"] = terminating_;
  Json uncounted = Json::object();
  if (!uncounted_succeeded_.empty()) uncounted["succeeded"] = uncounted_succeeded_;
  if (!uncounted_failed_.empty()) uncounted["failed"] = uncounted_failed_;
  status["uncountedTerminatedPods"] = std::move(uncounted);
  if (!indexed(job_)) return;
  set_or_leave_out(status, "succeeded", succeeded_indexes_.size());
  status["completedIndexes"] = succeeded_indexes_.to_string();
  if (succeeded_indexes_.size() == 0) status.erase("completedIndexes");
  if (per_index()) status["failedIndexes"] = failed_indexes_.to_string();
}

/// Fails if the Job was changed after it was read.
bool JobSync::flush() {
  if (job_.at("status") == written_) return true;
  Result<Object> stored = registry_.update(*registry_.resources().find_id("jobs.batch"), Object(job_), "status",
                                           as_controller("job-controller"));
  if (!stored) return false;
  outcome_.wrote = true;
  job_ = std::move(stored->mutable_json());
  written_ = job_.at("status");
  return true;
}

/// When every pod is terminal and counted.
void JobSync::finish() {
  if (!result_ || more_to_count_ || terminating_ > 0) return;
  if (!uncounted_succeeded_.empty() || !uncounted_failed_.empty()) return;
  Json& status = job_["status"];
  set_job_condition(status, result_->final(), "True", result_->reason, result_->message, now_);
  if (result_->success) status["completionTime"] = format_rfc3339(now_);
  if (!flush()) {
    outcome_.failed = true;
    return;
  }
  if (result_->success) {
    add_event("Normal", "Completed", "Job completed");
  } else {
    add_event("Warning", result_->reason, result_->message);
  }
}

void JobSync::add_event(const char* type, const std::string& reason, const std::string& message) {
  record_event(registry_, {"job-controller", "Job", &job_, type, reason, message});
}

}  // namespace tpuslice::sim
