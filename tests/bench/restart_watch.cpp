#include "tests/bench/restart_watch.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

/// The restart attempt of a Job or pod; -1 without a label.
int attempt_of(std::string_view object) {
  const std::string_view text = first_string(object, jobset::kRestartAttempt);
  int attempt = -1;
  std::from_chars(text.data(), text.data() + text.size(), attempt);
  return attempt;
}

bool has_condition(std::string_view object, std::string_view type) {
  return object.find(fmt::format(R"("type":"{}","status":"True")", type)) != std::string_view::npos;
}

bool is_event(std::string_view line, std::string_view type) {
  return line.starts_with(fmt::format(R"({{"type":"{}")", type));
}

/// The pod has the scheduling gate.
bool is_gated(std::string_view pod) {
  return pod.find(fmt::format(R"("schedulingGates":[{{"name":"{}"}}])", tpu::kSliceGate)) != std::string_view::npos;
}

/// The name without the random suffix of the Job controller: unique for each host of a slice.
std::string_view host_of(std::string_view pod) { return pod.substr(0, pod.rfind('-')); }

}  // namespace

std::string_view name_of(RestartStep step) {
  switch (step) {
    case RestartStep::kFailureTarget:
      return "a Job has the condition FailureTarget";
    case RestartStep::kJobFailed:
      return "that Job has the condition Failed";
    case RestartStep::kCounted:
      return "the JobSet's status counts the restart";
    case RestartStep::kJobsTerminating:
      return "all old Jobs are terminating";
    case RestartStep::kPodsTerminating:
      return "all old pods are terminating";
    case RestartStep::kPodsDeleted:
      return "all old pods are deleted";
    case RestartStep::kJobsDeleted:
      return "all old Jobs are deleted";
    case RestartStep::kJobsCreated:
      return "all new Jobs are created";
    case RestartStep::kFirstPod:
      return "the first new pod is created";
    case RestartStep::kPodsCreated:
      return "all new pods are created";
    case RestartStep::kPodsDuplicated:
      return "a host had two ungated pods";
  }
  return "";
}

Result<std::unique_ptr<RestartWatch>> RestartWatch::start(const client::ClientConfig& config, RestartExtent extent) {
  std::unique_ptr<RestartWatch> watch(new RestartWatch(std::move(extent)));
  using OnEvent = void (RestartWatch::*)(std::string_view, Instant);
  const auto open = [&](const ResourceType& type, OnEvent on_event) -> Status {
    ASSIGN_OR_RETURN(auto stream,
                     WatchStream::start(
                         config, {.path = type.path(watch->extent_.namespace_name),
                                  .resource_version = watch->extent_.resource_version,
                                  .on_event = [self = watch.get(), on_event](
                                                  std::string_view line, Instant now) { (self->*on_event)(line, now); },
                                  .on_end = [] {}}));
    watch->streams_.push_back(std::move(stream));
    return {};
  };
  RETURN_IF_ERROR(open(kPods, &RestartWatch::on_pod));
  RETURN_IF_ERROR(open(kJobs, &RestartWatch::on_job));
  RETURN_IF_ERROR(open(jobset::kJobSets, &RestartWatch::on_jobset));
  return watch;
}

RestartWatch::RestartWatch(RestartExtent extent) : extent_(std::move(extent)) {
  const auto expect = [&](RestartStep step, std::size_t count) {
    progress_[static_cast<std::size_t>(step)].expected = count;
  };
  for (const RestartStep step : {RestartStep::kJobsTerminating, RestartStep::kJobsDeleted, RestartStep::kJobsCreated}) {
    expect(step, extent_.jobs);
  }
  for (const RestartStep step : {RestartStep::kPodsTerminating, RestartStep::kPodsDeleted, RestartStep::kPodsCreated}) {
    expect(step, extent_.pods);
  }
}

void RestartWatch::on_pod(std::string_view line, Instant now) {
  const std::string_view name = first_string(line, "name");
  const int attempt = attempt_of(line);
  const MutexLock lock(mutex_);
  if (attempt > extent_.attempt) {
    if (!is_event(line, "ADDED")) return;
    if (!is_gated(line) && !hosts_.contains(host_of(name))) record(RestartStep::kPodsDuplicated, name, now);
    record(RestartStep::kFirstPod, name, now);
    return record(RestartStep::kPodsCreated, name, now);
  }
  const bool deleted = is_event(line, "DELETED");
  if (deleted || !first_string(line, "deletionTimestamp").empty()) record(RestartStep::kPodsTerminating, name, now);
  if (!deleted) return;
  hosts_.emplace(host_of(name));
  record(RestartStep::kPodsDeleted, name, now);
}

void RestartWatch::on_job(std::string_view line, Instant now) {
  const std::string_view name = first_string(line, "name");
  const int attempt = attempt_of(line);
  const MutexLock lock(mutex_);
  if (attempt > extent_.attempt) {
    if (is_event(line, "ADDED")) record(RestartStep::kJobsCreated, name, now);
    return;
  }
  if (has_condition(line, "FailureTarget")) record(RestartStep::kFailureTarget, name, now);
  if (has_condition(line, "Failed")) record(RestartStep::kJobFailed, name, now);
  const bool deleted = is_event(line, "DELETED");
  if (deleted || !first_string(line, "deletionTimestamp").empty()) record(RestartStep::kJobsTerminating, name, now);
  if (deleted) record(RestartStep::kJobsDeleted, name, now);
}

void RestartWatch::on_jobset(std::string_view line, Instant now) {
  const std::string counted = fmt::format(R"("restarts":{},)", extent_.attempt + 1);
  if (line.find(counted) == std::string_view::npos) return;
  const MutexLock lock(mutex_);
  record(RestartStep::kCounted, "jobset", now);
}

void RestartWatch::record(RestartStep step, std::string_view name, Instant now) {
  Progress& progress = progress_[static_cast<std::size_t>(step)];
  if (progress.names.size() >= progress.expected || !progress.names.emplace(name).second) return;
  progress.last = now;
  if (progress.names.size() == progress.expected) changed_.notify_all();
}

Result<Instant> RestartWatch::wait(RestartStep step, Duration limit) const {
  const MutexLock lock(mutex_);
  const Progress& progress = of(step);
  changed_.wait_for(mutex_, limit, [&] { return progress.names.size() >= progress.expected; });
  if (progress.names.size() >= progress.expected) return progress.last;
  return Error::of(ErrorCode::kTimeout, "{}: time-out: {}: {} of {} objects", extent_.namespace_name, name_of(step),
                   progress.names.size(), progress.expected);
}

std::optional<Instant> RestartWatch::at(RestartStep step) const {
  const MutexLock lock(mutex_);
  const Progress& progress = of(step);
  return progress.names.size() < progress.expected ? std::nullopt : std::optional(progress.last);
}

}  // namespace tpuslice::bench
