#include "controllers/jobset/replicated_jobs.h"

#include <fmt/format.h>

#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

/// Null for a Job whose labels name no replicated job of the spec.
ReplicatedJobStatus* status_for(const JobView& job, Changes& changes) {
  const ReplicatedJob* of = changes.spec.find(replicated_job_of(job));
  return of == nullptr ? nullptr : &changes.status.jobs[of->name];
}

void create(std::size_t replicated_job, int index, const std::shared_ptr<const JobBuilder>& builder, Changes& changes) {
  const ObjectKey key{changes.spec.key.namespace_name,
                      job_name(changes.spec, changes.spec.jobs[replicated_job], index)};
  runtime::Action action = runtime::Action::create(kJobs, key, [=] { return builder->build(replicated_job, index); });
  action.failure_reason = kJobCreationFailed;
  changes.event(runtime::EventType::kWarning, kJobCreationFailed, fmt::format("Failed to create job {}", key.name),
                key);
  changes.jobs.push_back(std::move(action));
}

}  // namespace

void count_jobs(const Children& children, Changes& changes) {
  std::erase_if(changes.status.jobs, [&](const auto& job) { return changes.spec.find(job.first) == nullptr; });
  for (const ReplicatedJob& job : changes.spec.jobs) {
    ReplicatedJobStatus& status = changes.status.jobs[job.name];
    status.ready = status.succeeded = status.failed = status.active = status.suspended = 0;
  }
  for (const JobPtr& job : children.active) {
    ReplicatedJobStatus* status = status_for(*job, changes);
    if (status == nullptr) continue;
    if (is_ready(*job)) ++status->ready;
    if (job->active > 0) ++status->active;
    if (job->suspended) ++status->suspended;
  }
  for (const JobPtr& job : children.succeeded) {
    if (ReplicatedJobStatus* status = status_for(*job, changes); status != nullptr) ++status->succeeded;
  }
  for (const JobPtr& job : children.failed) {
    if (ReplicatedJobStatus* status = status_for(*job, changes); status != nullptr) ++status->failed;
  }
}

bool all_ready(const Changes& changes) {
  int ready = 0;
  for (const auto& [name, job] : changes.status.jobs) ready += job.ready + job.succeeded;
  return ready == changes.spec.total_replicas();
}

Status create_jobs(const Children& children, const Startup& startup, const std::shared_ptr<const JobBuilder>& builder,
                   Changes& changes) {
  if (!children.previous.empty() && changes.spec.failure && changes.spec.failure->blocking) {
    changes.waits.push_back({"BlockingRecreate", "jobs of the attempt before are still there"});
    return {};
  }
  for (const ReplicatedJob* job : startup.may_start) {
    const auto which = static_cast<std::size_t>(job - changes.spec.jobs.data());
    std::vector<std::string> created;
    for (int index = 0; index < job->replicas; ++index) {
      std::string name = job_name(changes.spec, *job, index);
      if (children.names.contains(name)) continue;
      // What is wrong with one is wrong with all.
      if (created.empty()) RETURN_IF_ERROR(builder->build(which, index));
      create(which, index, builder, changes);
      created.push_back(std::move(name));
    }
    if (created.empty()) continue;
    changes.reasons.push_back(
        fmt::format("creating {} job{} ({})", created.size(), created.size() == 1 ? "" : "s", join_names(created)));
  }
  return {};
}

}  // namespace tpuslice::jobset
