#include "controllers/placement/accelerator_caches.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "tpu/chips.h"

namespace tpuslice::placement {

AcceleratorCaches::AcceleratorCaches(const runtime::PodStores& pods, runtime::NodeStore& nodes, slice::Indexes indexes,
                                     PlacementOptions options)
    : indexes_(std::move(indexes)),
      by_accelerator_(pods, nodes),
      options_(std::move(options)),
      nodes_(nodes),
      node_log_(nodes.add_change_log()) {
  for (runtime::PodStore* store : pods) pod_logs_.push_back(store->add_change_log());
}

AcceleratorCaches::Updated AcceleratorCaches::update(const std::string& accelerator, Remembered remembered,
                                                     Timestamp now) {
  Entry* entry = nullptr;
  Changed changed;
  {
    const MutexLock lock(mutex_);
    if (entries_.empty()) {
      for (const auto& log : pod_logs_) log->start();
      node_log_->start();
    }
    take_changes_locked();
    std::unique_ptr<Entry>& known = entries_[accelerator];
    if (known == nullptr) known = std::make_unique<Entry>(Entry{AcceleratorCache(accelerator, options_), {}});
    entry = known.get();
    changed = std::exchange(changed_[accelerator], {.all = false, .nodes = {}, .slices = {}});
  }
  const RemovedHosts before = std::move(entry->remembered.removed_hosts);
  entry->remembered = std::move(remembered);
  if (changed.all) {
    read(*entry, now);
  } else {
    std::vector<RemovedHosts::value_type> differences;
    std::ranges::set_symmetric_difference(before, entry->remembered.removed_hosts, std::back_inserter(differences));
    for (const auto& [slice, hosts] : differences) changed.slices.insert(slice);
    apply(*entry, changed, now);
  }
  entry->remembered.places = nullptr;  // Otherwise each change would copy the history.
  return {entry->cache, std::exchange(entry->last_update, now)};
}

void AcceleratorCaches::drop(const std::string& accelerator) {
  const MutexLock lock(mutex_);
  changed_.erase(accelerator);
  if (entries_.erase(accelerator) == 0 || !entries_.empty()) return;
  for (const auto& log : pod_logs_) log->stop();
  node_log_->stop();
}

void AcceleratorCaches::take_changes_locked() {
  bool complete = true;
  for (const auto& log : pod_logs_) {
    const auto changes = log->take();
    complete = complete && changes.complete;
    for (const auto& [before, after] : changes.list) {
      if (before != nullptr) add_pod_locked(*before);
      if (after != nullptr) add_pod_locked(*after);
    }
  }
  const auto changes = node_log_->take();
  complete = complete && changes.complete;
  for (const auto& [before, after] : changes.list) {
    if (before != nullptr) add_node_locked(*before);
    if (after != nullptr) add_node_locked(*after);
  }
  for (auto& [accelerator, changed] : changed_) {
    if (complete && changed.nodes.size() + changed.slices.size() <= kMaxChanged) continue;
    changed = {};
  }
}

void AcceleratorCaches::add_pod_locked(const PodView& pod) {
  if (!is_considered(pod)) return;
  const std::string& selected = accelerator_of(pod.scheduling->node_selector);
  for (auto& [accelerator, changed] : changed_) {
    if (changed.all) continue;
    // A pod without TPUs uses nodes of any accelerator.
    if (tpu::chips_of(pod) > 0 && !selected.empty() && selected != accelerator) continue;
    if (tpu::chips_of(pod) > 0 && in_slice(pod)) changed.slices.insert(slice_key(pod));
    if (!pod.node_name.empty()) changed.nodes.insert(pod.node_name);
  }
}

void AcceleratorCaches::add_node_locked(const NodeView& node) {
  if (!has_tpus(node)) return;
  const auto found = changed_.find(accelerator_of(node.labels));
  if (found != changed_.end() && !found->second.all) found->second.nodes.insert(node.key.name);
}

void AcceleratorCaches::read(Entry& entry, Timestamp now) const {
  const std::string& accelerator = entry.cache.accelerator();
  ClusterState cluster;
  cluster.nodes = by_accelerator_.nodes.lookup(accelerator);
  cluster.pods = by_accelerator_.pods.lookup(accelerator);
  std::vector<PodPtr> without_accelerator = by_accelerator_.pods.lookup("");
  cluster.pods.insert(cluster.pods.end(), without_accelerator.begin(), without_accelerator.end());
  cluster.pods_without_tpus = by_accelerator_.pods_without_tpus.lookup("");
  cluster.remembered = entry.remembered;
  entry.cache.read(cluster, now);
}

void AcceleratorCaches::apply(Entry& entry, const Changed& changed, Timestamp now) const {
  for (const std::string& name : changed.nodes) {
    NodePtr node = slice::find_tpu_node(nodes_, name);
    if (node != nullptr && accelerator_of(node->labels) != entry.cache.accelerator()) node = nullptr;
    entry.cache.set_node(name, node, indexes_.pods_by_node.lookup(name));
  }
  for (const ObjectKey& key : changed.slices) {
    entry.cache.set_slice(key, indexes_.pods_by_slice.lookup(key.to_string()), entry.remembered, now);
  }
}

}  // namespace tpuslice::placement
