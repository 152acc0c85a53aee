#include "tests/sim/slices/leader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/check.h"
#include "controllers/placement/scale_up/scouts.h"
#include "tpu/labels.h"

namespace tpuslice::testing {

Leader::Leader(World& world, const RememberedChanges& remembered, std::string name, LeaderOptions options)
    : name_(std::move(name)),
      options_(std::move(options)),
      world_(world),
      remembered_(remembered),
      seen_(world.changes().size()),
      health_(options_.of_slices, world.now()),
      cache_(kAccelerator, options_.of_placement) {
  // Pods that admission has not marked are never seen.
  for (const auto& [key, pod] : world.pods()) {
    if (!pod->label(tpu::kSlice).empty()) pods_[key] = pod;
  }
  nodes_ = world.nodes();
  preemption_records_ = world.preemption_records();
  for (const auto& [node_name, node] : nodes_) {
    changed_nodes_.insert(node_name);
    health_.record(nullptr, node, world.now());
  }
  for (const auto& [key, pod] : pods_) add_to_changed(*pod);
  queue_all();
}

void Leader::queue_all() {
  queue_.insert(kAccelerator);
  for (const auto& [key, pod] : pods_) queue_.insert(pod->label(tpu::kSlice));
}

void Leader::observe(std::size_t max_changes) {
  for (; max_changes > 0 && seen_ < world_.changes().size(); --max_changes) {
    const Change& change = world_.changes()[seen_++];
    queue_.insert(kAccelerator);
    if (change.records_after != nullptr) {
      preemption_records_ = change.records_after;
      continue;
    }
    if (change.node) {
      changed_nodes_.insert(change.key.name);
      const auto before = nodes_.find(change.key.name);
      const NodePtr known = before == nodes_.end() ? nullptr : before->second;
      if (known != nullptr || change.node_after != nullptr) health_.record(known, change.node_after, world_.now());
      if (change.node_after == nullptr) {
        nodes_.erase(change.key.name);
      } else {
        nodes_[change.key.name] = change.node_after;
      }
      for (const auto& [key, pod] : pods_) {
        if (pod->node_name == change.key.name) queue_.insert(pod->label(tpu::kSlice));
      }
      continue;
    }
    if (const auto before = pods_.find(change.key); before != pods_.end()) {
      add_to_changed(*before->second);
      queue_.insert(before->second->label(tpu::kSlice));
    }
    if (change.pod_after == nullptr) {
      pods_.erase(change.key);
    } else if (!change.pod_after->label(tpu::kSlice).empty()) {
      pods_[change.key] = change.pod_after;
      add_to_changed(*change.pod_after);
      queue_.insert(change.pod_after->label(tpu::kSlice));
    }
  }
}

bool Leader::idle(const World& world) const {
  if (seen_ != world.changes().size() || !queue_.empty() || !stages_.empty()) return false;
  return true;
}

void Leader::add_to_changed(const PodView& pod) {
  if (!pod.node_name.empty()) changed_nodes_.insert(pod.node_name);
  if (slice::in_slice(pod)) changed_slices_.insert(slice::slice_key(pod));
}

std::vector<PodPtr> Leader::pods_where(const std::function<bool(const PodView&)>& condition) const {
  std::vector<PodPtr> out;
  for (const auto& [key, pod] : pods_) {
    if (condition(*pod)) out.push_back(pod);
  }
  return out;
}

/// With the cache, which follows the changes, and with one that has just been read. Both plans must be the same.
plan::Plan Leader::plan_placement(const World& world) {
  placement::PlacementObserved seen;
  seen.scouts =
      pods_where([&](const PodView& pod) { return placement::is_scout(pod, options_.of_placement.scale_up); });
  seen.now = world.now();
  seen.has_autoscaler = true;
  seen.preemptions = {true, preemption_records_};
  seen.rejected = remembered_.rejected();
  seen.places = remembered_.recent_places(options_.of_placement.keep_domain);
  const placement::Remembered remembered{{}, remembered_.places()};
  seen.failed_writes = std::make_shared<const plan::FailedWrites>(failed_writes_);
  for (const std::string& name : std::exchange(changed_nodes_, {})) {
    const auto node = nodes_.find(name);
    cache_.set_node(name, node == nodes_.end() ? nullptr : node->second,
                    pods_where([&](const PodView& pod) { return pod.node_name == name; }));
  }
  // The places may be those of a later version than the leader has seen.
  for (const auto& [slice, place] : *remembered.places) changed_slices_.insert(slice);
  changed_slices_.merge(std::exchange(slices_with_places_, {}));
  for (const auto& [slice, place] : *remembered.places) slices_with_places_.insert(slice);
  for (const ObjectKey& key : std::exchange(changed_slices_, {})) {
    const auto is_of_slice = [&](const PodView& pod) { return slice::in_slice(pod) && slice::slice_key(pod) == key; };
    cache_.set_slice(key, pods_where(is_of_slice), remembered, seen.now);
  }
  plan::Plan plan = placement::plan_placement(seen, cache_, options_.of_placement);

  placement::ClusterState cluster;
  cluster.remembered = remembered;
  for (const auto& [name, node] : nodes_) cluster.nodes.push_back(node);
  for (const auto& [name, pod] : pods_) cluster.pods.push_back(pod);
  placement::AcceleratorCache read(kAccelerator, options_.of_placement);
  read.read(cluster, seen.now);
  const plan::Plan expected = placement::plan_placement(seen, read, options_.of_placement);
  TPUSLICE_CHECK_MSG(to_json(plan) == to_json(expected),
                     fmt::format("cached: {}\nread: {}", to_json(plan).dump(), to_json(expected).dump()));
  return plan;
}

plan::Plan Leader::plan(const World& world, const std::string& key) {
  return key == kAccelerator ? plan_placement(world) : plan_slice(world, key);
}

bool Leader::is_disrupted() const {
  const auto not_ready = std::ranges::count_if(nodes_, [](const auto& entry) { return !entry.second->ready; });
  const slice::Options& options = options_.of_slices;
  return not_ready > options.disrupted_nodes && not_ready * 100 >= std::ssize(nodes_) * options.disrupted_percent;
}

plan::Plan Leader::plan_slice(const World& world, const std::string& name) const {
  slice::SliceObserved seen;
  seen.key = {"default", name};
  for (const auto& [key, pod] : pods_) {
    if (pod->label(tpu::kSlice) != name) continue;
    seen.pods.push_back(pod);
    const auto node = nodes_.find(pod->node_name);
    if (node == nodes_.end()) continue;
    seen.nodes.emplace(node->first, node->second);
    if (!node->second->ready) seen.not_ready.emplace(node->first, health_.not_ready(*node->second));
  }
  seen.now = world.now();
  seen.failed_writes = std::make_shared<const plan::FailedWrites>(failed_writes_);
  plan::Plan plan = slice::plan_slice(seen, options_.of_slices);
  const bool for_lost_node = plan.reason.find(" is torn down: node ") != std::string::npos;
  TPUSLICE_CHECK_MSG(!for_lost_node || !is_disrupted(), plan.reason);
  return plan;
}

void Leader::plan_next(World& world) {
  for (const auto& [key, when] : std::map(due_)) {
    if (when > world.now()) continue;
    queue_.insert(key);
    due_.erase(key);
  }
  for (const std::string& key : queue_) {
    // Read-your-writes: a key is planned again when its writes are seen.
    const auto written = written_.find(key);
    if (written != written_.end() && written->second > seen_) continue;
    const std::string chosen = key;
    queue_.erase(key);
    if (chosen == tpu::kNoSlice) return;
    plan::Plan plan = this->plan(world, chosen);
    failed_writes_.hold_back(plan, world.now());
    current_ = chosen;
    planned_ = seen_;
    for (plan::Stage& stage : plan.stages) stages_.push_back(std::move(stage));
    preempted_.clear();
    if (!plan.reason.empty()) world.note(fmt::format("{}: {}", name_, plan.reason));
    if (plan.requeue_after) due_[chosen] = world.now() + *plan.requeue_after;
    return;
  }
}

/// It deletes a pod of a gang that gives its domains to an older one, which is no part of the preemption budget.
static bool is_exchange(const plan::Action& action) {
  return action.events != nullptr &&
         action.events->on_success.front().message.find(" of its gang wait") != std::string::npos;
}

bool Leader::act(World& world) {
  while (!stages_.empty() && stages_.front().actions.empty()) stages_.pop_front();
  if (stages_.empty()) {
    plan_next(world);
    return !stages_.empty() || !queue_.empty();
  }
  const plan::Stage& stage = stages_.front();
  const plan::Action action = std::move(stages_.front().actions.back());
  stages_.front().actions.pop_back();
  ++writes_;
  const auto victim = pods_.find(action.key);
  const bool ends = current_ == kAccelerator && action.kind == plan::ActionKind::kDelete && victim != pods_.end() &&
                    slice::in_slice(*victim->second) && !is_exchange(action);
  const Status done = world.apply(action);
  if (done.ok()) {
    failed_writes_.record_success(action);
    written_[current_] = world.version();
    if (ends && preempted_.insert(victim->second->label(tpu::kSlice)).second)
      world.preemptions().push_back(world.now());
  } else {
    world.note(fmt::format("{}: {}", name_, done.error().message()));
    // As the executor reports it: the pod that was seen is gone.
    const bool is_gone = done.error().code() == ErrorCode::kNotFound;
    failed_writes_.record_failure(action, is_gone ? Error::conflict("{}", done.error().message()) : done.error(),
                                  world.now());
    queue_.insert(current_);
    if (!stage.continue_on_failure) stages_.clear();
  }
  return true;
}

}  // namespace tpuslice::testing
