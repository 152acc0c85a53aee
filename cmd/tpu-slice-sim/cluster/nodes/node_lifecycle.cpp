#include "cmd/tpu-slice-sim/cluster/nodes/node_lifecycle.h"

#include <algorithm>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/scheduling_info.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kUnreachable = "node.kubernetes.io/unreachable";
constexpr const char* kUnschedulable = "node.kubernetes.io/unschedulable";

constexpr std::string_view kNodeController = "node-controller";

bool lost(const Json& node) { return string_at(node, {"metadata", "annotations", kNodeReadyAnnotation}) == "false"; }

bool cordoned(const Json& node) {
  const Json* flag = find_path(node, {"spec", "unschedulable"});
  return flag != nullptr && flag->is_boolean() && flag->get<bool>();
}

/// The desired taints of the node; taints of other writers are kept.
Json wanted_taints(const Json& node) {
  Json out = Json::array();
  if (const Json* taints = find_path(node, {"spec", "taints"}); taints != nullptr && taints->is_array()) {
    for (const Json& taint : *taints) {
      const std::string key = string_at(taint, {"key"});
      if (key != kUnreachable && key != kUnschedulable) out.push_back(taint);
    }
  }
  if (cordoned(node)) out.push_back({{"key", kUnschedulable}, {"effect", "NoSchedule"}});
  if (lost(node)) {
    out.push_back({{"key", kUnreachable}, {"effect", "NoSchedule"}});
    out.push_back({{"key", kUnreachable}, {"effect", "NoExecute"}});
  }
  return out;
}

Condition wanted_condition(const Json& node) {
  if (lost(node)) return {"Ready", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."};
  return {"Ready", "True", "KubeletReady", "kubelet is posting ready status"};
}

/// How long the pod tolerates these NoExecute taints; none: without limit.
std::optional<Duration> tolerated_for(const Json& pod, const Taint& taint) {
  std::optional<Duration> least;
  bool matched = false;
  for (const Toleration& toleration : tolerations_of(pod)) {
    if (!tolerates(toleration, taint)) continue;
    matched = true;
    if (!toleration.seconds) continue;
    const Duration wait = std::chrono::seconds(std::max<std::int64_t>(*toleration.seconds, 0));
    least = least ? std::min(*least, wait) : wait;
  }
  return matched ? least : Duration{};
}

}  // namespace

NodeLifecycle::NodeLifecycle(Registry& registry)
    : registry_(registry), feed_(registry.storage(), std::vector<std::string>{"nodes", "pods"}) {}

bool NodeLifecycle::step(Instant now) {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    pods_.clear();
    node_of_.clear();
    due_.clear();
    queue_.clear();
  }
  for (const Change& change : batch.changes) observe(change, now);
  bool wrote = false;
  for (const std::string& name : std::exchange(dirty_, {})) {
    wrote |= sync_node(name);
    plan_evictions(name);
  }
  while (!queue_.empty() && queue_.begin()->first <= now) {
    const ObjectKey key = queue_.begin()->second;
    cancel(key);
    wrote |= evict(key);
  }
  return wrote;
}

std::optional<Instant> NodeLifecycle::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first;
}

void NodeLifecycle::observe(const Change& change, Instant now) {
  if (change.resource == "nodes") {
    const std::string& name = change.key.name;
    dirty_.insert(name);
    std::set<std::string> present;
    if (change.type != ChangeType::kDeleted) {
      for (const Taint& taint : taints_of(*change.object)) {
        if (taint.effect == "NoExecute") present.insert(taint.key);
      }
    }
    std::erase_if(tainted_, [&](const auto& entry) {
      return entry.first.first == name && present.count(entry.first.second) == 0;
    });
    for (const std::string& key : present) tainted_.emplace(std::make_pair(name, key), now);
    return;
  }
  const std::string node =
      change.type == ChangeType::kDeleted ? std::string() : string_at(*change.object, {"spec", "nodeName"});
  const std::string before = std::exchange(node_of_[change.key], node);
  if (!before.empty() && before != node) pods_[before].erase(change.key);
  if (node.empty()) {
    node_of_.erase(change.key);
    cancel(change.key);
  } else if (before != node) {
    pods_[node].insert(change.key);
    dirty_.insert(node);
  }
}

bool NodeLifecycle::sync_node(const std::string& name) {
  const ResourcePtr nodes = registry_.resources().find_id("nodes");
  const ObjectKey key{"", name};
  const JsonPtr node = registry_.storage().get("nodes", key);
  if (node == nullptr) return false;
  bool wrote = false;
  Json status = node->value("status", Json::object());
  const bool new_condition = set_condition(status, wanted_condition(*node), registry_.clock().wall());
  // Without taints before and after, the field stays absent.
  const Json* taints = find_path(*node, {"spec", "taints"});
  const Json wanted = wanted_taints(*node);
  if (wanted != (taints == nullptr ? Json::array() : *taints)) {
    wrote |= registry_
                 .modify(
                     *nodes, key, {},
                     [&](Json& json) -> Status {
                       json["spec"]["taints"] = wanted_taints(json);
                       return {};
                     },
                     as_controller(kNodeController))
                 .ok();
  }
  if (new_condition) {
    wrote |= registry_
                 .modify(
                     *nodes, key, "status",
                     [&](Json& json) -> Status {
                       set_condition(json["status"], wanted_condition(json), registry_.clock().wall());
                       return {};
                     },
                     as_controller(kNodeController))
                 .ok();
  }
  if (lost(*node)) wrote |= mark_pods(name);
  return wrote;
}

bool NodeLifecycle::mark_pods(const std::string& node) {
  const ResourcePtr resource = registry_.resources().find_id("pods");
  bool wrote = false;
  for (const ObjectKey& key : pods_[node]) {
    const JsonPtr pod = registry_.storage().get("pods", key);
    if (pod == nullptr || condition_status(*pod, "Ready") != "True") continue;
    wrote |=
        registry_
            .modify(
                *resource, key, "status",
                [&](Json& json) -> Status {
                  set_condition(json["status"], {"Ready", "False", "NodeNotReady", "the node of this pod is not ready"},
                                registry_.clock().wall());
                  return {};
                },
                as_controller(kNodeController))
            .ok();
  }
  return wrote;
}

void NodeLifecycle::plan_evictions(const std::string& node) {
  for (const ObjectKey& key : pods_[node]) plan_eviction(key, node);
}

void NodeLifecycle::plan_eviction(const ObjectKey& key, const std::string& node) {
  cancel(key);
  const JsonPtr pod = registry_.storage().get("pods", key);
  if (pod == nullptr || find_path(*pod, {"metadata", "deletionTimestamp"}) != nullptr) return;
  std::optional<Instant> due;
  for (auto it = tainted_.lower_bound({node, ""}); it != tainted_.end() && it->first.first == node; ++it) {
    const std::optional<Duration> stay = tolerated_for(*pod, {it->first.second, "", "NoExecute"});
    if (stay) due = due ? std::min(*due, it->second + *stay) : it->second + *stay;
  }
  if (!due) return;
  due_[key] = *due;
  queue_.emplace(*due, key);
}

void NodeLifecycle::cancel(const ObjectKey& key) {
  const auto due = due_.find(key);
  if (due == due_.end()) return;
  queue_.erase({due->second, key});
  due_.erase(due);
}

bool NodeLifecycle::evict(const ObjectKey& key) {
  const ResourcePtr resource = registry_.resources().find_id("pods");
  const JsonPtr pod = registry_.storage().get("pods", key);
  if (pod == nullptr || find_path(*pod, {"metadata", "deletionTimestamp"}) != nullptr) return false;
  const auto marked = registry_.modify(
      *resource, key, "status",
      [&](Json& json) -> Status {
        set_condition(
            json["status"],
            {"DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"},
            registry_.clock().wall());
        return {};
      },
      as_controller(kNodeController));
  DeleteOptions options;
  options.write = as_controller(kNodeController);
  options.uid = string_at(*pod, {"metadata", "uid"});
  return registry_.remove(*resource, key, options).ok() || marked.ok();
}

}  // namespace tpuslice::sim
