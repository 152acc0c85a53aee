#include "tests/sim/slices/world.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "controllers/placement/domains/node_match.h"
#include "tests/support/chips.h"
#include "tests/support/pod_merge.h"
#include "tests/support/preconditions.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

constexpr std::int64_t kChips = 4;
constexpr const char* kNamespace = "default";
constexpr const char* kQueueGate = "kueue.x-k8s.io/topology";
constexpr Duration kQueueTimeout = std::chrono::minutes(1);

const std::string& label_of(const NodeView& node, const std::string& key) { return value_of(node.labels, key); }

template <typename List>
const auto& some(Random& random, const List& list) {
  return list[random.uniform<std::size_t>(0, list.size() - 1)];
}

std::string describe(const PodView& pod) {
  return fmt::format("{}{}{}", pod.key.name, pod.terminating() ? " (terminating)" : "",
                     pod.node_name.empty() ? "" : " on " + pod.node_name);
}

}  // namespace

World::World(std::uint64_t seed, int pools, int hosts_per_pool)
    : random_(seed), now_(*parse_rfc3339("2026-01-01T00:00:00Z")), start_(now_) {
  for (int pool = 0; pool < pools; ++pool) {
    const std::string name = fmt::format("pool-{}", pool);
    double_pools_[name] = fmt::format("double-{}", pool / 2);
    for (int host = 0; host < hosts_per_pool; ++host) {
      pools_[name].push_back(fmt::format("{}-{}", name, host));
      put(make_node(pools_[name].back(), name));
    }
  }
}

NodeView World::make_node(const std::string& name, const std::string& pool) const {
  NodeView node;
  node.key = {"", name};
  node.labels = {{std::string(tpu::kAcceleratorLabel), kAccelerator},
                 {std::string(tpu::kHostnameLabel), name},
                 {kPool, pool},
                 {kDoublePool, double_pools_.at(pool)}};
  node.ready = true;
  node.ready_changed = now_;
  tpu::set_chips(node, kChips);
  return node;
}

void World::note(std::string line) {
  if (!with_timeline) return;
  const double elapsed = std::chrono::duration<double>(now_ - start_).count();
  timeline_ += fmt::format("{:8.1f}s  {}\n", elapsed, line);
}

void World::put(PodView pod) {
  pod.resource_version = std::to_string(version() + 1);
  auto shared = std::make_shared<const PodView>(std::move(pod));
  changes_.push_back({version() + 1, shared->key, false, shared, nullptr});
  pods_[shared->key] = std::move(shared);
}

void World::put(NodeView node) {
  if (node.uid.empty()) node.uid = fmt::format("node-{}", ++uids_);
  node.resource_version = std::to_string(version() + 1);
  auto shared = std::make_shared<const NodeView>(std::move(node));
  changes_.push_back({version() + 1, shared->key, true, nullptr, shared});
  nodes_[shared->key.name] = std::move(shared);
}

void World::erase_pod(const ObjectKey& key) {
  note("pod " + key.name + " is deleted");
  pods_.erase(key);
  changes_.push_back({version() + 1, key, false, nullptr, nullptr});
}

void World::edit(const ObjectKey& key, const std::function<void(PodView&)>& change) {
  PodView pod = *pods_.at(key);
  change(pod);
  put(std::move(pod));
}

Status World::create_scout(const plan::Action& action) {
  if (pods_.contains(action.key)) return Error::of(ErrorCode::kAlreadyExists, "{} exists", action.key.name);
  Json body = *action.body.make();
  body["metadata"]["uid"] = fmt::format("pod-{}", ++uids_);
  const Json& away = body["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  scout_keys_[action.key] = string_at(away, {"topologyKey"});
  PodView pod = *PodView::from_json(body);
  pod.created = std::chrono::floor<std::chrono::seconds>(now_);
  note(fmt::format("create {} for {}", action.key.name, pod.annotation(tpu::kScaleUpFor)));
  put(std::move(pod));
  return {};
}

Status World::apply_to_records(const plan::Action& action) {
  placement::PreemptionRecords records;
  if (action.kind == plan::ActionKind::kCreate) {
    if (preemption_records_ != nullptr) return {};  // Adopted.
    records.key = action.key;
    records.uid = "records";
  } else {
    records = *preemption_records_;
    RETURN_IF_ERROR(plan::check_preconditions(action, records.uid, records.resource_version));
    const Json body = *action.body.make();
    for (const auto& [accelerator, record] : body.at("data").items()) {
      if (record.is_null()) {
        records.data.erase(accelerator);
      } else {
        records.data.insert_or_assign(accelerator, record.get<std::string>());
      }
    }
    note("records of preemptions: " + body.dump());
  }
  records.resource_version = std::to_string(version() + 1);
  preemption_records_ = std::make_shared<const placement::PreemptionRecords>(std::move(records));
  changes_.push_back({version() + 1, action.key, false, nullptr, nullptr, preemption_records_});
  return {};
}

Status World::apply(const plan::Action& action) {
  if (action.type == kConfigMaps) return apply_to_records(action);
  if (action.kind == plan::ActionKind::kCreate) return create_scout(action);
  const auto found = pods_.find(action.key);
  if (found == pods_.end()) return Error::not_found("{} is deleted", action.key.name);
  const PodView& pod = *found->second;
  RETURN_IF_ERROR(plan::check_preconditions(action, pod.uid, pod.resource_version));
  if (action.kind == plan::ActionKind::kDelete) {
    delete_pod(found->second);
    return {};
  }
  const bool refused = std::ranges::any_of(
      desired_, [&](const DesiredSlice& each) { return each.refused && each.name == pod.label(tpu::kSlice); });
  if (refused && action.subresource.empty()) {
    return Error::of(ErrorCode::kForbidden, "updates of {} are refused", action.key.name);
  }
  const Json patch = *action.body.make();
  note(fmt::format("patch {}: {}", action.key.name, patch.dump()));
  edit(action.key, [&](PodView& changed) { merge_into(changed, patch); });
  return {};
}

// Others.

std::vector<PodPtr> World::live_hosts(const DesiredSlice& desired) const {
  std::vector<PodPtr> hosts(static_cast<std::size_t>(desired.hosts));
  for (const auto& [key, pod] : pods_) {
    if (pod->label(tpu::kSlice) != desired.name || !slice::is_live(*pod)) continue;
    hosts.at(std::stoul(pod->annotation(tpu::kSliceHost))) = pod;
  }
  return hosts;
}

std::int64_t World::used_chips(const std::string& node) const {
  std::int64_t used = 0;
  for (const auto& [key, pod] : pods_) {
    if (pod->node_name == node && !pod->finished()) used += tpu::chips_of(*pod);
  }
  return used;
}

bool World::is_used(const std::string& node) const {
  return std::ranges::any_of(pods_, [&](const auto& entry) {
    const PodView& pod = *entry.second;
    return pod.node_name == node && !pod.finished() && tpu::chips_of(pod) > 0 && !scout_keys_.contains(pod.key);
  });
}

bool World::is_absent(const std::string& pool) const {
  return std::ranges::none_of(pools_.at(pool), [&](const std::string& node) { return nodes_.contains(node); });
}

void World::create(const DesiredSlice& desired, int host) {
  PodView pod;
  const bool serial = desired.owner == Owner::kJob || desired.owner == Owner::kFollowsHostZero;
  pod.key = {kNamespace, serial ? fmt::format("{}-{}-{}", desired.name, host, uids_ + 1)
                                : fmt::format("{}-{}", desired.name, host)};
  if (pods_.contains(pod.key)) return;
  pod.uid = fmt::format("pod-{}", ++uids_);
  // The API keeps whole seconds.
  pod.created = std::chrono::floor<std::chrono::seconds>(now_);
  pod.labels = {{std::string(tpu::kSlice), desired.name}};
  pod.controller = ControllerRef{"ray.io/v1", "RayCluster", desired.name, "uid-of-" + desired.name};
  const auto annotate = [&](std::string_view key, const std::string& value) {
    pod.annotations[std::string(key)] = value;
  };
  annotate(tpu::kSliceHosts, std::to_string(desired.hosts));
  annotate(tpu::kSliceHost, std::to_string(host));
  annotate(tpu::kTopologyKey, desired.topology_key);
  if (!desired.gang.empty()) {
    annotate(tpu::kSliceGang, desired.gang);
    annotate(tpu::kGangSlices, std::to_string(desired.gang_slices));
  }
  if (desired.owner == Owner::kFollowsHostZero) annotate(tpu::kSliceStart, std::string(tpu::kOthersFollowHost0));
  if (desired.owner == Owner::kReadyLeader) annotate(tpu::kSliceStart, std::string(tpu::kHost0IfAlone));
  pod.scheduling.edit().node_selector = {{std::string(tpu::kAcceleratorLabel), kAccelerator}};
  pod.scheduling.edit().gates = {std::string(tpu::kSliceGate)};
  if (desired.queued) pod.scheduling.edit().gates.insert(pod.scheduling.edit().gates.begin(), kQueueGate);
  pod.active_deadline_seconds = desired.deadline_seconds;
  tpu::set_chips(pod, kChips);
  pod.priority = desired.priority;
  note("create pod " + pod.key.name);
  put(std::move(pod));
}

bool World::owner_step(const DesiredSlice& desired) {
  std::vector<PodPtr> all;
  for (const auto& [key, pod] : pods_) {
    if (pod->label(tpu::kSlice) == desired.name) all.push_back(pod);
  }
  const auto remove_one = [&](auto wrong) {
    for (const PodPtr& pod : all) {
      if (pod->terminating() || !wrong(*pod)) continue;
      delete_pod(pod);
      return true;
    }
    return false;
  };
  if (desired.deleted) return remove_one([](const PodView&) { return true; });
  const std::vector<PodPtr> live = live_hosts(desired);
  const bool lost = std::ranges::any_of(all, [](const PodPtr& pod) { return !slice::is_live(*pod); });
  if (desired.owner == Owner::kReplica) {
    const bool started =
        std::ranges::any_of(live, [](const PodPtr& pod) { return pod != nullptr && !slice::is_gated(*pod); });
    const bool missing = std::ranges::count(live, nullptr) > 0;
    if (lost || (started && missing)) return remove_one([](const PodView&) { return true; });
  } else if (remove_one([](const PodView& pod) { return pod.finished(); })) {
    return true;
  }
  for (int host = 0; host < desired.hosts; ++host) {
    const PodPtr& first = live.front();
    if (host > 0 && desired.owner == Owner::kFollowsHostZero && (first == nullptr || first->node_name.empty())) break;
    if (host > 0 && desired.owner == Owner::kReadyLeader && (first == nullptr || first->phase != PodPhase::kRunning))
      break;
    if (live[static_cast<std::size_t>(host)] != nullptr) continue;
    const std::uint64_t before = version();
    create(desired, host);
    if (version() != before) return true;
  }
  return false;
}

bool World::owners_step() {
  if (desired_.empty()) return false;
  const std::size_t first = random_.uniform<std::size_t>(0, desired_.size() - 1);
  for (std::size_t i = 0; i < desired_.size(); ++i) {
    if (owner_step(desired_[(first + i) % desired_.size()])) return true;
  }
  return false;
}

/// Required affinity to pods of its slice, and anti-affinity of each multi-host slice to all other TPU pods, as
/// tpu::add_slice_affinity writes them and kube-scheduler reads them: for the incoming pod and for those that run.
bool World::affinities_hold(const PodView& pod, const NodeView& node) const {
  const std::string& own = pod.label(tpu::kSlice);
  const auto scout = scout_keys_.find(pod.key);
  const std::string& key = scout != scout_keys_.end() ? scout->second : pod.annotation(tpu::kTopologyKey);
  bool mate_elsewhere = false;
  bool mate_here = false;
  for (const auto& [name, other] : pods_) {
    if (other->node_name.empty() || other->finished() || other->label(tpu::kSlice).empty()) continue;
    const auto other_node = nodes_.find(other->node_name);
    if (other_node == nodes_.end()) continue;
    const bool mate = scout == scout_keys_.end() && other->label(tpu::kSlice) == own;
    const auto together = [&](const std::string& label) {
      return !label.empty() && label_of(*other_node->second, label) == label_of(node, label);
    };
    if (mate) {
      (together(key) ? mate_here : mate_elsewhere) = true;
    } else if (together(key) || together(other->annotation(tpu::kTopologyKey))) {
      return false;
    } else if (const auto other_scout = scout_keys_.find(other->key);
               other_scout != scout_keys_.end() && together(other_scout->second)) {
      return false;
    }
  }
  return mate_here || !mate_elsewhere;
}

bool World::fits(const PodView& pod, const NodeView& node) const {
  return node.ready && !node.unschedulable &&
         placement::PodRequirements(std::make_shared<const PodView>(pod)).match(node) &&
         used_chips(node.key.name) + tpu::chips_of(pod) <= tpu::chips_of(node) && affinities_hold(pod, node);
}

bool World::scheduler_step() {
  std::vector<PodPtr> queue;
  for (const auto& [key, pod] : pods_) {
    if (slice::is_live(*pod) && pod->node_name.empty() && pod->scheduling->gates.empty()) queue.push_back(pod);
  }
  while (!queue.empty()) {
    const std::size_t at = random_.uniform<std::size_t>(0, queue.size() - 1);
    const PodPtr pod = queue[at];
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
    for (const auto& [name, node] : nodes_) {
      if (!fits(*pod, *node)) continue;
      note(fmt::format("bind {} to {}", pod->key.name, name));
      edit(pod->key, [&](PodView& bound) { bound.node_name = name; });
      return true;
    }
    if (!pod->unschedulable.empty()) continue;
    edit(pod->key, [](PodView& refused) { refused.unschedulable = "no node fits"; });
    return true;
  }
  return false;
}

bool World::autoscaler_step() {
  for (const auto& [key, pod] : pods_) {
    if (!slice::is_live(*pod) || !pod->node_name.empty() || pod->unschedulable.empty()) continue;
    for (const auto& [pool, nodes] : pools_) {
      if (!is_absent(pool) || !fits(*pod, make_node(nodes.front(), pool))) continue;
      note(fmt::format("the autoscaler adds {} for {}", pool, key.name));
      const auto scout = scout_keys_.find(key);
      const bool large = scout != scout_keys_.end() && scout->second == kDoublePool;
      for (const auto& [other, others] : pools_) {
        const bool half = large && double_pools_.at(other) == double_pools_.at(pool);
        if (other != pool && !half) continue;
        for (const std::string& node : others) restore_node(node);
      }
      return true;
    }
  }
  return false;
}

void World::remove_unused_pool(const std::string& pool) {
  const std::vector<std::string>& nodes = pools_.at(pool);
  if (is_absent(pool) || std::ranges::any_of(nodes, [&](const std::string& node) { return used_chips(node) > 0; })) {
    return;
  }
  note("the autoscaler removes " + pool);
  for (const std::string& node : nodes) delete_node(node);
}

bool World::choose_nodes(const DesiredSlice& desired) {
  const std::vector<PodPtr> hosts = live_hosts(desired);
  if (std::ranges::count(hosts, nullptr) > 0) return false;
  if (std::ranges::none_of(hosts, [](const PodPtr& pod) { return pod->scheduling->gates.size() > 1; })) return false;
  std::vector<std::string> free;
  std::vector<std::string> all;
  for (const auto& [pool, nodes] : pools_) {
    std::vector<std::string> unused;
    std::ranges::copy_if(nodes, std::back_inserter(unused),
                         [&](const std::string& node) { return nodes_.contains(node) && !is_used(node); });
    if (free.empty() && unused.size() == nodes.size()) free = unused;
    all.insert(all.end(), unused.begin(), unused.end());
  }
  const bool spread = random_.uniform(0, 3) == 0 && all.size() >= hosts.size();
  for (std::size_t i = all.size(); spread && i > 1; --i) {
    std::swap(all[i - 1], all[random_.uniform<std::size_t>(0, i - 1)]);
  }
  const std::vector<std::string>& nodes = spread ? all : free;
  if (nodes.size() < hosts.size()) return false;
  note(fmt::format("the queue chooses nodes for {}: {}", desired.name, fmt::join(nodes, ", ")));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    edit(hosts[i]->key, [&](PodView& pod) {
      std::erase(pod.scheduling.edit().gates, kQueueGate);
      pod.scheduling.edit().node_selector[std::string(tpu::kHostnameLabel)] = nodes[i];
    });
  }
  chosen_at_[desired.name] = now_;
  return true;
}

bool World::evict(const DesiredSlice& desired) {
  const std::vector<PodPtr> hosts = live_hosts(desired);
  const bool waits = std::ranges::any_of(hosts, [](const PodPtr& pod) {
    return pod != nullptr && pod->node_name.empty() && pod->scheduling->gates.size() <= 1;
  });
  if (!waits || now_ < chosen_at_[desired.name] + kQueueTimeout) return false;
  note("the queue evicts " + desired.name);
  chosen_at_[desired.name] = now_;
  for (const PodPtr& pod : hosts) {
    if (pod != nullptr) delete_pod(pod);
  }
  return true;
}

bool World::queue_step() {
  return std::ranges::any_of(desired_, [&](const DesiredSlice& desired) {
    return desired.queued && !desired.deleted && (choose_nodes(desired) || evict(desired));
  });
}

bool World::kubelets_step() {
  for (const auto& [key, pod] : pods_) {
    const auto node = nodes_.find(pod->node_name);
    const bool silent = node != nodes_.end() && !node->second->ready;
    const bool orphan = !pod->node_name.empty() && node == nodes_.end();
    if (orphan || (pod->terminating() && !silent)) {
      erase_pod(ObjectKey(key));
      return true;
    }
    if (node != nodes_.end() && !silent && pod->phase == PodPhase::kPending) {
      edit(key, [](PodView& running) { running.phase = PodPhase::kRunning; });
      return true;
    }
  }
  return false;
}

// Disturbances.

void World::add_slice(DesiredSlice desired) {
  note(fmt::format("want slice {} of {} hosts ({})", desired.name, desired.hosts, desired.topology_key));
  desired_.push_back(std::move(desired));
}

void World::fail_pod(const PodPtr& pod) {
  if (pod->node_name.empty() || !slice::is_live(*pod)) return;
  note("fail " + describe(*pod));
  edit(pod->key, [](PodView& failed) { failed.phase = PodPhase::kFailed; });
}

void World::delete_pod(const PodPtr& pod) {
  if (pod->terminating()) return;
  note("delete " + describe(*pod));
  edit(pod->key, [this](PodView& deleted) { deleted.deletion = now_; });
}

void World::set_ready(const std::string& node, bool ready) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second->ready == ready) return;
  note(fmt::format("node {} is {}", node, ready ? "back" : "lost"));
  NodeView changed = *found->second;
  changed.ready = ready;
  changed.ready_changed = now_;
  put(std::move(changed));
}

void World::cordon(const std::string& node, bool unschedulable) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second->unschedulable == unschedulable) return;
  note(fmt::format("{} {}", unschedulable ? "cordon" : "uncordon", node));
  NodeView changed = *found->second;
  changed.unschedulable = unschedulable;
  put(std::move(changed));
}

void World::set_chips(const std::string& node, int chips) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || tpu::chips_of(*found->second) == chips) return;
  note(fmt::format("node {} advertises {} chips", node, chips));
  NodeView changed = *found->second;
  tpu::set_chips(changed, chips);
  put(std::move(changed));
}

void World::delete_node(const std::string& node) {
  if (nodes_.erase(node) == 0) return;
  note("delete node " + node);
  changes_.push_back({version() + 1, {"", node}, true, nullptr, nullptr});
}

void World::restore_node(const std::string& node) {
  if (nodes_.contains(node)) return;
  note("restore node " + node);
  put(make_node(node, node.substr(0, node.rfind('-'))));
}

void World::add_stray_pod(const std::string& node, bool labelled) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || used_chips(node) > 0) return;
  PodView pod;
  pod.key = {kNamespace, fmt::format("intruder-{}", ++uids_)};
  pod.uid = pod.key.name;
  pod.created = now_;
  pod.node_name = node;
  pod.phase = PodPhase::kRunning;
  tpu::set_chips(pod, kChips);
  if (labelled) pod.labels = {{std::string(tpu::kSlice), std::string(tpu::kNoSlice)}};
  note(fmt::format("intruder on {}{}", node, labelled ? "" : ", unlabelled"));
  put(std::move(pod));
}

void World::delete_stray_pods() {
  for (const auto& [key, pod] : std::map(pods_)) {
    if (key.name.starts_with("intruder-")) delete_pod(pod);
  }
}

void World::set_refused(DesiredSlice& desired, bool refused) {
  if (desired.refused == refused) return;
  note(fmt::format("updates of the pods of {} are {}", desired.name, refused ? "refused" : "allowed again"));
  desired.refused = refused;
}

}  // namespace tpuslice::testing
