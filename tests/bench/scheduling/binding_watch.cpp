#include "tests/bench/scheduling/binding_watch.h"

#include <utility>

namespace tpuslice::bench {
namespace {

bool settled(const ObservedPod& pod) { return !pod.node.empty() || pod.terminating; }

}  // namespace

Result<std::unique_ptr<BindingWatch>> BindingWatch::start(const client::ClientConfig& config,
                                                          const std::string& resource_version) {
  std::unique_ptr<BindingWatch> watch(new BindingWatch());
  BindingWatch* const self = watch.get();
  ASSIGN_OR_RETURN(
      watch->stream_,
      WatchStream::start(config, {.path = "/api/v1/pods",
                                  .resource_version = resource_version,
                                  .on_event = [self](std::string_view line, Instant now) { self->on_event(line, now); },
                                  .on_end = [self] { self->on_end(); }}));
  return watch;
}

void BindingWatch::on_event(std::string_view line, Instant now) {
  const std::string name(first_string(line, "name"));
  const std::string where(first_string(line, "namespace"));
  const std::string_view node = first_string(line, "nodeName");
  const bool deleted = line.starts_with(R"({"type":"DELETED")");
  const bool terminating = deleted || !first_string(line, "deletionTimestamp").empty();
  if (name.empty() || where.empty()) return;
  const MutexLock lock(mutex_);
  Observed& observed = observed_[where];
  ObservedPod& pod = observed.pods[name];
  const bool was_settled = settled(pod);
  if (pod.node.empty() && !node.empty()) {
    pod.node = node;
    pod.bound = now;
  }
  pod.terminating = pod.terminating || terminating;
  if (deleted && !pod.deleted) {
    pod.deleted = true;
    ++observed.deleted;
  }
  if (!was_settled && settled(pod)) ++observed.settled;
  changed_.notify_all();
}

void BindingWatch::on_end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

const BindingWatch::Observed& BindingWatch::observed_in(const std::string& namespace_name) const {
  static const Observed kNothing;
  const auto found = observed_.find(namespace_name);
  return found == observed_.end() ? kNothing : found->second;
}

Result<std::size_t> BindingWatch::wait_settled(const std::string& namespace_name, std::size_t count,
                                               Duration limit) const {
  const MutexLock lock(mutex_);
  changed_.wait_for(mutex_, limit, [&] { return ended_ || observed_in(namespace_name).settled >= count; });
  const std::size_t reached = observed_in(namespace_name).settled;
  if (reached < count && ended_) return Error::unavailable("the watch of pods has ended");
  return reached;
}

Status BindingWatch::wait_deleted(const std::string& namespace_name, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto all_deleted = [&] {
    const Observed& observed = observed_in(namespace_name);
    return observed.deleted == observed.pods.size();
  };
  changed_.wait_for(mutex_, limit, [&] { return ended_ || all_deleted(); });
  if (all_deleted()) return {};
  if (ended_) return Error::unavailable("the watch of pods has ended");
  const Observed& observed = observed_in(namespace_name);
  return Error::of(ErrorCode::kTimeout, "{}: time-out: {} of {} pods were deleted", namespace_name, observed.deleted,
                   observed.pods.size());
}

std::map<std::string, ObservedPod> BindingWatch::pods(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  return observed_in(namespace_name).pods;
}

}  // namespace tpuslice::bench
