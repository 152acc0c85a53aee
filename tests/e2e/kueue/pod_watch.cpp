#include "tests/e2e/kueue/pod_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kKueuePrefix = "kueue.x-k8s.io/";

}  // namespace

std::string pool_of_node(const std::string& node) { return node.substr(0, node.rfind('-')); }

PodWatch::PodWatch(client::Reader& reader, std::string namespace_name)
    : reader_(reader),
      namespace_(std::move(namespace_name)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

PodWatch::~PodWatch() = default;

std::vector<std::string> PodWatch::violations() const {
  const MutexLock lock(mutex_);
  return violations_;
}

std::size_t PodWatch::held_by_both(std::string_view gate) const {
  const MutexLock lock(mutex_);
  const auto found = held_by_both_.find(std::string(gate));
  return found == held_by_both_.end() ? 0 : found->second.size();
}

std::size_t PodWatch::placed_by_kueue() const {
  const MutexLock lock(mutex_);
  return placed_by_kueue_.size();
}

void PodWatch::run(const std::stop_token& stop) {
  std::string version;
  while (!stop.stop_requested()) {
    if (version.empty()) version = list(stop);
    if (!version.empty()) watch(version, stop);
    tpuslice::pause(50ms, stop);
  }
}

std::string PodWatch::list(const std::stop_token& stop) {
  const auto page = reader_.list(kPods, {.namespace_name = namespace_, .limit = 0}, stop);
  if (!page) return {};
  {
    const MutexLock lock(mutex_);
    pools_.clear();
  }
  for (const std::string& item : page->items) {
    if (const auto pod = parse_json(item)) observe(*pod, false);
  }
  return page->resource_version;
}

void PodWatch::watch(std::string& version, const std::stop_token& stop) {
  const auto stream = reader_.watch(kPods, {.namespace_name = namespace_, .resource_version = version}, stop);
  if (!stream) {
    version.clear();
    return;
  }
  while (true) {
    const auto next = (*stream)->next(1s, stop);
    if (!next) return;
    if (!*next) continue;
    const client::WatchEvent& event = **next;
    if (event.error) {
      version.clear();
      return;
    }
    if (event.type != client::WatchEventType::kBookmark) {
      if (const auto pod = parse_json(event.object)) observe(*pod, event.type == client::WatchEventType::kDeleted);
    }
    version = event.resource_version;
  }
}

void PodWatch::observe(const Json& pod, bool deleted) {
  const std::string hosts = string_at(pod, {"metadata", "annotations", tpu::kSliceHosts});
  if (hosts.empty() || hosts == "1") return;
  const std::string uid = string_at(pod, {"metadata", "uid"});
  const MutexLock lock(mutex_);
  if (!deleted) observe_gates(pod, uid);
  observe_node(pod, uid, deleted);
}

void PodWatch::observe_gates(const Json& pod, const std::string& uid) {
  bool ours = false;
  std::vector<std::string> of_kueue;  // Pods of LeaderWorkerSets have two.
  for (const Json& gate : array_at(pod, {"spec", "schedulingGates"})) {
    const std::string name = string_at(gate, {"name"});
    ours = ours || name == tpu::kSliceGate;
    if (name.starts_with(kKueuePrefix)) of_kueue.push_back(name);
  }
  if (!ours && !of_kueue.empty()) {
    violations_.push_back(
        fmt::format("pod {} was released while {} is left", string_at(pod, {"metadata", "name"}), of_kueue.front()));
  }
  if (!ours) return;
  for (const std::string& gate : of_kueue) held_by_both_[gate].insert(uid);
  if (of_kueue.empty() && !string_at(pod, {"spec", "nodeSelector", tpu::kHostnameLabel}).empty()) {
    placed_by_kueue_.insert(uid);
  }
}

void PodWatch::observe_node(const Json& pod, const std::string& uid, bool deleted) {
  const std::string slice = string_at(pod, {"metadata", "labels", tpu::kSlice});
  const std::string phase = string_at(pod, {"status", "phase"});
  auto& pools = pools_[slice];
  if (deleted || phase == "Succeeded" || phase == "Failed" || find_path(pod, {"metadata", "deletionTimestamp"})) {
    pools.erase(uid);
    return;
  }
  const std::string node = string_at(pod, {"spec", "nodeName"});
  if (node.empty()) return;
  const auto [entry, added] = pools.emplace(uid, pool_of_node(node));
  if (!added) return;
  for (const auto& [other, pool] : pools) {
    if (pool == entry->second) continue;
    violations_.push_back(fmt::format("slice {} is split: pod {} is in {}, others are in {}", slice,
                                      string_at(pod, {"metadata", "name"}), entry->second, pool));
  }
}

}  // namespace tpuslice::testing
