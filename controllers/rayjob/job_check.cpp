#include "controllers/rayjob/job_check.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "controllers/rayjob/dashboard_address.h"

namespace tpuslice::rayjob {
namespace {

/// Order of the statuses of a job, which never goes back to a lower one.
int rank(std::string_view job) {
  if (job.empty()) return 0;
  if (job == ray::kPending) return 1;
  return ray::is_terminal(job) ? 3 : 2;
}

/// A time that the dashboard reported, not in the future.
Timestamp time_of(std::int64_t milliseconds, Timestamp now) {
  const auto latest = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return Timestamp(std::chrono::milliseconds(std::clamp<std::int64_t>(milliseconds, 0, latest)));
}

}  // namespace

JobCheck check_job(const RayJobState& state, const SubmitterState& submitter, std::int64_t submissions) {
  using Kind = JobCheck::Kind;
  const std::optional<ray::Dashboard> dashboard = find_dashboard(state);
  if (!dashboard) {
    return {Kind::kUnreachable, fmt::format("the head pod of RayCluster {} has no address", state.status.cluster_name)};
  }
  JobCheck out;
  out.request = ray::get_job(*dashboard, state.status.job_id, state.options.poll);
  // Another request whenever the facts by which an answer is judged have changed.
  out.request->attempt = submissions * 4 + (submitter.done() ? 2 : 0) + (state.status.job.empty() ? 0 : 1);
  const plan::WorkloadAnswer* answer = state.seen.answers.to(*out.request);
  if (answer == nullptr) return out;
  std::optional<ray::JobInfo> info = ray::job_info(*answer);
  if (answer->status == 404) {
    out.kind = Kind::kNotFound;
  } else if (info && !info->status.empty()) {
    out.kind = Kind::kFound;
    out.info = *std::move(info);
  } else {
    out.kind = Kind::kUnreachable;
    out.problem = info ? "the dashboard reports a status that Ray does not have" : ray::explain(*answer);
  }
  return out;
}

void record(const ray::JobInfo& info, Timestamp now, RayJobStatus& status) {
  status.check_failing_since.reset();
  if (rank(info.status) <= rank(status.job)) return;
  status.job = info.status;
  status.message = info.message;
  if (info.start_time) status.job_started = time_of(*info.start_time, now);
  if (ray::is_terminal(info.status)) status.job_ended = info.end_time ? time_of(*info.end_time, now) : now;
}

}  // namespace tpuslice::rayjob
