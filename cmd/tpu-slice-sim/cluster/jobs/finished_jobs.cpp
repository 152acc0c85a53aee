#include "cmd/tpu-slice-sim/cluster/jobs/finished_jobs.h"

#include "cmd/tpu-slice-sim/cluster/jobs/job_status.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

/// The remaining time to live; none for a Job without a TTL.
std::optional<Duration> time_left(const Json& job, Timestamp now) {
  const Json* seconds = find_path(job, {"spec", "ttlSecondsAfterFinished"});
  const auto finished = job_finished_at(job);
  if (seconds == nullptr || !finished || terminating(job)) return std::nullopt;
  return std::chrono::seconds(seconds->get<std::int64_t>()) - (now - *finished);
}

}  // namespace

FinishedJobs::FinishedJobs(Registry& registry)
    : registry_(registry), feed_(registry.storage(), std::vector<std::string>{"jobs.batch"}) {}

bool FinishedJobs::step(Instant now) {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    queue_.clear();
  }
  for (const Change& change : batch.changes) {
    queue_.remove(change.key);
    if (change.type != ChangeType::kDeleted) plan(change.key, *change.object, now);
  }
  bool wrote = false;
  for (const ObjectKey& key : queue_.take(now)) wrote |= remove(key, now);
  return wrote;
}

void FinishedJobs::plan(const ObjectKey& key, const Json& job, Instant now) {
  const auto left = time_left(job, registry_.clock().wall());
  if (left) queue_.add(key, now + *left);
}

bool FinishedJobs::remove(const ObjectKey& key, Instant now) {
  const JsonPtr job = registry_.storage().get("jobs.batch", key);
  if (job == nullptr) return false;
  const auto left = time_left(*job, registry_.clock().wall());
  if (!left) return false;
  if (*left > Duration{}) {
    // The TTL was changed, or monotonic and wall clock were read at different times.
    plan(key, *job, now);
    return false;
  }
  DeleteOptions options;
  options.write = as_controller("ttl-after-finished-controller");
  options.uid = string_at(*job, {"metadata", "uid"});
  options.propagation = "Foreground";
  return registry_.remove(*registry_.resources().find_id("jobs.batch"), key, options).ok();
}

}  // namespace tpuslice::sim
