#include "controllers/jobset/job_deletion.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "api/base/earlier.h"
#include "controllers/jobset/child_jobs.h"
#include "controllers/jobset/rules/jobset_labels.h"

namespace tpuslice::jobset {
namespace {

/// The Job controller expects no more pod creations.
bool has_no_pending_pods(const JobView& job) { return is_finishing(job) || is_ready(job); }

const std::string& slice_of(const JobView& job) { return value_of(job.template_labels, tpu::kSlice); }

bool is_gated_in_slice(const std::string& slice, const Json& job) {
  return string_at(job, {"spec", "template", "metadata", "labels", tpu::kSlice}) == slice &&
         std::ranges::any_of(array_at(job, {"spec", "template", "spec", "schedulingGates"}),
                             [](const Json& gate) { return string_at(gate, {"name"}) == tpu::kSliceGate; });
}

bool replacement_waits_for(const JobView& job, const JobSetSpec& spec, const JobBuilder& replacements) {
  const auto of = std::ranges::find(spec.jobs, replicated_job_of(job), &ReplicatedJob::name);
  const std::optional<int> index = index_of(job);
  if (of == spec.jobs.end() || !index || *index >= of->replicas) return false;
  if (job_name(spec, *of, *index) != job.key.name) return false;
  const Result<Json> replacement = replacements.build(static_cast<std::size_t>(of - spec.jobs.begin()), *index);
  return replacement && is_gated_in_slice(slice_of(job), *replacement);
}

using Progress = JobDeletion::Progress;

/// A deletion is reported if it takes longer: each change of the message is a status write.
constexpr Duration kSlowDeletion = std::chrono::seconds(10);

/// A sync of the Job controller may be about to create the first pods.
bool may_be_creating_first_pods(const JobView& job) {
  if (is_finishing(job) || job.active > 0) return false;
  const int left = job.completions ? *job.completions - job.succeeded : job.parallelism;
  return std::min(job.parallelism, left) > 0;
}

class DeletionPlanner {
 public:
  DeletionPlanner(const JobSetSpec& spec, const JobBuilder* replacements, const Options& options, Timestamp now)
      : spec_(spec), replacements_(replacements), options_(options), now_(now) {}

  void add(const JobPtr& job) {
    if (job->deletion) return handle_deleting_job(job, *job->deletion);
    if (replacements_ != nullptr && may_be_creating_first_pods(*job)) {
      if (!job->suspended) return add(job, Progress::kSuspend);
      if (const std::optional<Timestamp> deadline = suspend_deadline(*job); deadline && now_ < *deadline) {
        return requeue_at(*deadline);
      }
    }
    const bool overlap = replacements_ != nullptr && may_overlap_restart(*job, spec_, *replacements_);
    add(job, overlap ? Progress::kOverlap : Progress::kDelete);
  }

  [[nodiscard]] JobDeletions result() && { return std::move(out_); }

 private:
  void add(const JobPtr& job, Progress progress) { out_.jobs.push_back({job, progress}); }

  void requeue_at(Timestamp time) { set_earlier(out_.requeue_after, Duration(time - now_)); }

  /// The time until which the deletion waits; empty if it does not.
  [[nodiscard]] std::optional<Timestamp> suspend_deadline(const JobView& job) const {
    const std::optional<Timestamp> since = parse_rfc3339(job.annotation(kDeletionPendingSince));
    if (!since || job.condition("Suspended") != nullptr) return std::nullopt;
    return *since + options_.suspend_timeout;
  }

  void handle_deleting_job(const JobPtr& job, Timestamp deletion) {
    if (const Timestamp slow = deletion + kSlowDeletion; now_ < slow) return requeue_at(slow);
    if (const Timestamp stuck = deletion + options_.deletion_timeout; now_ < stuck) {
      requeue_at(stuck);
      return add(job, Progress::kTerminating);
    }
    // Without that finalizer the Job waits for another one, and a second delete would not help.
    add(job, job->foreground_deletion ? Progress::kForce : Progress::kTerminating);
  }

  const JobSetSpec& spec_;
  const JobBuilder* const replacements_;
  const Options& options_;
  const Timestamp now_;
  JobDeletions out_;
};

}  // namespace

bool may_overlap_restart(const JobView& job, const JobSetSpec& spec, const JobBuilder& replacements) {
  const bool blocking = spec.failure && spec.failure->blocking;
  if (!spec.restart_at_failure_target || blocking || spec.suspended || job.suspended) return false;
  return !slice_of(job).empty() && has_no_pending_pods(job) && replacement_waits_for(job, spec, replacements);
}

JobDeletions decide_deletions(const std::vector<JobPtr>& jobs, const JobSetSpec& spec, const JobBuilder* replacements,
                              const Options& options, Timestamp now) {
  DeletionPlanner planner(spec, replacements, options, now);
  for (const JobPtr& job : jobs) planner.add(job);
  return std::move(planner).result();
}

void add_pods(JobDeletions& deletions, const std::vector<PodPtr>& pods) {
  std::map<std::string_view, JobDeletion*> by_uid;
  for (JobDeletion& each : deletions.jobs) {
    if (each.progress == Progress::kDelete || each.progress == Progress::kOverlap) by_uid[each.job->uid] = &each;
  }
  for (const PodPtr& pod : pods) {
    const auto of = pod->controller ? by_uid.find(pod->controller->uid) : by_uid.end();
    if (of != by_uid.end()) of->second->pods.push_back(pod);
  }
}

}  // namespace tpuslice::jobset
