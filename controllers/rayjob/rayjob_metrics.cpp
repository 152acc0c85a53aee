#include "controllers/rayjob/rayjob_metrics.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "controllers/rayjob/rayjob_status.h"
#include "controllers/rayjob/rules/rayjob_labels.h"

namespace tpuslice::rayjob {
namespace {

double seconds_between(Timestamp begin, Timestamp end) { return std::chrono::duration<double>(end - begin).count(); }

/// Attempts before the one that has ended with this status, which counts it if it failed.
std::int64_t retries_of(const RayJobStatus& status) {
  const bool counted = status.deployment == kFailed || status.deployment == kRetrying;
  return std::max<std::int64_t>(status.failed - (counted ? 1 : 0), 0);
}

/// What the metrics say of one RayJob that was read whole.
struct Facts {
  const ObjectView* job;
  std::string deployment;
  std::int64_t retries = 0;
  std::optional<double> seconds;  ///< Length of the last attempt, if the RayJob has finished.
};

Facts facts_of(const ObjectView& job) {
  const RayJobStatus status = RayJobStatus::read(job.object_without_spec());
  Facts out{&job, status.deployment, retries_of(status), {}};
  if (status.finished() && status.started && status.ended) {
    out.seconds = seconds_between(*status.started, *status.ended);
  }
  return out;
}

}  // namespace

void RetriedAttempts::changed(const std::shared_ptr<const ObjectView>& before,
                              const std::shared_ptr<const ObjectView>& after) {
  if (after == nullptr) {
    const MutexLock lock(mutex_);
    attempts_.erase(before->uid);
    return;
  }
  // When an attempt of a RayJob ended that is first seen while it is retried is not known. The text is searched first:
  // most changes are of other states.
  if (before == nullptr || after->minimal || after->text.find(kRetrying) == std::string::npos) return;
  const RayJobStatus status = RayJobStatus::read(after->object_without_spec());
  if (status.deployment != kRetrying || !status.started) return;
  const Attempt attempt{retries_of(status), seconds_between(*status.started, clock_.wall())};
  const MutexLock lock(mutex_);
  std::vector<Attempt>& known = attempts_[after->uid];
  if (std::ranges::find(known, attempt.retries, &Attempt::retries) != known.end()) return;
  known.push_back(attempt);
  if (known.size() > kMaxAttempts) known.erase(known.begin());
}

std::vector<RetriedAttempts::Attempt> RetriedAttempts::of(const std::string& uid) const {
  const MutexLock lock(mutex_);
  const auto found = attempts_.find(uid);
  return found == attempts_.end() ? std::vector<Attempt>() : found->second;
}

// Source of names, labels and values: ray_job_metrics.go of KubeRay v1.7.0.
void write_metrics(const std::vector<std::shared_ptr<const ObjectView>>& jobs, const RetriedAttempts& retried,
                   SeriesWriter& out) {
  std::vector<Facts> all;
  all.reserve(jobs.size());
  for (const auto& job : jobs) {
    if (!job->minimal) all.push_back(facts_of(*job));
  }
  out.family("kuberay_job_deployment_status", "1, with the state of the RayJob.");
  for (const Facts& each : all) {
    out.sample({{"deployment_status", each.deployment},
                {"name", each.job->key.name},
                {"namespace", each.job->key.namespace_name},
                {"uid", each.job->uid}},
               1);
  }
  out.family("kuberay_job_execution_duration_seconds",
             "Seconds from the start of an attempt of the RayJob until it completed, failed, or was retried.");
  for (const Facts& each : all) {
    const auto write = [&](std::string_view state, std::int64_t retries, double seconds) {
      out.sample({{"job_deployment_status", state},
                  {"name", each.job->key.name},
                  {"namespace", each.job->key.namespace_name},
                  {"retry_count", std::to_string(retries)},
                  {"uid", each.job->uid}},
                 seconds);
    };
    for (const RetriedAttempts::Attempt& attempt : retried.of(each.job->uid)) {
      write(kRetrying, attempt.retries, attempt.seconds);
    }
    if (each.seconds) write(each.deployment, each.retries, *each.seconds);
  }
  out.family("kuberay_job_info", "1 for each RayJob.");
  for (const auto& job : jobs) {
    out.sample({{"name", job->key.name}, {"namespace", job->key.namespace_name}, {"uid", job->uid}}, 1);
  }
}

}  // namespace tpuslice::rayjob
