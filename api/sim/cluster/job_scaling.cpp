// JobSync: as many pods as the Job wants, no more and no fewer.
#include <algorithm>

#include <fmt/format.h>

#include "api/sim/cluster/conditions.h"
#include "api/sim/cluster/job_sync.h"
#include "api/sim/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr std::int64_t kMostPodsAtOnce = 500;  ///< Made or deleted in one look.

}  // namespace

void JobSync::manage() {
  managed_ = true;
  const std::int64_t surplus = suspended() ? active_ : std::max<std::int64_t>(0, active_ - wanted());
  std::vector<JsonPtr> extra = pods_to_remove(job_, active_pods_, static_cast<int>(surplus));
  if (!suspended() && static_cast<std::int64_t>(extra.size()) > kMostPodsAtOnce) extra.resize(kMostPodsAtOnce);
  // Never both in one look.
  if (!extra.empty()) return remove_and_release(extra);
  if (suspended()) return;
  const std::int64_t missing = wanted() - active_ - (replaces_only_failed(job_) ? terminating_ : 0);
  if (missing > 0) create(std::min(missing, kMostPodsAtOnce));
}

std::int64_t JobSync::wanted() const {
  const std::int64_t parallelism = spec_int("parallelism", 1);
  if (find_path(job_, {"spec", "completions"}) == nullptr) return succeeded_ > 0 ? active_ : parallelism;
  return std::clamp<std::int64_t>(spec_int("completions") - succeeded_, 0, parallelism);
}

void JobSync::create(std::int64_t missing) {
  if (!per_index()) {
    if (const Duration left = streak_.remaining(now_); left > Duration{}) return wait_for(left);
  }
  std::vector<int> indexes;
  if (indexed(job_)) {
    indexes = indexes_to_create(missing);
    missing = static_cast<std::int64_t>(indexes.size());
  }
  // One first, then twice as many each time: what refuses one will refuse them all.
  std::int64_t done = 0;
  for (std::int64_t batch = 1; done < missing && !outcome_.refused; batch *= 2) {
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
    if (index && (pod_active(*pod) || (replaces_only_failed(job_) && pod_ending(*pod)))) taken.add(*index);
  }
  const std::vector<int> free =
      taken.lowest_missing(static_cast<int>(missing), static_cast<int>(spec_int("completions")));
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
  if (out.empty() && shortest) wait_for(*shortest);
  return out;
}

bool JobSync::create_one(std::optional<int> index) {
  std::optional<IndexFailures> failures;
  if (per_index() && index) {
    failures = IndexFailures{};
    if (const auto before = predecessors_.find(*index); before != predecessors_.end()) {
      failures = index_failures(*before->second);
      ++(rule_on_failure(job_, *before->second).counts ? failures->counted : failures->ignored);
    }
  }
  const Result<Object> made =
      registry_.create(*registry_.resources().find_id("pods"), Object(make_job_pod(job_, index, failures)),
                       as_controller("job-controller"));
  if (made) {
    outcome_.wrote = true;
    tell("Normal", "SuccessfulCreate", fmt::format("Created pod: {}", made->key().name));
  } else {
    outcome_.refused = true;
    tell("Warning", "FailedCreate", fmt::format("Error creating: {}", made.error().message()));
  }
  return made.ok();
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
    outcome_.refused = true;
    tell("Warning", "FailedDelete", fmt::format("Error deleting: {}", removed.error().message()));
    return false;
  }
  outcome_.wrote = true;
  if (removed) tell("Normal", "SuccessfulDelete", fmt::format("Deleted pod: {}", key.name));
  --active_;
  ++terminating_;
  if (condition_status(*pod, "Ready") == "True") --ready_;
  return true;
}

/// Those that end because they are not wanted are no failures.
void JobSync::remove_and_release(const std::vector<JsonPtr>& pods) {
  for (const JsonPtr& pod : pods) {
    if (!release_job_pod(registry_, *pod)) {
      outcome_.refused = true;
      continue;
    }
    held_.erase(string_at(*pod, {"metadata", "uid"}));
    remove(pod);
  }
}

void JobSync::remove_active() {
  for (const JsonPtr& pod : active_pods_) {
    // Not over before all are told to end.
    if (!remove(pod)) verdict_.reset();
  }
}

}  // namespace tpuslice::sim
