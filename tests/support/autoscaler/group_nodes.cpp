#include "tests/support/autoscaler/group_nodes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "api/base/mutex.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kToBeDeleted = "ToBeDeletedByClusterAutoscaler";
constexpr const char* kTpuResource = "google.com/tpu";
constexpr const char* kLostLabel = "sim.tpuslice.dev/lost";
/// Beyond those of the other node pools: it determines the addresses.
constexpr int kFirstIndex = 20'000;
constexpr int kMaxNodes = 25'000;

Json not_ready(const std::string& now) {
  return {{"type", "Ready"},
          {"status", "False"},
          {"reason", "KubeletNotReady"},
          {"message", "container runtime network not ready"},
          {"lastHeartbeatTime", now},
          {"lastTransitionTime", now}};
}

Json registered_node(const GroupNode& node, int index, const std::string& now) {
  Json json = sim::make_node(node.group->pool, node.host, index, now);
  json["metadata"]["annotations"][sim::kNodeReadyAnnotation] = "false";
  json["metadata"]["labels"][kLostLabel] = "true";
  json["status"]["conditions"] = Json::array({not_ready(now)});
  for (const char* field : {"capacity", "allocatable"}) {
    if (json["status"][field].contains(kTpuResource)) json["status"][field][kTpuResource] = "0";
  }
  return json;
}

Status unless(const Status& status, ErrorCode allowed) {
  return !status && status.error().code() == allowed ? Status() : status;
}

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

}  // namespace

Status GroupNodes::for_each(const std::vector<GroupNode>& nodes, const std::function<Status(const GroupNode&)>& write) {
  if (writers_ <= 1 || nodes.size() <= 1) {
    for (const GroupNode& node : nodes) RETURN_IF_ERROR(write(node));
    return {};
  }
  std::atomic<std::size_t> next = 0;
  Mutex mutex;
  std::optional<Error> first_error;
  const auto work = [&] {
    for (std::size_t i = next++; i < nodes.size(); i = next++) {
      const Status status = write(nodes[i]);
      if (status) continue;
      const MutexLock lock(mutex);
      if (!first_error) first_error = status.error();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(nodes.size(), static_cast<std::size_t>(writers_)); ++i) {
      threads.emplace_back(work);
    }
  }
  return first_error ? Status(*first_error) : Status();
}

Status GroupNodes::register_nodes(const std::vector<GroupNode>& nodes) {
  const std::string now = format_rfc3339(clock_.wall());
  const int first = index_;
  index_ = (index_ + static_cast<int>(nodes.size())) % kMaxNodes;
  return for_each(nodes, [&](const GroupNode& node) {
    const int index = kFirstIndex + (first + static_cast<int>(&node - nodes.data())) % kMaxNodes;
    return unless(status_of(writer_.create(kNodes, Object(registered_node(node, index, now)), {}, {})),
                  ErrorCode::kAlreadyExists);
  });
}

Status GroupNodes::start_kubelets(const std::vector<GroupNode>& nodes) {
  const Json patch = {
      {"metadata", {{"annotations", {{sim::kNodeReadyAnnotation, nullptr}}}, {"labels", {{kLostLabel, nullptr}}}}}};
  return for_each(nodes, [&](const GroupNode& node) {
    return unless(status_of(writer_.patch(kNodes, {{}, node.name()}, client::PatchType::kMerge, patch, {}, {})),
                  ErrorCode::kNotFound);
  });
}

Status GroupNodes::add_chips(const std::vector<GroupNode>& nodes) {
  return for_each(nodes, [&](const GroupNode& node) -> Status {
    if (node.group->pool.chips_per_host == 0) return {};
    const Json chips = {{kTpuResource, std::to_string(node.group->pool.chips_per_host)}};
    const Json status = {{"capacity", chips}, {"allocatable", chips}};
    return unless(status_of(writer_.update_status(kNodes, {{}, node.name()}, status, {}, {})), ErrorCode::kNotFound);
  });
}

Status GroupNodes::taint(const std::vector<GroupNode>& nodes, bool tainted) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
  return for_each(nodes, [&](const GroupNode& node) -> Status {
    const auto found = reader_.get(kNodes, {{}, node.name()}, {});
    if (!found) return unless(status_of(found), ErrorCode::kNotFound);
    Json taints = Json::array();
    for (const Json& taint : array_at(found->json(), {"spec", "taints"})) {
      if (string_at(taint, {"key"}) != kToBeDeleted) taints.push_back(taint);
    }
    if (tainted) {
      taints.push_back({{"key", kToBeDeleted}, {"value", std::to_string(seconds)}, {"effect", "NoSchedule"}});
    }
    return unless(
        status_of(writer_.patch(kNodes, found->key(), client::PatchType::kMerge, {{"spec", {{"taints", taints}}}},
                                {.resource_version = found->resource_version()}, {})),
        ErrorCode::kNotFound);
  });
}

Status GroupNodes::remove(const std::vector<GroupNode>& nodes) {
  return for_each(nodes, [&](const GroupNode& node) {
    return unless(writer_.remove(kNodes, {{}, node.name()}, {}, {}), ErrorCode::kNotFound);
  });
}

}  // namespace tpuslice::testing
