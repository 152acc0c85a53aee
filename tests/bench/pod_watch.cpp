#include "tests/bench/pod_watch.h"

#include <utility>

namespace tpuslice::bench {

Result<std::unique_ptr<PodWatch>> PodWatch::start(const client::ClientConfig& config,
                                                  const std::string& resource_version) {
  std::unique_ptr<PodWatch> watch(new PodWatch());
  PodWatch* const self = watch.get();
  ASSIGN_OR_RETURN(
      watch->stream_,
      WatchStream::start(config, {.path = "/api/v1/pods",
                                  .resource_version = resource_version,
                                  .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                                  .on_event = [self](std::string_view line, Instant now) { self->on_event(line, now); },
                                  .on_end = [self] { self->on_end(); }}));
  return watch;
}

void PodWatch::on_event(std::string_view line, Instant now) {
  const bool is_added = line.starts_with(R"({"type":"ADDED")");
  const bool is_deleted = line.starts_with(R"({"type":"DELETED")");
  if (!is_added && !is_deleted) return;
  const std::string_view where = first_string(line, "namespace");
  const MutexLock lock(mutex_);
  Observed& observed = observed_[std::string(where)];
  if (is_added) observed.added.push_back(now);
  if (is_deleted) ++observed.deleted;
  changed_.notify_all();
}

void PodWatch::on_end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::size_t PodWatch::added(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  const auto found = observed_.find(namespace_name);
  return found == observed_.end() ? 0 : found->second.added.size();
}

std::size_t PodWatch::deleted(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  const auto found = observed_.find(namespace_name);
  return found == observed_.end() ? 0 : found->second.deleted;
}

Result<Instant> PodWatch::wait_added(const std::string& namespace_name, std::size_t count, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto progress = [&] {
    const auto found = observed_.find(namespace_name);
    return found == observed_.end() ? std::size_t{0} : found->second.added.size();
  };
  changed_.wait_for(mutex_, limit, [&] { return ended_ || progress() >= count; });
  if (progress() >= count) return observed_.at(namespace_name).added[count - 1];
  if (ended_) return Error::unavailable("the watch of pods has ended");
  return Error::of(ErrorCode::kTimeout, "{}: time-out: {} of {} pods were created", namespace_name, progress(), count);
}

Status PodWatch::wait_deleted(const std::string& namespace_name, std::size_t count, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto progress = [&] {
    const auto found = observed_.find(namespace_name);
    return found == observed_.end() ? std::size_t{0} : found->second.deleted;
  };
  changed_.wait_for(mutex_, limit, [&] { return ended_ || progress() >= count; });
  if (progress() >= count) return {};
  if (ended_) return Error::unavailable("the watch of pods has ended");
  return Error::of(ErrorCode::kTimeout, "{}: time-out: {} of {} pods were deleted", namespace_name, progress(), count);
}

}  // namespace tpuslice::bench
