#include "controllers/raycluster/worker_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/replicas.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

/// Of one group in one plan; the next plan creates the others.
constexpr std::size_t kMaxCreates = 1000;

std::string count_pods(std::size_t count) { return count == 1 ? "pod" : fmt::format("{} pods", count); }

class GroupPlanner {
 public:
  /// `names` are those of all worker pods of the cluster, whatever their labels are.
  GroupPlanner(const RayClusterSpec& spec, const WorkerGroup& group, const std::vector<PodPtr>& pods,
               const std::set<std::string>& names, bool may_create, const Options& options, WorkerDecision& out)
      : spec_(spec),
        group_(group),
        names_(names),
        may_create_(may_create),
        options_(options),
        pods_(classify(group, pods)),
        to_delete_(group.workers_to_delete.begin(), group.workers_to_delete.end()),
        out_(out) {}

  void decide() {
    delete_pods_without_index();
    std::vector<const Replica*> kept = delete_listed_replicas();
    delete_surplus(kept);
    for (const Replica* replica : kept) {
      if (replica->state == ReplicaState::kBroken) tear_down(*replica, replica->failure);
      if (replica->state == ReplicaState::kForming) complete(*replica);
    }
    create_missing(kept.size());
  }

 private:
  /// Whether `names` has the name of a pod that this replica has or would have.
  [[nodiscard]] bool has_name_in(int replica, const std::set<std::string>& names) const {
    for (int host = 0; !names.empty() && host < group_.hosts; ++host) {
      if (names.contains(worker_pod_name(spec_, group_.name, replica, host))) return true;
    }
    return false;
  }

  void delete_pods_without_index() {
    std::vector<PodPtr> pods = not_terminating(pods_.without_index);
    if (pods.empty()) return;
    std::string reason = fmt::format("group {} has {} without a replica index: deleting {}", group_.name,
                                     count_pods(pods.size()), pods.size() == 1 ? "it" : "them");
    out_.deletes.push_back({std::move(pods), std::move(reason)});
  }

  /// Returns the replicas that scaleStrategy.workersToDelete does not list.
  std::vector<const Replica*> delete_listed_replicas() {
    std::vector<const Replica*> kept;
    for (const auto& [index, replica] : pods_.replicas) {
      const bool listed =
          std::ranges::any_of(replica.pods, [&](const PodPtr& pod) { return to_delete_.contains(pod->key.name); });
      if (listed || (replica.state != ReplicaState::kComplete && has_name_in(index, to_delete_))) {
        tear_down(replica, "is listed in scaleStrategy.workersToDelete");
      } else {
        kept.push_back(&replica);
      }
    }
    return kept;
  }

  void delete_surplus(std::vector<const Replica*>& kept) {
    const auto desired = static_cast<std::size_t>(group_.desired_replicas());
    if (kept.size() <= desired) return;
    std::ranges::sort(kept, [](const Replica* a, const Replica* b) {
      return a->state != b->state ? a->state > b->state : a->index < b->index;
    });
    for (std::size_t i = desired; i < kept.size(); ++i) {
      tear_down(*kept[i], group_.suspended
                              ? "is surplus, the group is suspended"
                              : fmt::format("is surplus, {} of {} replicas are desired", desired, kept.size()));
    }
    kept.resize(desired);
    std::ranges::sort(kept, {}, &Replica::index);
  }

  void tear_down(const Replica& replica, const std::string& why) {
    std::vector<PodPtr> pods = not_terminating(replica.pods);
    if (pods.empty()) return;
    std::string reason = fmt::format("replica {} of group {} {}: deleting its {}", replica.index, group_.name, why,
                                     count_pods(pods.size()));
    out_.deletes.push_back({std::move(pods), std::move(reason)});
  }

  void create_missing(std::size_t present) {
    const auto desired = static_cast<std::size_t>(group_.desired_replicas());
    std::vector<int> hosts(static_cast<std::size_t>(group_.hosts));
    std::iota(hosts.begin(), hosts.end(), 0);
    for (int index = 0; present < desired && created_ < kMaxCreates; ++index) {
      // A pod with one of the names, but without the labels, must be deleted first.
      if (pods_.replicas.contains(index) || has_name_in(index, to_delete_) || has_name_in(index, names_)) continue;
      if (!create(index, hosts, "missing: creating its")) return;
      ++present;
    }
  }

  void complete(const Replica& replica) {
    const bool name_in_use = std::ranges::any_of(replica.missing_hosts, [&](int host) {
      return names_.contains(worker_pod_name(spec_, group_.name, replica.index, host));
    });
    if (name_in_use) return tear_down(replica, "lacks a host whose pod lost its labels");
    create(replica.index, replica.missing_hosts, "incomplete: creating its missing");
  }

  /// All pods or none. They are built when they are sent; until then only a few are, to find errors of the template.
  bool create(int index, const std::vector<int>& hosts, std::string_view why) {
    if (!may_create_ || !can_build(index, hosts)) return false;
    created_ += hosts.size();
    out_.creates.push_back(
        {builder_, group_.name, index, hosts,
         fmt::format("replica {} of group {} is {} {}", index, group_.name, why, count_pods(hosts.size()))});
    return true;
  }

  /// An error of the template concerns all pods, unless the template sets a field that differs between hosts or
  /// replicas: then at most one pod is right. So two hosts of two replicas show it.
  bool can_build(int index, const std::vector<int>& hosts) {
    if (!builder_) {
      Result<WorkerPodBuilder> builder = WorkerPodBuilder::create(spec_, group_, options_);
      if (!builder) return fail(builder.error());
      builder_ = std::make_shared<const WorkerPodBuilder>(*std::move(builder));
    }
    if (checked_replicas_ == 2) return true;
    for (const int host : {hosts.front(), hosts.back()}) {
      const Result<Object> pod = builder_->build({index, host});
      if (!pod) return fail(pod.error());
    }
    ++checked_replicas_;
    return true;
  }

  bool fail(const Error& error) {
    out_.errors.push_back(error.message());
    return false;
  }

  const RayClusterSpec& spec_;
  const WorkerGroup& group_;
  const std::set<std::string>& names_;
  const bool may_create_;
  const Options& options_;
  const GroupPods pods_;
  const std::set<std::string> to_delete_;            ///< Names in scaleStrategy.workersToDelete.
  std::shared_ptr<const WorkerPodBuilder> builder_;  ///< Null until a pod is missing.
  int checked_replicas_ = 0;
  std::size_t created_ = 0;  ///< Pods.
  WorkerDecision& out_;
};

}  // namespace

WorkerDecision decide_workers(const RayClusterSpec& spec, const std::vector<PodPtr>& workers, bool may_create,
                              const Options& options) {
  std::map<std::string, std::vector<PodPtr>> by_group;
  std::set<std::string> names;
  for (const PodPtr& pod : workers) {
    by_group[pod->label(tpu::kRayGroup)].push_back(pod);
    names.insert(pod->key.name);
  }
  WorkerDecision out;
  for (const WorkerGroup& group : spec.groups) {
    GroupPlanner(spec, group, by_group[group.name], names, may_create, options, out).decide();
    by_group.erase(group.name);
  }
  for (const auto& [name, pods] : by_group) {
    std::vector<PodPtr> deleted = not_terminating(pods);
    if (deleted.empty()) continue;
    std::string reason =
        fmt::format("the spec has no worker group \"{}\": deleting its {}", name, count_pods(deleted.size()));
    out.deletes.push_back({std::move(deleted), std::move(reason)});
  }
  return out;
}

}  // namespace tpuslice::raycluster
