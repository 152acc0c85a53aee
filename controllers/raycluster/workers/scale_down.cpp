#include "controllers/raycluster/workers/worker_groups.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

using Replicas = std::map<int, std::vector<PodPtr>>;  ///< Pods by replica index.

bool has_lost_pod(const std::vector<PodPtr>& pods) {
  return std::ranges::any_of(pods, [](const PodPtr& pod) { return pod->terminating() || pod->finished(); });
}

/// Whether the numbers of replicas are those that the user wrote: one that is invalid is read as its default.
bool has_valid_numbers(const Json& group) {
  for (const std::string_view field : {"replicas", "minReplicas", "maxReplicas"}) {
    const Json* found = find_set(group, {field});
    const auto number = int32_at(group, {field});
    if (found != nullptr && (!number || *number < 0)) return false;
  }
  return true;
}

bool have_different_names(const RayClusterSpec& spec) {
  std::set<std::string_view> names;
  return std::ranges::all_of(spec.groups, [&](const WorkerGroup& group) { return names.insert(group.name).second; });
}

class GroupScaleDown {
 public:
  GroupScaleDown(const WorkerGroup& group, const std::vector<PodPtr>& pods, WorkerDecision& out)
      : group_(group), pods_(pods), out_(out) {
    for (const PodPtr& pod : pods) {
      if (const auto index = index_label(*pod, kRayReplicaIndex)) replicas_[*index].push_back(pod);
    }
  }

  void delete_all() { delete_pods(pods_, fmt::format("group {} is suspended", group_.name)); }

  void delete_listed() {
    const std::set<std::string> listed(group_.workers_to_delete.begin(), group_.workers_to_delete.end());
    std::erase_if(replicas_, [&](const auto& replica) {
      const bool found =
          std::ranges::any_of(replica.second, [&](const PodPtr& pod) { return listed.contains(pod->key.name); });
      if (found) delete_replica(replica, "is listed in scaleStrategy.workersToDelete");
      return found;
    });
  }

  void delete_surplus() {
    const auto desired = static_cast<std::size_t>(group_.desired_replicas());
    const std::string why = fmt::format("is surplus, {} of {} replicas are desired", desired, replicas_.size());
    // Those that have lost a pod first, then those with the highest indexes.
    for (auto replica = replicas_.begin(); replica != replicas_.end() && replicas_.size() > desired;) {
      if (!has_lost_pod(replica->second)) {
        ++replica;
        continue;
      }
      delete_replica(*replica, why);
      replica = replicas_.erase(replica);
    }
    while (replicas_.size() > desired) {
      const auto last = std::prev(replicas_.end());
      delete_replica(*last, why);
      replicas_.erase(last);
    }
  }

 private:
  void delete_replica(const Replicas::value_type& replica, const std::string& why) {
    delete_pods(replica.second, fmt::format("replica {} of group {} {}", replica.first, group_.name, why));
  }

  void delete_pods(const std::vector<PodPtr>& pods, const std::string& why) {
    std::vector<PodPtr> deleted = not_terminating(pods);
    if (deleted.empty()) return;
    std::string reason = fmt::format("{}: deleting {} pod{}", why, deleted.size(), deleted.size() == 1 ? "" : "s");
    out_.deletes.push_back({std::move(deleted), std::move(reason)});
  }

  const WorkerGroup& group_;
  const std::vector<PodPtr>& pods_;
  Replicas replicas_;
  WorkerDecision& out_;
};

}  // namespace

WorkerDecision decide_scale_down(const RayClusterSpec& spec, const std::vector<PodPtr>& workers) {
  WorkerDecision out;
  if (spec.source == nullptr || !have_different_names(spec)) return out;
  std::map<std::string, std::vector<PodPtr>> by_group;
  for (const PodPtr& pod : workers) by_group[pod->label(kRayGroup)].push_back(pod);
  const Json& groups = array_at(*spec.source, {"workerGroupSpecs"});
  for (std::size_t index = 0; index < spec.groups.size() && index < groups.size(); ++index) {
    const WorkerGroup& group = spec.groups[index];
    GroupScaleDown planner(group, by_group[group.name], out);
    if (group.suspended) {
      planner.delete_all();
    } else if (has_valid_numbers(groups[index])) {
      planner.delete_listed();
      if (!spec.autoscaling.enabled) planner.delete_surplus();
    }
  }
  return out;
}

}  // namespace tpuslice::raycluster
