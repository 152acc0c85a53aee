#include "controllers/slice/node_health.h"

#include <algorithm>

#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

const std::string& zone_of(const NodeView& node) { return value_of(node.labels, tpu::kZoneLabel); }

}  // namespace

bool NodeHealth::counts_locked(const NodePtr& node) const {
  return node != nullptr && !node->minimal && !new_.contains(node->key.name);
}

NodeHealth::Zone& NodeHealth::zone_locked(const NodeView& node) {
  return zones_.try_emplace(zone_of(node), Zone{.since = start_, .without_tpus_since = start_}).first->second;
}

void NodeHealth::add_locked(const NodeView& node, int times, Timestamp now) {
  for (Zone* zone : {&all_, &zone_locked(node)}) {
    if (is_disrupted(*zone)) zone->since = now;
    if (lacks_nodes_without_tpus(*zone)) zone->without_tpus_since = now;
    Count& count = has_tpus(node) ? zone->with_tpus : zone->without_tpus;
    count.nodes += times;
    if (!node.ready) count.not_ready += times;
  }
}

void NodeHealth::record(const NodePtr& before, const NodePtr& after, Timestamp now) {
  const MutexLock lock(mutex_);
  if (counts_locked(before)) add_locked(*before, -1, now);
  const std::string& name = (after == nullptr ? before : after)->key.name;
  if (after == nullptr || after->ready) {
    new_.erase(name);
    not_ready_since_.erase(name);
  } else if (before == nullptr) {
    if (now > start_ + kFirstList) new_.insert(name);
  } else if (before->ready) {
    not_ready_since_[name] = now;
  }
  if (counts_locked(after)) add_locked(*after, 1, now);
}

Timestamp NodeHealth::not_ready_since_locked(const NodeView& node) const {
  const auto seen = not_ready_since_.find(node.key.name);
  return seen == not_ready_since_.end() ? node.ready_changed.value_or(Timestamp{}) : seen->second;
}

const NodeHealth::Zone& NodeHealth::find_zone_locked(const NodeView& node) const {
  const auto found = zones_.find(zone_of(node));
  return found == zones_.end() ? all_ : found->second;
}

NotReady NodeHealth::not_ready(const NodeView& node) const {
  const MutexLock lock(mutex_);
  const Timestamp since = not_ready_since_locked(node);
  const Zone& zone = find_zone_locked(node);
  if (is_disrupted(all_) || is_disrupted(zone)) return {since, std::nullopt};
  return {since, std::max({since, all_.since, zone.since})};
}

NotReady NodeHealth::not_ready_without_tpus(const NodeView& node) const {
  const MutexLock lock(mutex_);
  const Timestamp since = not_ready_since_locked(node);
  const Zone& zone = find_zone_locked(node);
  const auto disrupted = [&](const Zone& each) { return is_disrupted(each) || lacks_nodes_without_tpus(each); };
  if (disrupted(all_) || disrupted(zone)) return {since, std::nullopt};
  return {since, std::max({since, all_.since, zone.since, all_.without_tpus_since, zone.without_tpus_since})};
}

bool NodeHealth::lacks_nodes_without_tpus(const Zone& zone) const {
  return zone.without_tpus.not_ready > disrupted_nodes_ && has_disrupted_share(zone.without_tpus);
}

bool NodeHealth::is_disrupted(const Zone& zone) const {
  if (zone.with_tpus.not_ready <= disrupted_nodes_ || !has_disrupted_share(zone.with_tpus)) return false;
  return zone.without_tpus.nodes == 0 || has_disrupted_share(zone.without_tpus);
}

}  // namespace tpuslice::slice
