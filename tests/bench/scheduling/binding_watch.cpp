#include "tests/bench/scheduling/binding_watch.h"

#include <utility>

namespace tpuslice::bench {
namespace {

bool settled(const PodFate& pod) { return !pod.node.empty() || pod.leaving; }

}  // namespace

Result<std::unique_ptr<BindingWatch>> BindingWatch::start(const client::ClientConfig& config,
                                                          const std::string& resource_version) {
  std::unique_ptr<BindingWatch> watch(new BindingWatch());
  BindingWatch* const self = watch.get();
  ASSIGN_OR_RETURN(
      watch->stream_,
      WatchStream::start(config, {.path = "/api/v1/pods",
                                  .resource_version = resource_version,
                                  .on_event = [self](std::string_view line, Instant now) { self->take(line, now); },
                                  .on_end = [self] { self->end(); }}));
  return watch;
}

void BindingWatch::take(std::string_view line, Instant now) {
  const std::string name(first_string(line, "name"));
  const std::string where(first_string(line, "namespace"));
  const std::string_view node = first_string(line, "nodeName");
  const bool gone = line.starts_with(R"({"type":"DELETED")");
  const bool leaving = gone || !first_string(line, "deletionTimestamp").empty();
  if (name.empty() || where.empty()) return;
  const MutexLock lock(mutex_);
  Seen& seen = seen_[where];
  PodFate& pod = seen.pods[name];
  const bool was_settled = settled(pod);
  if (pod.node.empty() && !node.empty()) {
    pod.node = node;
    pod.bound = now;
  }
  pod.leaving = pod.leaving || leaving;
  if (gone && !pod.gone) {
    pod.gone = true;
    ++seen.gone;
  }
  if (!was_settled && settled(pod)) ++seen.settled;
  changed_.notify_all();
}

void BindingWatch::end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

const BindingWatch::Seen& BindingWatch::seen_in(const std::string& namespace_name) const {
  static const Seen kNothing;
  const auto found = seen_.find(namespace_name);
  return found == seen_.end() ? kNothing : found->second;
}

Result<std::size_t> BindingWatch::wait_settled(const std::string& namespace_name, std::size_t count,
                                               Duration limit) const {
  const MutexLock lock(mutex_);
  changed_.wait_for(mutex_, limit, [&] { return ended_ || seen_in(namespace_name).settled >= count; });
  const std::size_t reached = seen_in(namespace_name).settled;
  if (reached < count && ended_) return Error::unavailable("the watch of pods has ended");
  return reached;
}

Status BindingWatch::wait_gone(const std::string& namespace_name, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto all_gone = [&] {
    const Seen& seen = seen_in(namespace_name);
    return seen.gone == seen.pods.size();
  };
  changed_.wait_for(mutex_, limit, [&] { return ended_ || all_gone(); });
  if (all_gone()) return {};
  if (ended_) return Error::unavailable("the watch of pods has ended");
  const Seen& seen = seen_in(namespace_name);
  return Error::of(ErrorCode::kTimeout, "{}: {} of {} pods were deleted in time", namespace_name, seen.gone,
                   seen.pods.size());
}

std::map<std::string, PodFate> BindingWatch::pods(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  return seen_in(namespace_name).pods;
}

}  // namespace tpuslice::bench
