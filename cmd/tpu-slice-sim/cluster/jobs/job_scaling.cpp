// JobSync: creation and deletion of pods.
#include <algorithm>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/jobs/job_sync.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr std::int64_t kMaxPodsPerSync = 500;  ///< Created or deleted.

}  // namespace

void JobSync::manage() {
  managed_ = true;
  const std::int64_t surplus = suspended() ? active_ : std::max<std::int64_t>(0, active_ - desired_pods());
  std::vector<JsonPtr> extra = pods_to_remove(job_, active_pods_, static_cast<int>(surplus));
  if (!suspended() && static_cast<std::int64_t>(extra.size()) > kMaxPodsPerSync) extra.resize(kMaxPodsPerSync);
  // Never both in one sync.
  if (!extra.empty()) return remove_and_release(extra);
  if (suspended()) return;
  const std::int64_t missing = desired_pods() - active_ - (replaces_only_failed(job_) ? terminating_ : 0);
  if (missing > 0) create(std::min(missing, kMaxPodsPerSync));
}

std::int64_t JobSync::desired_pods() const {
  const std::int64_t parallelism = spec_int("parallelism", 1);
  if (find_path(job_, {"spec", "completions"}) == nullptr) return succeeded_ > 0 ? active_ : parallelism;
  return std::clamp<std::int64_t>(spec_int("completions") - succeeded_, 0, parallelism);
}

void JobSync::create(std::int64_t missing) {
  if (!per_index()) {
    if (const Duration left = streak_.remaining(now_); left > Duration{}) return requeue_after(left);
  }
  std::vector<int> indexes;
  if (indexed(job_)) {
    indexes = indexes_to_create(missing);
    missing = static_cast<std::int64_t>(indexes.size());
  }
  // Slow start: one first, then batches of twice the size, since an error usually repeats.
  std::int64_t done = 0;
  for (std::int64_t batch = 1; done < missing && !outcome_.failed; batch *= 2) {
    const std::int64_t end = std::min(missing, done + batch);
    for (; done < end; ++done) {
      const auto index = indexes.empty() ? std::nullopt : std::optional(indexes[static_cast<std::size_t>(done)]);
      if (create_one(index)) ++active_;
    }
  }
}

std::vector<int> JobSync::indexes_to_create(std::int64_t missing) {
  IndexSet taken = succeeded_indexes_;
  taken.add(failed_indexes_);
  for (const JsonPtr& pod : pods_) {
    const auto index = completion_index(*pod);
    if (index && (pod_active(*pod) || (replaces_only_failed(job_) && pod_terminating(*pod)))) taken.add(*index);
  }
  std::vector<int> free = taken.lowest_missing(static_cast<int>(missing), static_cast<int>(spec_int("completions")));
  if (!per_index()) return free;
  std::vector<int> out;
  std::optional<Duration> shortest;
  for (const int index : free) {
    const auto before = predecessors_.find(index);
    Duration left{};
    if (before != predecessors_.end()) {
      const IndexFailures failures = index_failures(*before->second);
      left = pod_back_off(failures.counted + failures.ignored + 1) - (now_ - finished_at(*before->second));
    }
    if (left <= Duration{}) {
      out.push_back(index);
    } else {
      shortest = std::min(shortest.value_or(left), left);
    }
  }
  if (out.empty() && shortest) requeue_after(*shortest);
  return out;
}

bool JobSync::create_one(std::optional<int> index) {
  std::optional<IndexFailures> failures;
  if (per_index() && index) {
    failures = IndexFailures{};
    if (const auto before = predecessors_.find(*index); before != predecessors_.end()) {
      failures = index_failures(*before->second);
      ++(apply_failure_policy(job_, *before->second).counts ? failures->counted : failures->ignored);
    }
  }
  const Result<Object> created =
      registry_.create(*registry_.resources().find_id("pods"), Object(make_job_pod(job_, index, failures)),
                       as_controller("job-controller"));
  if (created) {
    outcome_.wrote = true;
    add_event("Normal", "SuccessfulCreate", fmt::format("Created pod: {}", created->key().name));
  } else {
    outcome_.failed = true;
    add_event("Warning", "FailedCreate", fmt::format("Error creating: {}", created.error().message()));
  }
  return created.ok();
}

bool JobSync::remove(const JsonPtr& pod) {
  DeleteOptions options;
  options.write = as_controller("job-controller");
  options.uid = string_at(*pod, {"metadata", "uid"});
  const ObjectKey key{string_at(*pod, {"metadata", "namespace"}), string_at(*pod, {"metadata", "name"})};
  const Result<Object> removed = registry_.remove(*registry_.resources().find_id("pods"), key, options);
  const bool gone =
      !removed && (removed.error().code() == ErrorCode::kNotFound || removed.error().code() == ErrorCode::kConflict);
  if (!removed && !gone) {
    outcome_.failed = true;
    add_event("Warning", "FailedDelete", fmt::format("Error deleting: {}", removed.error().message()));
    return false;
  }
  outcome_.wrote = true;
  if (removed) add_event("Normal", "SuccessfulDelete", fmt::format("Deleted pod: {}", key.name));
  --active_;
  ++terminating_;
  if (condition_status(*pod, "Ready") == "True") --ready_;
  return true;
}

/// Pods that are deleted because they are not needed do not count as failures.
void JobSync::remove_and_release(const std::vector<JsonPtr>& pods) {
  for (const JsonPtr& pod : pods) {
    if (!release_job_pod(registry_, *pod)) {
      outcome_.failed = true;
      continue;
    }
    held_.erase(string_at(*pod, {"metadata", "uid"}));
    remove(pod);
  }
}

void JobSync::remove_active() {
  for (const JsonPtr& pod : active_pods_) {
    // Not finished before all pods are terminating.
    if (!remove(pod)) result_.reset();
  }
}

}  // namespace tpuslice::sim
