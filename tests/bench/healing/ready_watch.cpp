#include "tests/bench/healing/ready_watch.h"

#include <algorithm>
#include <utility>

namespace tpuslice::bench {
namespace {

bool is_ready(const Json& pod) {
  if (!string_at(pod, {"metadata", "deletionTimestamp"}).empty()) return false;
  return std::ranges::any_of(array_at(pod, {"status", "conditions"}), [](const Json& condition) {
    return string_at(condition, {"type"}) == "Ready" && string_at(condition, {"status"}) == "True";
  });
}

}  // namespace

Result<std::unique_ptr<ReadyWatch>> ReadyWatch::start(const client::ClientConfig& config,
                                                      const std::string& namespace_name,
                                                      const std::string& resource_version) {
  std::unique_ptr<ReadyWatch> watch(new ReadyWatch());
  ReadyWatch* const self = watch.get();
  ASSIGN_OR_RETURN(
      watch->stream_,
      WatchStream::start(config, {.path = "/api/v1/namespaces/" + namespace_name + "/pods",
                                  .resource_version = resource_version,
                                  .on_event = [self](std::string_view line, Instant now) { self->on_event(line, now); },
                                  .on_end = [self] { self->on_end(); }}));
  return watch;
}

void ReadyWatch::on_event(std::string_view line, Instant now) {
  const auto event = parse_json(line);
  if (!event || !event->contains("object")) return;
  const Json& object = event->at("object");
  const std::string uid = string_at(object, {"metadata", "uid"});
  const MutexLock lock(mutex_);
  last_event_ = now;
  if (string_at(*event, {"type"}) == "DELETED") {
    pods_.erase(uid);
  } else {
    pods_[uid] = {string_at(object, {"metadata", "name"}), string_map_at(object, {"metadata", "labels"}),
                  is_ready(object)};
  }
  changed_.notify_all();
}

void ReadyWatch::on_end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

std::size_t ReadyWatch::count_ready() const {
  return static_cast<std::size_t>(std::ranges::count_if(pods_, [](const auto& entry) { return entry.second.ready; }));
}

Result<Instant> ReadyWatch::wait_ready(std::size_t count, const std::string& gone, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto done = [&]() TPUSLICE_REQUIRES(mutex_) {
    return pods_.size() == count && !pods_.contains(gone) && count_ready() == count;
  };
  changed_.wait_for(mutex_, limit, [&]() TPUSLICE_REQUIRES(mutex_) { return ended_ || done(); });
  if (done()) return last_event_;
  if (ended_) return Error::unavailable("the watch of pods has ended");
  return Error::of(ErrorCode::kTimeout, "time-out: {} pods exist and {} are Ready, expected {}", pods_.size(),
                   count_ready(), count);
}

Status ReadyWatch::wait_deleted(const std::vector<std::string>& names, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto done = [&]() TPUSLICE_REQUIRES(mutex_) {
    return std::ranges::none_of(
        pods_, [&](const auto& entry) { return std::ranges::find(names, entry.second.name) != names.end(); });
  };
  changed_.wait_for(mutex_, limit, [&]() TPUSLICE_REQUIRES(mutex_) { return ended_ || done(); });
  if (done()) return {};
  if (ended_) return Error::unavailable("the watch of pods has ended");
  return Error::of(ErrorCode::kTimeout, "time-out: pods were not deleted");
}

std::vector<ReadyPod> ReadyWatch::ready_pods() const {
  std::vector<ReadyPod> out;
  const MutexLock lock(mutex_);
  for (const auto& [uid, pod] : pods_) {
    if (pod.ready) out.push_back({pod.name, uid, pod.labels});
  }
  std::ranges::sort(out, {}, &ReadyPod::name);
  return out;
}

}  // namespace tpuslice::bench
