#include "tests/nodes/recovery/recovery_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/resource_type.h"

namespace tpuslice::bench {
namespace {

/// A container that is restarted in place makes a slice look whole until its controller replaces the pods.
constexpr Duration kSettled = std::chrono::seconds(5);

bool has_chips(const Json& pod) {
  return std::ranges::any_of(array_at(pod, {"spec", "containers"}), [](const Json& container) {
    return find_set(container, {"resources", "limits", "google.com/tpu"}) != nullptr;
  });
}

bool is_ready(const Json& object) {
  return std::ranges::any_of(array_at(object, {"status", "conditions"}), [](const Json& condition) {
    return string_at(condition, {"type"}) == "Ready" && string_at(condition, {"status"}) == "True";
  });
}

/// Sets the time since which a condition holds.
void note(std::optional<Instant>& since, bool holds, Instant now) {
  if (!holds) since.reset();
  if (holds && !since) since = now;
}

void update_containers(HostPod& pod, const Json& object, Instant now) {
  std::size_t running = 0;
  std::int64_t restarts = 0;
  bool ended = false;
  for (const Json& status : array_at(object, {"status", "containerStatuses"})) {
    if (find_set(status, {"state", "running"}) != nullptr) ++running;
    if (find_set(status, {"state", "terminated"}) != nullptr) ended = true;
    restarts += int_at(status, {"restartCount"});
  }
  const bool restarted = restarts > pod.restarts;
  pod.restarts = std::max(pod.restarts, restarts);
  if (restarted) pod.started.reset();
  if (restarted) pod.ready.reset();
  if (!pod.broken && (pod.failed || ended || restarted)) pod.broken = now;
  note(pod.started, running > 0 && running == array_at(object, {"spec", "containers"}).size(), now);
}

void update(HostPod& pod, const Json& object, Instant now) {
  pod.node = string_at(object, {"spec", "nodeName"});
  pod.failed = string_at(object, {"status", "phase"}) == "Failed";
  update_containers(pod, object, now);
  note(pod.terminating, !string_at(object, {"metadata", "deletionTimestamp"}).empty(), now);
  note(pod.placed, array_at(object, {"spec", "schedulingGates"}).empty(), now);
  note(pod.bound, !pod.node.empty(), now);
  note(pod.ready, is_ready(object), now);
}

std::string_view state_of(const HostPod& pod) {
  if (pod.terminating) return "terminating";
  if (pod.failed) return "Failed";
  if (pod.ready) return "Ready";
  if (pod.started) return "running";
  if (pod.bound) return "bound";
  return pod.placed ? "placed" : "gated";
}

}  // namespace

Result<std::unique_ptr<RecoveryWatch>> RecoveryWatch::start(const client::ClientConfig& config, RecoveryExtent extent) {
  std::unique_ptr<RecoveryWatch> watch(new RecoveryWatch(std::move(extent)));
  using OnEvent = void (RecoveryWatch::*)(const Json&, Instant);
  const auto open = [&](const std::string& path, OnEvent on_event) -> Status {
    ASSIGN_OR_RETURN(auto stream, WatchStream::start(
                                      config, {.path = path,
                                               .resource_version = watch->extent_.resource_version,
                                               .on_event =
                                                   [self = watch.get(), on_event](std::string_view line, Instant now) {
                                                     const auto event = parse_json(line);
                                                     if (event && event->contains("object")) {
                                                       (self->*on_event)(*event, now);
                                                     }
                                                   },
                                               .on_end = [self = watch.get()] { self->on_end(); }}));
    watch->streams_.push_back(std::move(stream));
    return {};
  };
  RETURN_IF_ERROR(open(kPods.path(watch->extent_.namespace_name), &RecoveryWatch::on_pod));
  RETURN_IF_ERROR(open(kNodes.path(""), &RecoveryWatch::on_node));
  return watch;
}

void RecoveryWatch::on_pod(const Json& event, Instant now) {
  const Json& object = event.at("object");
  if (!has_chips(object)) return;
  const std::string uid = string_at(object, {"metadata", "uid"});
  const MutexLock lock(mutex_);
  const auto [found, is_new] = pods_.try_emplace(uid);
  HostPod& pod = found->second;
  if (is_new) {
    pod.name = string_at(object, {"metadata", "name"});
    pod.uid = uid;
    pod.created = now;
  }
  update(pod, object, now);
  note(pod.gone, string_at(event, {"type"}) == "DELETED", now);
  note(whole_since_, is_whole(), now);
  changed_.notify_all();
}

void RecoveryWatch::on_node(const Json& event, Instant now) {
  const Json& object = event.at("object");
  const MutexLock lock(mutex_);
  if (node_lost_ || string_at(object, {"metadata", "name"}) != victim_.node || is_ready(object)) return;
  node_lost_ = now;
  changed_.notify_all();
}

void RecoveryWatch::on_end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool RecoveryWatch::is_whole() const {
  const auto victim = pods_.find(victim_.uid);
  if (victim != pods_.end() && victim->second.live() && !victim->second.broken) return false;
  std::size_t live = 0;
  for (const auto& [uid, pod] : pods_) {
    if (!pod.live()) continue;
    if (!pod.ready) return false;
    ++live;
  }
  return live == extent_.hosts;
}

Status RecoveryWatch::wait_whole(Duration limit) const {
  const Instant until = clock_.now() + limit;
  const MutexLock lock(mutex_);
  for (Instant now = clock_.now(); now < until && !ended_; now = clock_.now()) {
    const std::optional<Instant> before = whole_since_;
    if (before && now - *before >= kSettled) return {};
    changed_.wait_for(mutex_, before ? *before + kSettled - now : until - now,
                      [&]() TPUSLICE_REQUIRES(mutex_) { return ended_ || whole_since_ != before; });
  }
  return time_out();
}

Status RecoveryWatch::wait_noticed(Duration limit) const {
  const MutexLock lock(mutex_);
  const auto noticed = [&]() TPUSLICE_REQUIRES(mutex_) {
    return measure()[static_cast<std::size_t>(Phase::kNoticed)].has_value();
  };
  changed_.wait_for(mutex_, limit, [&]() TPUSLICE_REQUIRES(mutex_) { return ended_ || noticed(); });
  return noticed() ? Status() : time_out();
}

Status RecoveryWatch::wait_gone(Duration limit) const {
  const MutexLock lock(mutex_);
  const auto gone = [&]() TPUSLICE_REQUIRES(mutex_) {
    return std::ranges::all_of(pods_, [](const auto& entry) { return entry.second.gone.has_value(); });
  };
  changed_.wait_for(mutex_, limit, [&]() TPUSLICE_REQUIRES(mutex_) { return ended_ || gone(); });
  return gone() ? Status() : time_out();
}

Error RecoveryWatch::time_out() const {
  if (ended_) return Error::unavailable("a watch has ended");
  std::string pods;
  for (const auto& [uid, pod] : pods_) {
    if (!pod.gone) pods += fmt::format("{}{} {}", pods.empty() ? "" : ", ", pod.name, state_of(pod));
  }
  return Error::of(ErrorCode::kTimeout, "time-out: {} hosts are expected; pods: {}", extent_.hosts,
                   pods.empty() ? "none" : pods);
}

std::vector<HostPod> RecoveryWatch::hosts() const {
  std::vector<HostPod> out;
  const MutexLock lock(mutex_);
  for (const auto& [uid, pod] : pods_) {
    if (pod.live()) out.push_back(pod);
  }
  std::ranges::sort(out, {}, &HostPod::name);
  return out;
}

void RecoveryWatch::begin(const HostPod& victim) {
  const MutexLock lock(mutex_);
  std::erase_if(pods_, [](const auto& entry) { return entry.second.gone.has_value(); });
  old_.clear();
  for (const auto& [uid, pod] : pods_) old_.insert(uid);
  victim_ = victim;
  node_lost_.reset();
  whole_since_.reset();
  fault_ = clock_.now();
}

Recovery RecoveryWatch::recovery() const {
  const MutexLock lock(mutex_);
  return measure();
}

Recovery RecoveryWatch::measure() const {
  Recovery out;
  // A phase ends with the last pod; the first is over with the first sign.
  const auto put = [&](Phase phase, const std::optional<Instant>& time) TPUSLICE_REQUIRES(mutex_) {
    if (!time || *time < fault_) return;
    const double seconds = std::chrono::duration<double>(*time - fault_).count();
    std::optional<double>& end = out[static_cast<std::size_t>(phase)];
    if (!end) end = seconds;
    end = phase == Phase::kNoticed ? std::min(*end, seconds) : std::max(*end, seconds);
  };
  put(Phase::kNoticed, node_lost_);
  for (const auto& [uid, pod] : pods_) {
    if (old_.contains(uid)) {
      const std::optional<Instant> deleted = pod.terminating ? pod.terminating : pod.gone;
      put(Phase::kNoticed, pod.broken);
      put(Phase::kNoticed, deleted);
      if (uid != victim_.uid) put(Phase::kDeleted, deleted);
    }
    put(Phase::kGone, pod.gone);
    if (!pod.live()) continue;
    put(Phase::kCreated, pod.created);
    put(Phase::kPlaced, pod.placed);
    put(Phase::kBound, pod.bound);
    put(Phase::kStarted, pod.started);
    put(Phase::kReady, pod.ready);
  }
  return out;
}

}  // namespace tpuslice::bench
