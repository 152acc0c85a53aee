#include "tests/bench/restart_watch.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/labels.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

/// The restart attempt that a Job or pod is of; -1 without.
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

/// It cannot start before the slice controller lets it go.
bool is_gated(std::string_view pod) {
  return pod.find(fmt::format(R"("schedulingGates":[{{"name":"{}"}}])", tpu::kSliceGate)) != std::string_view::npos;
}

/// The name without what the Job controller makes up: each place of a slice has one.
std::string_view place_of(std::string_view pod) { return pod.substr(0, pod.rfind('-')); }

}  // namespace

std::string_view name_of(RestartStep step) {
  switch (step) {
    case RestartStep::kFailureTarget:
      return "a Job is bound to fail (FailureTarget)";
    case RestartStep::kJobFailed:
      return "that Job has failed (Failed)";
    case RestartStep::kCounted:
      return "the JobSet's status counts the restart";
    case RestartStep::kJobsMarked:
      return "all old Jobs are being deleted";
    case RestartStep::kPodsMarked:
      return "all old pods are being deleted";
    case RestartStep::kPodsGone:
      return "the last old pod is gone";
    case RestartStep::kJobsGone:
      return "the last old Job is gone";
    case RestartStep::kJobsMade:
      return "all new Jobs are there";
    case RestartStep::kFirstPod:
      return "the first new pod is there";
    case RestartStep::kPodsMade:
      return "all new pods are there";
    case RestartStep::kPodsDoubled:
      return "a place had two pods that may start";
  }
  return "";
}

Result<std::unique_ptr<RestartWatch>> RestartWatch::start(const client::ClientConfig& config, RestartExtent extent) {
  std::unique_ptr<RestartWatch> watch(new RestartWatch(std::move(extent)));
  using Take = void (RestartWatch::*)(std::string_view, Instant);
  const auto open = [&](const ResourceType& type, Take take) -> Status {
    ASSIGN_OR_RETURN(
        auto stream,
        WatchStream::start(config, {.path = type.path(watch->extent_.namespace_name),
                                    .resource_version = watch->extent_.resource_version,
                                    .on_event = [self = watch.get(), take](std::string_view line,
                                                                           Instant now) { (self->*take)(line, now); },
                                    .on_end = [] {}}));
    watch->streams_.push_back(std::move(stream));
    return {};
  };
  RETURN_IF_ERROR(open(kPods, &RestartWatch::take_pod));
  RETURN_IF_ERROR(open(kJobs, &RestartWatch::take_job));
  RETURN_IF_ERROR(open(jobset::kJobSets, &RestartWatch::take_jobset));
  return watch;
}

RestartWatch::RestartWatch(RestartExtent extent) : extent_(std::move(extent)) {
  const auto expect = [&](RestartStep step, std::size_t count) {
    seen_[static_cast<std::size_t>(step)].expected = count;
  };
  for (const RestartStep step : {RestartStep::kJobsMarked, RestartStep::kJobsGone, RestartStep::kJobsMade}) {
    expect(step, extent_.jobs);
  }
  for (const RestartStep step : {RestartStep::kPodsMarked, RestartStep::kPodsGone, RestartStep::kPodsMade}) {
    expect(step, extent_.pods);
  }
}

void RestartWatch::take_pod(std::string_view line, Instant now) {
  const std::string_view name = first_string(line, "name");
  const int attempt = attempt_of(line);
  const MutexLock lock(mutex_);
  if (attempt > extent_.attempt) {
    if (!is_event(line, "ADDED")) return;
    if (!is_gated(line) && !places_.contains(place_of(name))) note(RestartStep::kPodsDoubled, name, now);
    note(RestartStep::kFirstPod, name, now);
    return note(RestartStep::kPodsMade, name, now);
  }
  const bool gone = is_event(line, "DELETED");
  if (gone || !first_string(line, "deletionTimestamp").empty()) note(RestartStep::kPodsMarked, name, now);
  if (!gone) return;
  places_.emplace(place_of(name));
  note(RestartStep::kPodsGone, name, now);
}

void RestartWatch::take_job(std::string_view line, Instant now) {
  const std::string_view name = first_string(line, "name");
  const int attempt = attempt_of(line);
  const MutexLock lock(mutex_);
  if (attempt > extent_.attempt) {
    if (is_event(line, "ADDED")) note(RestartStep::kJobsMade, name, now);
    return;
  }
  if (has_condition(line, "FailureTarget")) note(RestartStep::kFailureTarget, name, now);
  if (has_condition(line, "Failed")) note(RestartStep::kJobFailed, name, now);
  const bool gone = is_event(line, "DELETED");
  if (gone || !first_string(line, "deletionTimestamp").empty()) note(RestartStep::kJobsMarked, name, now);
  if (gone) note(RestartStep::kJobsGone, name, now);
}

void RestartWatch::take_jobset(std::string_view line, Instant now) {
  const std::string counted = fmt::format(R"("restarts":{},)", extent_.attempt + 1);
  if (line.find(counted) == std::string_view::npos) return;
  const MutexLock lock(mutex_);
  note(RestartStep::kCounted, "jobset", now);
}

void RestartWatch::note(RestartStep step, std::string_view name, Instant now) {
  Seen& seen = seen_[static_cast<std::size_t>(step)];
  if (seen.names.size() >= seen.expected || !seen.names.emplace(name).second) return;
  seen.last = now;
  if (seen.names.size() == seen.expected) changed_.notify_all();
}

Result<Instant> RestartWatch::wait(RestartStep step, Duration limit) const {
  const MutexLock lock(mutex_);
  const Seen& seen = of(step);
  changed_.wait_for(mutex_, limit, [&] { return seen.names.size() >= seen.expected; });
  if (seen.names.size() >= seen.expected) return seen.last;
  return Error::of(ErrorCode::kTimeout, "{}: {}: {} of {} were seen in time", extent_.namespace_name, name_of(step),
                   seen.names.size(), seen.expected);
}

std::optional<Instant> RestartWatch::at(RestartStep step) const {
  const MutexLock lock(mutex_);
  const Seen& seen = of(step);
  return seen.names.size() < seen.expected ? std::nullopt : std::optional(seen.last);
}

}  // namespace tpuslice::bench
