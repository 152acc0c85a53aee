#include "cmd/tpu-slice-sim/cluster/nodes/kubelet.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/hashing.h"
#include "cmd/tpu-slice-sim/cluster/nodes/pod_status.h"
#include "cmd/tpu-slice-sim/cluster/scheduling/requirements.h"

namespace tpuslice::sim {

namespace {

const UserInfo kKubelet{"system:node", {"system:nodes", "system:authenticated"}};

std::string internal_address(const Json& node) {
  const Json* addresses = find_path(node, {"status", "addresses"});
  if (addresses != nullptr && addresses->is_array()) {
    for (const Json& entry : *addresses) {
      if (string_at(entry, {"type"}) == "InternalIP") return string_at(entry, {"address"});
    }
  }
  return "127.0.0.1";
}

bool uses_host_network(const Json& pod) {
  const Json* flag = find_path(pod, {"spec", "hostNetwork"});
  return flag != nullptr && flag->is_boolean() && flag->get<bool>();
}

}  // namespace

Kubelet::Kubelet(Registry& registry, KubeletOptions options)
    : registry_(registry),
      options_(options),
      feed_(registry.storage(), std::vector<std::string>{"nodes", "pods", "services"}) {}

bool Kubelet::step(Instant now) {
  const ChangeFeed::Batch batch = feed_.take();
  if (batch.relisted) {
    pods_.clear();
    queue_.clear();
    blocked_.clear();
  }
  for (const Change& change : batch.changes) observe(change, now);
  if (std::exchange(heads_changed_, false)) plan_blocked(now);
  bool wrote = false;
  while (!queue_.empty() && queue_.begin()->first <= now) {
    const ObjectKey key = queue_.begin()->second;
    wrote |= carry_out(key);
  }
  return wrote;
}

std::optional<Instant> Kubelet::next_due() const {
  if (queue_.empty()) return std::nullopt;
  return queue_.begin()->first;
}

void Kubelet::observe(const Change& change, Instant now) {
  if (change.resource == "nodes") return observe_node(change, now);
  if (change.resource == "services") heads_changed_ = true;
  if (change.resource != "pods") return;
  heads_changed_ |= change.type != ChangeType::kDeleted && condition_status(*change.object, "Ready") == "True" &&
                    (change.previous == nullptr || condition_status(*change.previous, "Ready") != "True");
  if (change.type == ChangeType::kDeleted) {
    unplan(change.key);
    pods_.erase(change.key);
    return;
  }
  Run& run = pods_[change.key];
  const bool same =
      run.pod != nullptr && string_at(*run.pod, {"metadata", "uid"}) == string_at(*change.object, {"metadata", "uid"});
  if (!same) unplan(change.key);
  run.pod = change.object;
  plan(change.key, now);
}

void Kubelet::observe_node(const Change& change, Instant now) {
  if (change.type == ChangeType::kDeleted) {
    nodes_.erase(change.key.name);
  } else {
    const bool fresh = nodes_.count(change.key.name) == 0;
    Machine& machine = nodes_[change.key.name];
    const bool was_lost = machine.lost;
    machine.address = internal_address(*change.object);
    const std::string cidr = string_at(*change.object, {"spec", "podCIDR"}, "10.200.0.0/24");
    machine.pod_network = cidr.substr(0, cidr.rfind('.') + 1);
    machine.lost = string_at(*change.object, {"metadata", "annotations", kNodeReadyAnnotation}) == "false";
    if (!fresh && machine.lost == was_lost) return;
  }
  for (const auto& [key, run] : pods_) {
    if (string_at(*run.pod, {"spec", "nodeName"}) == change.key.name) plan(key, now);
  }
}

void Kubelet::plan(const ObjectKey& key, Instant now) {
  Run& run = pods_.at(key);
  const auto machine = nodes_.find(string_at(*run.pod, {"spec", "nodeName"}));
  std::optional<Stage> stage;
  if (machine != nodes_.end() && !machine->second.lost) stage = next_stage(*run.pod, options_);
  if (!stage) return unplan(key);
  const bool blocked = stage->waits_for_head && !head_ready(*run.pod);
  if (run.stage == stage->name && run.blocked == blocked) return;
  unplan(key);
  run.stage = stage->name;
  run.blocked = blocked;
  if (blocked) {
    blocked_.insert(key);
    return;
  }
  run.due = now + stretched(key, *stage);
  queue_.emplace(run.due, key);
}

void Kubelet::unplan(const ObjectKey& key) {
  const auto run = pods_.find(key);
  if (run == pods_.end() || run->second.stage.empty()) return;
  queue_.erase({run->second.due, key});
  blocked_.erase(key);
  run->second.stage.clear();
  run->second.blocked = false;
}

void Kubelet::plan_blocked(Instant now) {
  const std::set<ObjectKey> blocked = blocked_;
  for (const ObjectKey& key : blocked) plan(key, now);
}

bool Kubelet::carry_out(const ObjectKey& key) {
  Run& run = pods_.at(key);
  const JsonPtr planned_for = run.pod;
  unplan(key);
  const std::string uid = string_at(*planned_for, {"metadata", "uid"});
  const JsonPtr pod = registry_.storage().get("pods", key);
  if (pod == nullptr || string_at(*pod, {"metadata", "uid"}) != uid) return false;
  const std::optional<Stage> stage = next_stage(*pod, options_);
  if (!stage) return false;
  if (stage->removes) return remove(key, uid);
  Machine& machine = nodes_.at(string_at(*pod, {"spec", "nodeName"}));
  StageContext context{registry_.clock().wall(), machine.address, machine.address};
  const bool needs_address = string_at(*pod, {"status", "podIP"}).empty();
  if (needs_address && !uses_host_network(*pod)) context.pod_ip = next_address(machine);
  WriteOptions options;
  options.user = kKubelet;
  const auto written = registry_.modify(
      *registry_.resources().find_id("pods"), key, "status",
      [&](Json& json) -> Status {
        if (string_at(json, {"metadata", "uid"}) != uid) {
          return Error::conflict("pod {} was replaced", key.to_string());
        }
        stage->apply(json, context);
        return {};
      },
      options);
  return written.ok();
}

bool Kubelet::remove(const ObjectKey& key, const std::string& uid) {
  DeleteOptions options;
  options.write.user = kKubelet;
  options.uid = uid;
  options.grace_seconds = 0;
  return registry_.remove(*registry_.resources().find_id("pods"), key, options).ok();
}

bool Kubelet::head_ready(const Json& pod) const {
  const auto service_name = awaited_head_service(pod);
  if (!service_name) return true;
  const JsonPtr service = registry_.storage().get("services", {service_name->first, service_name->second});
  if (service == nullptr) return false;
  const StringMap selector = string_map(find_path(*service, {"spec", "selector"}));
  if (selector.empty()) return false;
  for (auto it = pods_.lower_bound({service_name->first, ""}); it != pods_.end(); ++it) {
    if (it->first.namespace_name != service_name->first) break;
    const Json& candidate = *it->second.pod;
    const bool selected = std::all_of(selector.begin(), selector.end(), [&](const auto& entry) {
      return string_at(candidate, {"metadata", "labels", entry.first}) == entry.second;
    });
    if (selected && condition_status(candidate, "Ready") == "True") return true;
  }
  return false;
}

Duration Kubelet::stretched(const ObjectKey& key, const Stage& stage) const {
  if (options_.seed == 0) return stage.delay;
  const std::uint64_t part = hash_of({key.to_string(), stage.name}, options_.seed) % 1000;
  return stage.delay + stage.delay / 2000 * static_cast<Duration::rep>(part);
}

std::string Kubelet::next_address(Machine& machine) const {
  machine.last_address = machine.last_address >= 254 ? 2 : machine.last_address + 1;
  return fmt::format("{}{}", machine.pod_network, machine.last_address);
}

}  // namespace tpuslice::sim
