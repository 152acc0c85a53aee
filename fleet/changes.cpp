#include "fleet/changes.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/types/utf8.h"
#include "fleet/names.h"
#include "fleet/node_pools.h"
#include "fleet/outlook.h"
#include "fleet/workload_reference.h"
#include "tpu/chips.h"

namespace tpuslice::fleet {
namespace {

using placement::AcceleratorCache;
using placement::CachedSlice;
using placement::Slice;

constexpr std::size_t kMaxChangeText = 200;
/// Placement reaches a fixpoint within a few rounds; a preemption takes another one.
constexpr int kMaxRounds = 50;

void annotate(PodView& pod, std::string_view name, std::string value) {
  pod.annotations.insert_or_assign(SharedString(name), SharedString(std::move(value)));
}

void gate(PodView& pod) {
  PodScheduling& scheduling = pod.scheduling.edit();
  scheduling.gates = {SharedString(tpu::kSliceGate)};
  if (!scheduling.tolerations.empty()) return;
  // A view of a pod with a node does not have its tolerations; that of the taint of TPU nodes is added to every TPU
  // pod.
  scheduling.tolerations = {TolerationView{.key = SharedString(tpu::kTpuTaint), .exists = true}};
}

/// The pod that replaces `pod`, which no longer exists.
PodPtr created_again(const PodView& pod, const Snapshot& snapshot, Timestamp queued_since) {
  const auto known = snapshot.as_created.find(pod.uid);
  PodView out = known == snapshot.as_created.end() ? pod : *known->second;
  if (known == snapshot.as_created.end()) {
    for (const std::string_view name : {tpu::kSliceMembers, tpu::kPlacedAt, tpu::kPlacedOn, tpu::kRemovedHosts,
                                        tpu::kWaiting, tpu::kWaitingReason, tpu::kPlacedIn}) {
      out.annotations.erase(SharedString(name));
    }
    PodScheduling& scheduling = out.scheduling.edit();
    if (pod.annotation(tpu::kSliceMembers) != "")
      scheduling.node_selector.erase(SharedString(pod.annotation(tpu::kTopologyKey)));
  }
  out.uid = pod.uid + "-again";
  out.created = snapshot.time;
  out.deletion.reset();
  out.node_name.clear();
  out.phase = PodPhase::kPending;
  out.ready = false;
  out.not_ready = false;
  out.containers.clear();
  out.failure = {};
  out.stuck = {};
  gate(out);
  if (queued_since < snapshot.time) annotate(out, tpu::kQueuedSince, format_rfc3339(queued_since));
  return std::make_shared<const PodView>(std::move(out));
}

/// The slices of several hosts whose pods have started, by key, and the slices that are being read are kept alive by
/// the caller.
class StartedSlices {
 public:
  explicit StartedSlices(const Snapshot& snapshot) {
    std::vector<PodPtr> pods;
    std::ranges::copy_if(snapshot.pods, std::back_inserter(pods),
                         [](const PodPtr& pod) { return placement::in_slice(*pod) && tpu::chips_of(*pod) > 0; });
    for (auto& [key, of_slice] : placement::group_by_slice(pods)) {
      Slice slice = placement::read_slice(key, of_slice);
      if (slice.size > 1 && !slice.started().empty()) slices_.emplace(key, std::move(slice));
    }
  }

  [[nodiscard]] const Slice* find(const ObjectKey& key) const {
    const auto found = slices_.find(key);
    return found == slices_.end() ? nullptr : &found->second;
  }

  /// The slices that use one of the nodes: a slice uses all nodes of its domain.
  [[nodiscard]] std::set<ObjectKey> on(const std::set<std::string>& nodes, const Snapshot& snapshot) const {
    std::map<std::string_view, const NodeView*> by_name;
    for (const NodePtr& node : snapshot.nodes) by_name.emplace(node->key.name, node.get());
    std::set<placement::DomainName> domains;
    std::set<ObjectKey> out;
    for (const auto& [key, slice] : slices_) {
      for (const PodPtr& pod : slice.started()) {
        const auto node = by_name.find(pod->node_name);
        const std::string domain =
            placement::domain_of(*pod, slice.topology_key, node == by_name.end() ? nullptr : node->second);
        const bool uses = nodes.contains(pod->node_name) || std::ranges::any_of(nodes, [&](const std::string& name) {
                            const auto lost = by_name.find(name);
                            return lost != by_name.end() && !domain.empty() && !slice.topology_key.empty() &&
                                   placement::domain_of_node(*lost->second, slice.topology_key) == domain;
                          });
        if (uses) out.insert(key);
        if (uses) break;
      }
    }
    return out;
  }

 private:
  std::map<ObjectKey, Slice> slices_;
};

/// The pods of these slices are created again, those of others on the nodes are deleted.
void end_slices(const std::set<ObjectKey>& ended, const std::set<std::string>& nodes, const StartedSlices& slices,
                Snapshot& snapshot) {
  std::vector<PodPtr> pods;
  for (const PodPtr& pod : snapshot.pods) {
    const ObjectKey key = placement::slice_key(*pod);
    const bool member = placement::in_slice(*pod) && ended.contains(key);
    if (!member) {
      const bool is_deleted = nodes.contains(pod->node_name) && tpu::chips_of(*pod) > 0;
      if (!is_deleted) pods.push_back(pod);
      continue;
    }
    if (pod->terminating() || pod->phase == PodPhase::kSucceeded || tpu::chips_of(*pod) == 0) continue;
    if (placement::is_gated(*pod)) {
      pods.push_back(pod);
    } else {
      pods.push_back(created_again(*pod, snapshot, slices.find(key)->queued_since));
    }
  }
  snapshot.pods = std::move(pods);
}

void change_nodes(const Change& change, Snapshot& snapshot) {
  const std::set<std::string> names(change.nodes.begin(), change.nodes.end());
  for (NodePtr& node : snapshot.nodes) {
    if (!names.contains(node->key.name)) continue;
    NodeView copy = *node;
    switch (change.kind) {
      case ChangeKind::kDrain:
        copy.unschedulable = true;
        break;
      case ChangeKind::kLose:
        copy.ready = false;
        copy.ready_changed = snapshot.time;
        break;
      case ChangeKind::kRepair:
        copy.ready = true;
        copy.unschedulable = false;
        copy.deletion.reset();
        remove_repaired_taints(copy);
        break;
      default:
        break;
    }
    node = std::make_shared<const NodeView>(std::move(copy));
  }
  if (change.kind == ChangeKind::kRepair) return;
  const StartedSlices slices(snapshot);
  end_slices(slices.on(names, snapshot), names, slices, snapshot);
}

/// Records that the slices are placed, as their hosts are after the operator has released them.
void place(const std::map<ObjectKey, std::string>& placed, Snapshot& snapshot) {
  std::map<ObjectKey, std::vector<PodPtr>> by_slice = placement::group_by_slice(snapshot.pods);
  std::map<ObjectKey, std::string> members;
  for (const auto& [key, domain] : placed) {
    members.emplace(key, placement::members_of(placement::read_slice(key, by_slice[key])));
  }
  for (PodPtr& pod : snapshot.pods) {
    const auto found = placement::in_slice(*pod) ? placed.find(placement::slice_key(*pod)) : placed.end();
    if (found == placed.end() || !placement::is_live(*pod) || !placement::is_gated(*pod)) continue;
    PodView copy = *pod;
    std::erase(copy.scheduling.edit().gates, tpu::kSliceGate);
    annotate(copy, tpu::kSliceMembers, members.at(found->first));
    annotate(copy, tpu::kPlacedAt, format_rfc3339(snapshot.time));
    annotate(copy, tpu::kPlacedIn, found->second);
    snapshot.as_created.try_emplace(pod->uid, pod);
    pod = std::make_shared<const PodView>(std::move(copy));
  }
}

/// One round of the placement of all accelerators; whether anything was done.
bool plan_round(Snapshot& snapshot) {
  std::map<ObjectKey, std::string> placed;
  std::set<ObjectKey> preempted;
  for (const std::string& accelerator : accelerators_of(snapshot)) {
    AcceleratorCache cache(accelerator, planning_options(snapshot));
    read_cache(snapshot, cache);
    Outlook outlook = plan_outlook(snapshot, cache);
    for (const auto& [key, verdict] : outlook.verdicts) {
      if (verdict.domain) placed.emplace(key, *verdict.domain);
    }
    preempted.merge(outlook.preempted);
  }
  if (placed.empty() && preempted.empty()) return false;
  place(placed, snapshot);
  if (preempted.empty()) return true;
  const StartedSlices slices(snapshot);
  std::set<ObjectKey> ended;
  for (const ObjectKey& key : preempted) {
    if (slices.find(key) != nullptr) ended.insert(key);
  }
  std::erase_if(snapshot.pods, [&](const PodPtr& pod) { return preempted.contains(pod->key); });
  end_slices(ended, {}, slices, snapshot);
  return true;
}

Result<std::vector<std::string>> nodes_named(const Reference& reference, const Snapshot& snapshot) {
  if (reference.kind == "node") {
    const auto found =
        std::ranges::find(snapshot.nodes, reference.name, [](const NodePtr& node) { return node->key.name; });
    if (found == snapshot.nodes.end())
      return Error::not_found("node {} does not exist", clip(reference.name, kMaxChangeText));
    return std::vector<std::string>{reference.name};
  }
  if (reference.kind != "pool") {
    return Error::invalid_argument("found {}/{}, expected pool/<name> or node/<name>",
                                   clip(reference.kind, kMaxChangeText), clip(reference.name, kMaxChangeText));
  }
  std::vector<std::string> nodes = nodes_of_pool(snapshot, reference.name);
  if (nodes.empty()) return Error::not_found("node pool {} has no TPU nodes", clip(reference.name, kMaxChangeText));
  return nodes;
}

/// The pods of a workload, or the pod of that name.
std::vector<ObjectKey> pods_named(const Reference& reference, const Snapshot& snapshot,
                                  const std::string& namespace_name) {
  const Names all(snapshot);
  std::vector<ObjectKey> out;
  for (const PodPtr& pod : snapshot.pods) {
    if (!namespace_name.empty() && pod->key.namespace_name != namespace_name) continue;
    const bool is_pod = reference.kind == "pod" && pod->key.name == reference.name;
    const auto matches = [&](const WorkloadName& workload) { return names(reference, workload); };
    if (is_pod || std::ranges::any_of(all.all_of(*pod), matches)) out.push_back(pod->key);
  }
  return out;
}

}  // namespace

std::vector<std::string> nodes_of_pool(const Snapshot& snapshot, std::string_view pool) {
  std::vector<std::string> nodes;
  for (const NodePtr& node : snapshot.nodes) {
    if (!placement::has_tpus(*node)) continue;
    const std::string& name = placement::domain_of_node(*node, snapshot.topology_key);
    if (name == pool || (name.empty() && node->key.name == pool)) nodes.push_back(node->key.name);
  }
  return nodes;
}

Result<Change> read_change(std::string_view verb, std::string_view subject, const Snapshot& snapshot,
                           const std::string& namespace_name) {
  Change change;
  change.text = clip(fmt::format("{} {}", verb, subject), kMaxChangeText);
  if (verb == "add") {
    change.kind = ChangeKind::kAdd;
    ASSIGN_OR_RETURN(change.new_nodes, new_pools(subject, snapshot));
    return change;
  }
  ASSIGN_OR_RETURN(const Reference reference, read_reference(subject));
  if (verb == "delete") {
    change.kind = ChangeKind::kDelete;
    change.pods = pods_named(reference, snapshot, namespace_name);
    if (!change.pods.empty()) return change;
    return Error::not_found("{}/{} has no pods{}", clip(reference.kind, kMaxChangeText),
                            clip(reference.name, kMaxChangeText),
                            namespace_name.empty() ? "" : " in namespace " + namespace_name);
  }
  if (verb != "drain" && verb != "lose" && verb != "repair") {
    return Error::invalid_argument("found \"{}\", expected drain, lose, repair, add or delete",
                                   clip(std::string(verb), kMaxChangeText));
  }
  change.kind = verb == "drain" ? ChangeKind::kDrain : verb == "lose" ? ChangeKind::kLose : ChangeKind::kRepair;
  ASSIGN_OR_RETURN(change.nodes, nodes_named(reference, snapshot));
  return change;
}

Snapshot with_change(Snapshot snapshot, const Change& change) {
  switch (change.kind) {
    case ChangeKind::kDrain:
    case ChangeKind::kLose:
    case ChangeKind::kRepair:
      change_nodes(change, snapshot);
      break;
    case ChangeKind::kAdd:
      snapshot.nodes.insert(snapshot.nodes.end(), change.new_nodes.begin(), change.new_nodes.end());
      break;
    case ChangeKind::kDelete: {
      const std::set<ObjectKey> deleted(change.pods.begin(), change.pods.end());
      std::erase_if(snapshot.pods, [&](const PodPtr& pod) { return deleted.contains(pod->key); });
      break;
    }
    case ChangeKind::kApply:
      snapshot.pods.insert(snapshot.pods.end(), change.new_pods.begin(), change.new_pods.end());
      break;
  }
  return snapshot;
}

Snapshot settled(Snapshot snapshot) {
  for (int round = 0; round < kMaxRounds && plan_round(snapshot); ++round) {
  }
  return snapshot;
}

}  // namespace tpuslice::fleet
