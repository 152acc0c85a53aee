#include "controllers/raycluster/worker_groups.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "controllers/raycluster/labels.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pod_builder.h"
#include "controllers/raycluster/replicas.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

using runtime::EventType;

// A plan holds every pod it creates; the rest follows when the stores show these.
constexpr std::size_t kCreatesPerGroup = 1000;

std::string pods_word(std::size_t count) { return count == 1 ? "pod" : fmt::format("{} pods", count); }

// Deletes what is not yet on its way out, and says so; silent where nothing is left to do but wait.
void delete_pods(const RayClusterSpec& spec, std::vector<PodPtr> pods, const std::string& why, Changes& out) {
  std::erase_if(pods, [](const PodPtr& pod) { return pod->terminating(); });
  if (pods.empty()) return;
  std::vector<std::string> names;
  for (const PodPtr& pod : pods) {
    out.deletes.push_back(delete_pod(*pod, kFailedDeleteWorkerPod));
    names.push_back(pod->key.name);
  }
  const ObjectKey& last = pods.back()->key;
  out.events.push_back({EventType::kNormal, "DeletedWorkerPod", "DeleteWorkerPod",
                        fmt::format("Deleted worker {} {} in {}: {}", pods.size() == 1 ? "Pod" : "Pods",
                                    join_names(names), spec.key.namespace_name, why),
                        last});
  out.events.push_back({EventType::kWarning, "FailedToDeleteWorkerPod", "DeleteWorkerPod",
                        fmt::format("Failed to delete worker {} {} in {}", pods.size() == 1 ? "Pod" : "Pods",
                                    join_names(names), spec.key.namespace_name),
                        pods.front()->key});
  out.reasons.push_back(why);
}

// Plans one group.
class GroupPlanner {
 public:
  /// `taken` are the names of all the cluster's workers, whatever their labels say.
  GroupPlanner(const RayClusterSpec& spec, const WorkerGroup& group, const std::vector<PodPtr>& pods,
               const std::set<std::string>& taken, const Options& options)
      : spec_(spec),
        group_(group),
        options_(options),
        taken_(taken),
        pods_(sort_into_replicas(group, pods)),
        named_(group.workers_to_delete.begin(), group.workers_to_delete.end()) {}

  Changes plan() && {
    if (!pods_.unplaced.empty()) {
      delete_pods(spec_, pods_.unplaced,
                  fmt::format("group {} has {} without a replica index: deleting {}", group_.name,
                              pods_word(pods_.unplaced.size()), pods_.unplaced.size() == 1 ? "it" : "them"),
                  out_);
    }
    std::vector<const Replica*> kept = delete_named();
    delete_surplus(kept);
    for (const Replica* replica : kept) {
      if (replica->state == ReplicaState::kBroken) tear_down(*replica, replica->problem);
      if (replica->state == ReplicaState::kForming) complete(*replica);
    }
    build_missing(kept.size());
    return std::move(out_);
  }

 private:
  // True if `names` has the name of a pod that this replica has or would have.
  [[nodiscard]] bool overlaps(int index, const std::set<std::string>& names) const {
    for (int host = 0; !names.empty() && host < group_.hosts; ++host) {
      if (names.contains(worker_pod_name(spec_, group_.name, index, host))) return true;
    }
    return false;
  }

  std::vector<const Replica*> delete_named() {
    std::vector<const Replica*> kept;
    for (const auto& [index, replica] : pods_.replicas) {
      const bool named =
          std::ranges::any_of(replica.pods, [&](const PodPtr& pod) { return named_.contains(pod->key.name); });
      if (named || (replica.state != ReplicaState::kWhole && overlaps(index, named_))) {
        tear_down(replica, "is named in scaleStrategy.workersToDelete");
      } else {
        kept.push_back(&replica);
      }
    }
    return kept;
  }

  void delete_surplus(std::vector<const Replica*>& kept) {
    const auto wanted = static_cast<std::size_t>(group_.desired_replicas());
    if (kept.size() <= wanted) return;
    std::ranges::sort(kept, [](const Replica* a, const Replica* b) {
      return a->state != b->state ? a->state > b->state : a->index < b->index;
    });
    for (std::size_t i = wanted; i < kept.size(); ++i) {
      tear_down(*kept[i], group_.suspended ? "is not wanted, the group is suspended"
                                           : fmt::format("is not wanted, {} of {} are", wanted, kept.size()));
    }
    kept.resize(wanted);
    std::ranges::sort(kept, {}, &Replica::index);
  }

  void tear_down(const Replica& replica, const std::string& why) {
    delete_pods(spec_, replica.pods,
                fmt::format("replica {} of group {} {}: tearing down its {}", replica.index, group_.name, why,
                            pods_word(replica.not_terminating().size())),
                out_);
  }

  void build_missing(std::size_t present) {
    const auto wanted = static_cast<std::size_t>(group_.desired_replicas());
    std::vector<int> hosts;
    for (int host = 0; host < group_.hosts; ++host) hosts.push_back(host);
    for (int index = 0; present < wanted && out_.creates.size() < kCreatesPerGroup; ++index) {
      // A pod that bears one of the names, but not the labels, has to be gone first.
      if (pods_.replicas.contains(index) || overlaps(index, named_) || overlaps(index, taken_)) continue;
      if (!build(index, hosts)) return;
      ++present;
    }
  }

  void complete(const Replica& replica) {
    const bool blocked = std::ranges::any_of(replica.missing, [&](int host) {
      return taken_.contains(worker_pod_name(spec_, group_.name, replica.index, host));
    });
    if (blocked) return tear_down(replica, "lacks a host whose pod has lost its labels");
    build(replica.index, replica.missing);
  }

  // All pods or none: a replica whose pods cannot be made is not begun. They are made when they are sent. What is wrong
  // is wrong with all of them, but where the template fixes what differs between hosts or replicas: then it is right
  // for one at most. So two hosts of two replicas tell.
  bool build(int index, const std::vector<int>& hosts) {
    if (!builder_) {
      Result<WorkerPods> builder = WorkerPods::of(spec_, group_, options_);
      if (!builder) return refuse(builder.error());
      builder_ = std::make_shared<const WorkerPods>(*std::move(builder));
    }
    if (proven_ < 2) {
      for (const int host : {hosts.front(), hosts.back()}) {
        const Result<Object> pod = builder_->build({index, host});
        if (!pod) return refuse(pod.error());
      }
      ++proven_;
    }
    std::vector<ObjectKey> keys;
    for (const int host : hosts) {
      const WorkerPlace place{index, host};
      keys.push_back(builder_->key(place));
      out_.creates.push_back(create_pod(
          keys.back(),
          [builder = builder_, place]() -> Result<Json> {
            ASSIGN_OR_RETURN(Object pod, builder->build(place));
            return std::move(pod.mutable_json());
          },
          kFailedCreateWorkerPod));
    }
    announce(index, keys);
    return true;
  }

  bool refuse(const Error& error) {
    out_.refused.push_back(error.message());
    return false;
  }

  void announce(int index, const std::vector<ObjectKey>& pods) {
    const bool forming = pods_.replicas.contains(index);
    std::vector<std::string> names;
    for (const ObjectKey& pod : pods) names.push_back(pod.name);
    const char* word = names.size() == 1 ? "Pod" : "Pods";
    out_.reasons.push_back(forming ? fmt::format("replica {} of group {} is unfinished: creating its missing {}", index,
                                                 group_.name, pods_word(names.size()))
                                   : fmt::format("replica {} of group {} is missing: creating its {}", index,
                                                 group_.name, pods_word(names.size())));
    out_.events.push_back({EventType::kNormal, "CreatedWorkerPod", "CreateWorkerPod",
                           fmt::format("Created worker {} {} in {}, replica {} of group {}", word, join_names(names),
                                       spec_.key.namespace_name, index, group_.name),
                           pods.back()});
    out_.events.push_back({EventType::kWarning, "FailedToCreateWorkerPod", "CreateWorkerPod",
                           fmt::format("Failed to create worker {} {} in {}, replica {} of group {}", word,
                                       join_names(names), spec_.key.namespace_name, index, group_.name),
                           pods.front()});
  }

  const RayClusterSpec& spec_;
  const WorkerGroup& group_;
  const Options& options_;
  const std::set<std::string>& taken_;
  const GroupPods pods_;
  const std::set<std::string> named_;
  std::shared_ptr<const WorkerPods> builder_;  ///< Once a pod is missing.
  int proven_ = 0;                             ///< Replicas whose pods can be made.
  Changes out_;
};

}  // namespace

Changes plan_worker_groups(const RayClusterSpec& spec, const std::vector<PodPtr>& workers, const Options& options) {
  std::map<std::string, std::vector<PodPtr>> by_group;
  std::set<std::string> taken;
  for (const PodPtr& pod : workers) {
    by_group[pod->label(tpu::kRayGroup)].push_back(pod);
    taken.insert(pod->key.name);
  }
  Changes out;
  for (const WorkerGroup& group : spec.groups) {
    out.append(GroupPlanner(spec, group, by_group[group.name], taken, options).plan());
    by_group.erase(group.name);
  }
  for (const auto& [name, pods] : by_group) {
    const auto live =
        static_cast<std::size_t>(std::ranges::count_if(pods, [](const PodPtr& pod) { return !pod->terminating(); }));
    delete_pods(spec, pods, fmt::format("the spec has no worker group \"{}\": deleting its {}", name, pods_word(live)),
                out);
  }
  return out;
}

}  // namespace tpuslice::raycluster
