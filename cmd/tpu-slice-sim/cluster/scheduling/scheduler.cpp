#include "cmd/tpu-slice-sim/cluster/scheduling/scheduler.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/events.h"
#include "cmd/tpu-slice-sim/cluster/hashing.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/predicates.h"
#include "cmd/tpu-slice-sim/registry/scale.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kGated = "Scheduling is blocked due to non-empty scheduling gates";

bool uses_node(const PodInfo& pod) { return !pod.node_name.empty() && !pod.finished; }

}  // namespace

Scheduler::Scheduler(Registry& registry, SchedulerOptions options)
    : registry_(registry),
      options_(options),
      feed_(registry.storage(), std::vector<std::string>{"namespaces", "nodes", "pods"}) {}

bool Scheduler::step() {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    pods_.clear();
    nodes_.clear();
    namespaces_.clear();
    due_ = true;
  }
  for (const Change& change : batch.changes) observe(change);
  if (!due_) return false;
  due_ = false;
  bool wrote = false;
  std::vector<ObjectKey> keys;
  for (const PodInfo* pod : queue()) keys.push_back(pod->key);
  for (const ObjectKey& key : keys) wrote |= place(key);
  return wrote;
}

void Scheduler::observe(const Change& change) {
  if (change.resource == "pods") return observe_pod(change);
  if (change.resource == "nodes") return observe_node(change);
  if (change.type == ChangeType::kDeleted) {
    namespaces_.erase(change.key.name);
  } else {
    namespaces_[change.key.name] = string_map(find_path(*change.object, {"metadata", "labels"}));
  }
}

void Scheduler::observe_pod(const Change& change) {
  const auto known = pods_.find(change.key);
  if (change.type == ChangeType::kDeleted) {
    if (known == pods_.end()) return;
    due_ |= uses_node(known->second);
    forget(change.key);
    return;
  }
  PodInfo pod = PodInfo::decode(*change.object);
  if (known == pods_.end() || known->second.uid != pod.uid) {
    pod.seen = ++seen_;
    due_ |= true;
  } else {
    const PodInfo& before = known->second;
    pod.seen = before.seen;
    due_ |= before.gated != pod.gated || before.finished != pod.finished || before.labels != pod.labels ||
            before.node_name != pod.node_name;
  }
  forget(change.key);
  count(pod, true);
  pods_.emplace(change.key, std::move(pod));
}

void Scheduler::observe_node(const Change& change) {
  due_ = true;
  if (change.type == ChangeType::kDeleted) {
    nodes_.erase(change.key.name);
    return;
  }
  const bool known = nodes_.count(change.key.name) != 0;
  NodeInfo& node = nodes_[change.key.name];
  node.decode(*change.object);
  if (known) return;
  for (const auto& [key, pod] : pods_) {
    if (uses_node(pod) && pod.node_name == node.name) add(node.requested, pod.requests);
  }
}

void Scheduler::forget(const ObjectKey& key) {
  const auto known = pods_.find(key);
  if (known == pods_.end()) return;
  count(known->second, false);
  pods_.erase(known);
}

void Scheduler::count(const PodInfo& pod, bool present) {
  if (!uses_node(pod)) return;
  const auto node = nodes_.find(pod.node_name);
  if (node == nodes_.end()) return;
  if (present) {
    add(node->second.requested, pod.requests);
  } else {
    subtract(node->second.requested, pod.requests);
  }
}

std::vector<const PodInfo*> Scheduler::queue() const {
  std::vector<const PodInfo*> out;
  for (const auto& [key, pod] : pods_) {
    if (pod.node_name.empty() && !pod.finished && !pod.terminating) out.push_back(&pod);
  }
  std::sort(out.begin(), out.end(), [](const PodInfo* a, const PodInfo* b) {
    return std::make_tuple(-a->priority, a->seen) < std::make_tuple(-b->priority, b->seen);
  });
  return out;
}

Placement Scheduler::placement() const {
  Placement out{nodes_, {}, namespaces_};
  for (const auto& [key, pod] : pods_) {
    if (uses_node(pod)) out.bound.push_back(&pod);
  }
  return out;
}

std::optional<std::string> Scheduler::choose(const PodInfo& pod, std::string& why_not) const {
  const AffinityCheck affinity(pod, placement());
  std::map<std::string, int> reasons;
  const NodeInfo* best = nullptr;
  std::pair<std::int64_t, std::uint64_t> best_rank;
  for (const auto& [name, node] : nodes_) {
    std::vector<std::string> found = misfits(pod, node);
    if (found.empty()) {
      if (std::string reason = affinity.misfit(node); !reason.empty()) found.push_back(std::move(reason));
    }
    for (const std::string& reason : found) ++reasons[reason];
    if (!found.empty()) continue;
    const std::uint64_t tie = options_.seed == 0 ? 0 : hash_of({pod.key.to_string(), name}, options_.seed);
    const std::pair rank(score(pod, node) + affinity.score(node), tie);
    if (best == nullptr || rank > best_rank) {
      best = &node;
      best_rank = rank;
    }
  }
  if (best != nullptr) return best->name;
  if (nodes_.empty()) {
    why_not = "no nodes available to schedule pods";
    return std::nullopt;
  }
  std::vector<std::string> counted;
  counted.reserve(reasons.size());
  for (const auto& [reason, nodes] : reasons) counted.push_back(fmt::format("{} {}", nodes, reason));
  std::sort(counted.begin(), counted.end());
  why_not = fmt::format("0/{} nodes are available: {}.", nodes_.size(), fmt::join(counted, ", "));
  return std::nullopt;
}

bool Scheduler::place(const ObjectKey& key) {
  const PodInfo& pod = pods_.at(key);
  if (pod.gated) return report(key, pod.uid, "SchedulingGated", kGated);
  std::string why_not;
  const std::optional<std::string> node = choose(pod, why_not);
  if (!node) return report(key, pod.uid, "Unschedulable", why_not);
  return bind(key, pod.uid, *node);
}

bool Scheduler::bind(const ObjectKey& key, const std::string& uid, const std::string& node) {
  const JsonPtr pod = registry_.storage().get("pods", key);
  if (pod == nullptr || string_at(*pod, {"metadata", "uid"}) != uid) return false;
  // The binding subresource also sets node and condition in one write, without admission.
  Json bound = *pod;
  bound["spec"]["nodeName"] = node;
  copy_topology_labels(registry_.storage(), node, bound);
  set_condition(bound["status"], {"PodScheduled", "True", "", ""}, registry_.clock().wall());
  if (!registry_.storage().update("pods", key, bound, revision_of(*pod)).ok()) {
    due_ = true;  // Conflict: retried after the change is observed.
    return false;
  }
  PodInfo& info = pods_.at(key);
  info.node_name = node;
  count(info, true);
  record_event(registry_, {"default-scheduler", "Pod", &bound, "Normal", "Scheduled",
                           fmt::format("Successfully assigned {} to {}", key.to_string(), node)});
  return true;
}

bool Scheduler::report(const ObjectKey& key, const std::string& uid, const std::string& reason,
                       const std::string& message) {
  const JsonPtr pod = registry_.storage().get("pods", key);
  if (pod == nullptr || string_at(*pod, {"metadata", "uid"}) != uid) return false;
  Json reported = *pod;
  if (!set_condition(reported["status"], {"PodScheduled", "False", reason, message}, registry_.clock().wall())) {
    return false;
  }
  if (!registry_.storage().update("pods", key, reported, revision_of(*pod)).ok()) {
    due_ = true;
    return false;
  }
  if (reason == "Unschedulable") {
    record_event(registry_, {"default-scheduler", "Pod", &reported, "Warning", "FailedScheduling", message});
  }
  return true;
}

}  // namespace tpuslice::sim
