#include "cmd/tpu-slice-sim/cluster/jobs/job_controller.h"

#include <algorithm>

#include "api/base/backoff.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_pods.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_status.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_sync.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kJobs = "jobs.batch";
constexpr Duration kBatch = std::chrono::seconds(1);
constexpr Duration kInitialJobBackOff = std::chrono::seconds(1);
constexpr Duration kMaxJobBackOff = std::chrono::minutes(1);

}  // namespace

JobController::JobController(Registry& registry)
    : registry_(registry), feed_(registry.storage(), std::vector<std::string>{kJobs, "pods"}) {}

bool JobController::step(Instant now) {
  const ChangeFeed::Batch batch = feed_.take();
  Jobs before;
  if (batch.relisted) {
    before = std::exchange(jobs_, {});
    pods_.clear();
    queue_.clear();
  }
  for (const Change& change : batch.changes) observe(change, now);
  if (batch.relisted) resume(std::move(before));
  bool wrote = release_orphans();
  for (const ObjectKey& key : queue_.take(now)) wrote |= sync(key, now);
  return wrote;
}

void JobController::observe(const Change& change, Instant now) {
  if (change.resource == kJobs) {
    observe_job(change, now);
  } else {
    observe_pod(change, now);
  }
}

void JobController::observe_job(const Change& change, Instant now) {
  const std::string uid = string_at(*change.object, {"metadata", "uid"});
  auto known = jobs_.find(change.key);
  if (known != jobs_.end() && (known->second.uid != uid || change.type == ChangeType::kDeleted)) {
    forget(known);
    known = jobs_.end();
  }
  if (change.type == ChangeType::kDeleted) return release_pods_of(uid);
  const bool fresh = known == jobs_.end();
  if (fresh) known = jobs_.emplace(change.key, Job{.uid = uid, .streak = {}}).first;
  Job& job = known->second;
  const std::int64_t generation = int_at(*change.object, {"metadata", "generation"});
  const bool at_once = fresh || job.generation != generation;
  job.generation = generation;
  job.foreign = has_other_manager(*change.object);
  job.finished = job_finished(*change.object);
  if (job.finished || job.foreign) {
    queue_.remove(change.key);
    if (job.finished) release_pods_of(uid);
    return;
  }
  queue_.add(change.key, at_once ? now : now + kBatch);
}

void JobController::observe_pod(const Change& change, Instant now) {
  const bool gone = change.type == ChangeType::kDeleted;
  const auto owner = controlling_job(*change.object);
  const auto previous = change.previous == nullptr ? std::nullopt : controlling_job(*change.previous);
  for (const auto& reference : {previous, owner}) {
    if (!reference) continue;
    const bool keeps = !gone && reference == owner;
    if (keeps) {
      pods_[reference->uid].insert(change.key);
    } else if (const auto pods = pods_.find(reference->uid); pods != pods_.end()) {
      pods->second.erase(change.key);
      if (pods->second.empty()) pods_.erase(pods);
    }
    const auto job = jobs_.find({change.key.namespace_name, reference->name});
    const bool live = job != jobs_.end() && job->second.uid == reference->uid && !job->second.finished;
    if (live && !job->second.foreign) queue_.add(job->first, now + kBatch);
  }
  if (!gone && tracked(*change.object) && (!owner || terminating(*change.object))) suspects_.insert(change.key);
}

void JobController::resume(Jobs before) {
  for (auto& [key, job] : jobs_) {
    const auto old = before.find(key);
    if (old == before.end() || old->second.uid != job.uid) continue;
    job.streak = old->second.streak;
    job.failed_syncs = old->second.failed_syncs;
  }
  for (const auto& [uid, pods] : pods_) suspects_.insert(pods.begin(), pods.end());
}

void JobController::forget(Jobs::iterator job) {
  queue_.remove(job->first);
  jobs_.erase(job);
}

void JobController::release_pods_of(const std::string& uid) {
  const auto pods = pods_.find(uid);
  if (pods != pods_.end()) suspects_.insert(pods->second.begin(), pods->second.end());
}

bool JobController::release_orphans() {
  bool wrote = false;
  for (const ObjectKey& key : std::exchange(suspects_, {})) {
    const JsonPtr pod = registry_.storage().get("pods", key);
    if (pod != nullptr && tracked(*pod) && orphaned(*pod)) wrote |= release_job_pod(registry_, *pod);
  }
  return wrote;
}

/// Whether the pod has the finalizer and its Job does not exist.
bool JobController::orphaned(const Json& pod) const {
  const auto owner = controlling_job(pod);
  if (!owner) return !has_controller(pod);
  const auto job = jobs_.find({string_at(pod, {"metadata", "namespace"}), owner->name});
  if (job == jobs_.end() || job->second.uid != owner->uid) return true;
  return job->second.finished && !job->second.foreign;
}

bool JobController::sync(const ObjectKey& key, Instant now) {
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) return false;
  Job& known = found->second;
  const JsonPtr job = registry_.storage().get(kJobs, key);
  // Changes after the read are seen in the next step.
  if (job == nullptr || string_at(*job, {"metadata", "uid"}) != known.uid || job_finished(*job)) return false;
  std::vector<JsonPtr> pods;
  if (const auto own = pods_.find(known.uid); own != pods_.end()) {
    for (const ObjectKey& name : own->second) {
      const JsonPtr pod = registry_.storage().get("pods", name);
      if (pod != nullptr && controlling_job(*pod).value_or(JobReference{}).uid == known.uid) pods.push_back(pod);
    }
  }
  const JobOutcome outcome = JobSync(registry_, job, std::move(pods), known.streak).run();
  known.failed_syncs = outcome.failed ? known.failed_syncs + 1 : 0;
  if (outcome.failed) {
    queue_.add(key, now + exponential_backoff(known.failed_syncs, kInitialJobBackOff, kMaxJobBackOff));
  }
  if (outcome.requeue_after) queue_.add(key, now + std::max(*outcome.requeue_after, kBatch));
  return outcome.wrote;
}

}  // namespace tpuslice::sim
