#include "controllers/jobset/startup.h"

#include <fmt/format.h>

#include "controllers/jobset/labels.h"

namespace tpuslice::jobset {
namespace {

ReplicatedJobStatus status_of(const JobSetStatus& status, const std::string& job) {
  const auto found = status.jobs.find(job);
  return found == status.jobs.end() ? ReplicatedJobStatus() : found->second;
}

/// What the job waits for; empty for nothing.
std::string unmet_dependency(const ReplicatedJob& job, const Changes& changes) {
  for (const Dependency& dependency : job.depends_on) {
    const ReplicatedJob* other = changes.spec.find(dependency.name);
    const int wanted = other == nullptr ? 0 : other->replicas;
    const ReplicatedJobStatus status = status_of(changes.status, dependency.name);
    const int reached = dependency.complete ? status.succeeded : status.begun();
    if (reached == wanted) continue;
    return fmt::format("replicated job {} waits for {} to be {}: {} of {} are", job.name, dependency.name,
                       dependency.complete ? "Complete" : "Ready", reached, wanted);
  }
  return {};
}

}  // namespace

Startup plan_startup(Changes& changes) {
  Startup out;
  const JobSetSpec& spec = changes.spec;
  const bool ordered = spec.in_order && !spec.suspended;
  for (const ReplicatedJob& job : spec.jobs) {
    if (std::string unmet = unmet_dependency(job, changes); !unmet.empty()) {
      changes.waits.push_back({"DependsOn", std::move(unmet)});
      continue;
    }
    const ReplicatedJobStatus status = status_of(changes.status, job.name);
    if (ordered && status.begun() == job.replicas) continue;
    out.may_start.push_back(&job);
    if (!ordered) continue;
    out.in_progress = true;
    if (&job != &spec.jobs.back()) {
      changes.waits.push_back({"StartupPolicy", fmt::format("replicated jobs after {} wait for it to be ready: {} of "
                                                            "{} are",
                                                            job.name, status.begun(), job.replicas)});
    }
    break;
  }
  if (!ordered) return out;
  if (out.in_progress) {
    changes.end_condition(kStartupCompleted);
    changes.set_condition(kStartupInProgress, true, "InOrderStartupPolicyInProgress",
                          "in order startup policy is in progress");
  } else {
    changes.end_condition(kStartupInProgress);
    changes.set_condition(kStartupCompleted, true, "InOrderStartupPolicyCompleted",
                          "in order startup policy has completed");
  }
  return out;
}

}  // namespace tpuslice::jobset
