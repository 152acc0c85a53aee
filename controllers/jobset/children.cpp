#include "controllers/jobset/children.h"

#include <algorithm>
#include <array>

#include "api/base/strings.h"
#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

/// A label that is also there as an annotation.
std::string mark_of(const JobView& job, std::string_view key) {
  if (const std::string& label = job.label(key); !label.empty()) return label;
  const auto annotation = job.annotations.find(key);
  return annotation == job.annotations.end() ? std::string() : annotation->second;
}

std::optional<int> number_of(const JobView& job, std::string_view key) { return whole_number(mark_of(job, key)); }

/// A failed Job that says no number has failed before, or it would be the reason of one restart after another.
bool is_of_earlier_attempt(const JobSetSpec& spec, const JobSetStatus& status, const JobView& job) {
  const auto before = [&](std::string_view key, int now) {
    const std::optional<int> attempt = number_of(job, key);
    return attempt ? *attempt < now : now > 0 && failure_of(spec, job) != nullptr;
  };
  if (before(kRestartAttempt, status.restarts)) return true;
  const std::optional<int> index = index_of(job);
  return index && before(kJobRestartAttempt, status.restarts_of(replicated_job_of(job), *index));
}

}  // namespace

std::string replicated_job_of(const JobView& job) { return mark_of(job, tpu::kReplicatedJobName); }
std::optional<int> index_of(const JobView& job) { return number_of(job, tpu::kJobIndex); }

const JobCondition* failure_of(const JobSetSpec& spec, const JobView& job) {
  if (const JobCondition* failed = job.condition("Failed"); failed != nullptr) return failed;
  return spec.restart_at_failure_target ? job.condition("FailureTarget") : nullptr;
}

bool is_ending(const JobView& job) {
  static constexpr std::array kEnds = {"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"};
  return std::ranges::any_of(kEnds, [&](const char* end) { return job.condition(end) != nullptr; });
}

bool is_ready(const JobView& job) {
  return job.succeeded + job.ready >= std::min(job.parallelism, job.completions.value_or(job.parallelism));
}

Children read_children(const JobSetSpec& spec, const JobSetStatus& status, const std::vector<JobPtr>& jobs) {
  Children out;
  for (const JobPtr& job : jobs) {
    out.names.insert(job->key.name);
    if (is_of_earlier_attempt(spec, status, *job)) {
      out.previous.push_back(job);
    } else if (job->condition("Complete") != nullptr) {
      out.succeeded.push_back(job);
    } else if (failure_of(spec, *job) != nullptr) {
      out.failed.push_back(job);
    } else {
      out.active.push_back(job);
    }
  }
  return out;
}

}  // namespace tpuslice::jobset
