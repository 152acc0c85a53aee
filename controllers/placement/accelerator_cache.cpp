#include "controllers/placement/accelerator_cache.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "controllers/placement/scale_up/scouts.h"
#include "tpu/chips.h"
#include "tpu/labels.h"
#include "tpu/topology_key.h"

namespace tpuslice::placement {
namespace {

/// Those that start together with it need not wait for it.
bool has_started(const CachedSlice& cached) {
  if (cached.state.phase == SlicePhase::kPlaced) return true;
  const bool any_succeeded =
      std::ranges::any_of(cached.slice.hosts, [](const PodPtr& pod) { return pod->phase == PodPhase::kSucceeded; });
  return cached.state.phase == SlicePhase::kIdle && any_succeeded;
}

/// Slices without gates, such as those of a single host, are for kube-scheduler.
bool may_be_planned(const CachedSlice& cached) {
  const bool ungated = cached.state.phase == SlicePhase::kUngated && !cached.has_gate && !cached.state.changes_at;
  return cached.state.phase != SlicePhase::kIdle && !ungated;
}

/// Null if the slice has none; another workload of that name may have had one.
const FormerPlace* former_place(const Slice& slice, const Remembered& remembered) {
  if (remembered.places == nullptr) return nullptr;
  const auto found = remembered.places->find(slice.key);
  if (found == remembered.places->end() || found->second.workload != workload_of(*slice.any_pod())) return nullptr;
  return &found->second;
}

}  // namespace

std::size_t AcceleratorCache::max_requirements(const std::vector<const Slice*>& ready) {
  constexpr std::size_t kMaxOfNamespace = 32;
  std::set<std::string_view> namespaces;
  for (const Slice* slice : ready) namespaces.insert(slice->key.namespace_name);
  const std::size_t share = kMaxComparisons / std::max<std::size_t>(namespaces.size(), 1);
  return std::clamp<std::size_t>(share, 1, kMaxOfNamespace);
}

void AcceleratorCache::read(const ClusterState& cluster, Timestamp now) {
  slices_.clear();
  placed_ = {};
  unplaced_.clear();
  waiting_started_.clear();
  pods_without_tpus_.clear();
  domains_ = {};
  comparisons_.clear();
  std::map<std::string, std::vector<PodPtr>> by_node;
  for (const auto* pods : {&cluster.pods, &cluster.pods_without_tpus}) {
    for (const PodPtr& pod : *pods) {
      if (!pod->node_name.empty()) by_node[pod->node_name].push_back(pod);
    }
  }
  const auto sort = [](std::vector<PodPtr>& pods) {
    std::ranges::stable_sort(pods, {}, [](const PodPtr& pod) -> const ObjectKey& { return pod->key; });
  };
  for (const NodePtr& node : cluster.nodes) {
    std::vector<PodPtr>& on_it = by_node[node->key.name];
    sort(on_it);
    set_node(node->key.name, node, on_it);
  }
  for (auto& [key, pods] : group_by_slice(cluster.pods)) {
    sort(pods);
    set_slice(key, pods, cluster.remembered, now);
  }
}

void AcceleratorCache::set_node(const std::string& name, const NodePtr& node, const std::vector<PodPtr>& pods) {
  const NodeUse* const known = domains_.find(name);
  const NodePtr before = known == nullptr ? nullptr : known->node;
  const bool moved = (before == nullptr) != (node == nullptr) || (node != nullptr && before->labels != node->labels);
  domains_.set_node(name, node);
  pods_without_tpus_.erase(name);
  PodPtr user;
  for (const PodPtr& pod : pods) {
    if (tpu::chips_of(*pod) == 0) {
      if (node != nullptr && !pod->finished()) pods_without_tpus_[name].push_back(pod);
      continue;
    }
    if (!is_concerned(*pod) || pod->finished() || is_scout(*pod, options_.scale_up)) continue;
    // Pods that select the accelerator first.
    const auto selects = [](const PodView& of) { return !accelerator_of(of.scheduling->node_selector).empty(); };
    if (user == nullptr || (!selects(*user) && selects(*pod))) user = pod;
  }
  if (node != nullptr) domains_.set_user(name, std::move(user));
  if (!moved) return;
  for (const PodPtr& pod : pods) {
    const auto found = slices_.find(slice_key(*pod));
    if (found == slices_.end()) continue;
    vacate_domains(found->second);
    occupy_domains(found->second);
  }
}

void AcceleratorCache::set_slice(const ObjectKey& key, const std::vector<PodPtr>& pods, const Remembered& remembered,
                                 Timestamp now) {
  if (const auto known = slices_.find(key); known != slices_.end()) {
    vacate_domains(known->second);
    remove_from_lists(known->second);
    slices_.erase(known);
  }
  std::vector<PodPtr> members;
  std::ranges::copy_if(pods, std::back_inserter(members), [&](const PodPtr& pod) {
    return tpu::chips_of(*pod) > 0 && is_concerned(*pod) && !is_scout(*pod, options_.scale_up);
  });
  if (members.empty()) return;
  CachedSlice& cached = slices_[key];
  cached.slice = read_slice(key, members, remembered.removed_hosts);
  if (const FormerPlace* const place = former_place(cached.slice, remembered)) {
    cached.slice.queued_since = std::min(cached.slice.queued_since, place->queued_since);
  }
  std::string& topology_key = cached.slice.topology_key;
  const bool allowed = options_.topology_keys.empty() || options_.topology_keys.contains(topology_key) ||
                       tpu::is_gke_topology_key(topology_key);
  if (!allowed) topology_key.clear();
  const std::vector<PodPtr> live = cached.slice.live();
  cached.has_waiting_reason =
      std::ranges::any_of(live, [](const PodPtr& pod) { return !pod->annotation(tpu::kWaiting).empty(); });
  cached.state = state_of(cached.slice, now);
  // A minimal pod uses its node, but which host it is, or was, is unknown: the slice is neither placed nor preempted.
  if (std::ranges::any_of(members, &PodView::minimal, [](const PodPtr& pod) -> const PodView& { return *pod; })) {
    cached.state = {};
  }
  cached.has_gate = std::ranges::any_of(live, [](const PodPtr& pod) { return is_gated(*pod); });
  if (!cached.has_gate || cached.state.phase == SlicePhase::kPlaced) {
    for (const PodPtr& pod : live) {
      if (cached.waits_started) break;
      cached.waits_started = plan::parse_waiting_code(pod->annotation(tpu::kWaitingReason));
    }
  }
  add_to_lists(cached);
  occupy_domains(cached);
}

void AcceleratorCache::update_states(Timestamp now) {
  for (const CachedSlice* each : std::vector(unplaced_.begin(), unplaced_.end())) {
    if (!each->state.changes_at || now < *each->state.changes_at) continue;
    CachedSlice& cached = slices_.at(each->slice.key);
    remove_from_lists(cached);
    cached.state = state_of(cached.slice, now);
    add_to_lists(cached);
  }
}

std::vector<const CachedSlice*> AcceleratorCache::unplaced() const { return {unplaced_.begin(), unplaced_.end()}; }

std::shared_ptr<Comparison> AcceleratorCache::comparison(const NodeRequirements& requirements) {
  const auto known = std::ranges::find_if(
      comparisons_, [&](const auto& each) { return are_equivalent(each->requirements(), requirements); });
  if (known != comparisons_.end()) {
    comparisons_.splice(comparisons_.begin(), comparisons_, known);
  } else {
    comparisons_.push_front(std::make_shared<Comparison>(requirements));
    if (comparisons_.size() > kMaxComparisons) comparisons_.pop_back();
  }
  return comparisons_.front();
}

bool AcceleratorCache::is_concerned(const PodView& pod) const {
  const std::string& selected = accelerator_of(pod.scheduling->node_selector);
  return selected.empty() || selected == accelerator_;
}

void AcceleratorCache::occupy_domains(CachedSlice& cached) {
  const Slice& slice = cached.slice;
  if (slice.size < 2 || slice.topology_key.empty()) return;
  for (const PodPtr& pod : slice.hosts) {
    if (pod->finished() || is_gated(*pod)) continue;
    const NodeUse* const node = domains_.find(pod->node_name);
    if (!pod->node_name.empty() && node == nullptr) continue;  // Deleted, or of another accelerator.
    std::string domain = domain_of(*pod, slice.topology_key, node == nullptr ? nullptr : node->node.get());
    if (domain.empty() || std::ranges::find(cached.occupied, domain) != cached.occupied.end()) continue;
    domains_.occupy({slice.topology_key, domain}, slice.key, display_name(slice));
    cached.occupied.push_back(std::move(domain));
  }
}

void AcceleratorCache::vacate_domains(CachedSlice& cached) {
  for (const std::string& domain : cached.occupied) {
    domains_.vacate({cached.slice.topology_key, domain}, cached.slice.key);
  }
  cached.occupied.clear();
}

void AcceleratorCache::add_to_lists(const CachedSlice& cached) {
  const Slice& slice = cached.slice;
  if (!slice.gang.empty() && has_started(cached)) ++placed_.gangs[{slice.key.namespace_name, slice.gang}];
  if (cached.waits_started) ++waiting_started_[*cached.waits_started];
  if (cached.state.phase == SlicePhase::kPlaced) {
    placed_.by_key.emplace(slice.key, &slice);
  } else if (may_be_planned(cached)) {
    unplaced_.insert(&cached);
  }
}

void AcceleratorCache::remove_from_lists(const CachedSlice& cached) {
  const Slice& slice = cached.slice;
  unplaced_.erase(&cached);
  if (cached.waits_started) --waiting_started_[*cached.waits_started];
  placed_.by_key.erase(slice.key);
  if (slice.gang.empty() || !has_started(cached)) return;
  const auto gang = placed_.gangs.find({slice.key.namespace_name, slice.gang});
  if (--gang->second == 0) placed_.gangs.erase(gang);
}

}  // namespace tpuslice::placement
