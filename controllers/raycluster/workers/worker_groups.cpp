#include "controllers/raycluster/workers/worker_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "controllers/raycluster/children/services.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/upgrade.h"
#include "controllers/raycluster/workers/replicas.h"
#include "tpu/labels.h"
#include "tpu/rules/limits.h"

namespace tpuslice::raycluster {
namespace {

std::string count_pods(std::size_t count) { return count == 1 ? "pod" : fmt::format("{} pods", count); }

/// The replicas of the group that have, or would have, pods with these names.
std::set<int> replicas_with_names(const RayClusterSpec& spec, const WorkerGroup& group,
                                  const std::set<std::string>& names) {
  std::set<int> replicas;
  for (const std::string& name : names) {
    if (const auto index = parse_worker_pod_name(spec, group.name, name)) replicas.insert(index->replica);
  }
  return replicas;
}

/// Whether the pod's label names the replica that its name encodes.
bool is_labelled_as_named(const NamedWorker& worker) {
  return worker.named && worker.named->replica == index_label(*worker.pod, kRayReplicaIndex);
}

/// Has the gate that the slice controllers remove.
bool is_gated(const Json& pod) {
  const Json& gates = array_at(pod, {"spec", "schedulingGates"});
  return std::ranges::any_of(gates, [](const Json& gate) { return string_at(gate, {"name"}) == tpu::kSliceGate; });
}

bool has_terminating(const std::vector<PodPtr>& pods) {
  return std::ranges::any_of(pods, [](const PodPtr& pod) { return pod->terminating(); });
}

class GroupPlanner {
 public:
  /// `relabelled`: names of the worker pods of the cluster whose labels are not those of their name.
  GroupPlanner(const RayClusterSpec& spec, const WorkerGroup& group, const std::vector<NamedWorker>& workers,
               const std::set<std::string>& relabelled, MayCreate may_create, const Options& options,
               WorkerDecision& out)
      : spec_(spec),
        group_(group),
        relabelled_(relabelled),
        may_create_(may_create),
        options_(options),
        pods_(classify(group, workers)),
        to_delete_(group.workers_to_delete.begin(), group.workers_to_delete.end()),
        replicas_to_delete_(replicas_with_names(spec, group, to_delete_)),
        relabelled_replicas_(replicas_with_names(spec, group, relabelled)),
        out_(out) {}

  void decide() {
    delete_pods_without_index();
    std::vector<const Replica*> kept = delete_listed_replicas();
    delete_surplus(kept);
    for (const Replica* replica : kept) {
      if (replica->state == ReplicaState::kBroken) {
        replace(*replica, replica->failure);
        continue;
      }
      delete_pods(*replica, replica->predecessors, "was created again");
      if (replica->state == ReplicaState::kForming) complete(*replica);
    }
    create_missing(kept.size());
    if (spec_.rolling) find_outdated(kept);
  }

  /// Every desired replica is complete, and available unless it is outdated.
  [[nodiscard]] bool settled() const { return settled_; }
  /// Complete replicas that were built from an earlier template, those that are not available first. None while Ray's
  /// autoscaler is to remove some replica.
  [[nodiscard]] const std::vector<const Replica*>& outdated() const { return outdated_; }
  /// False, and nothing is deleted, if its pods could not be created again.
  bool recreate(const Replica& replica) {
    if (may_create_ == MayCreate::kNothing || !can_build(replica.index, {0, group_.hosts - 1})) return false;
    replace(replica, "was built from an earlier template");
    return true;
  }

 private:
  static bool is_available(const Replica& replica) {
    return std::ranges::all_of(replica.pods, [](const PodPtr& pod) { return raycluster::is_available(*pod); });
  }

  /// Whether some of its pods were built from another template.
  bool is_outdated(const Replica& replica) {
    if (template_hash_.empty()) template_hash_ = template_hash(spec_, group_);
    return std::ranges::any_of(replica.pods,
                               [&](const PodPtr& pod) { return has_other_template(*pod, template_hash_); });
  }

  void find_outdated(const std::vector<const Replica*>& kept) {
    settled_ = kept.size() == static_cast<std::size_t>(group_.desired_replicas());
    for (const Replica* replica : kept) {
      if (replica->state == ReplicaState::kComplete && is_outdated(*replica)) {
        outdated_.push_back(replica);
      } else if (replica->state != ReplicaState::kComplete || !is_available(*replica)) {
        settled_ = false;
      }
    }
    // With surplus replicas, a deleted one would not be created again.
    if (has_surplus_) outdated_.clear();
    std::ranges::stable_partition(outdated_, [](const Replica* replica) { return !is_available(*replica); });
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
      // Later attempts are created only while none of these names is listed, so the list means them, too.
      const bool by_name = replica.state != ReplicaState::kComplete || replica.attempt > 0;
      if (listed || (by_name && replicas_to_delete_.contains(index))) {
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
      if (spec_.autoscaling.enabled) {
        if (kept[i]->state == ReplicaState::kBroken) {
          tear_down(*kept[i], kept[i]->failure);
        } else {
          has_surplus_ = true;
        }
        continue;
      }
      tear_down(*kept[i], group_.suspended
                              ? "is surplus, the group is suspended"
                              : fmt::format("is surplus, {} of {} replicas are desired", desired, kept.size()));
    }
    kept.resize(desired);
    std::ranges::sort(kept, {}, &Replica::index);
  }

  void tear_down(const Replica& replica, const std::string& why) {
    std::vector<PodPtr> pods = replica.predecessors;
    pods.insert(pods.end(), replica.pods.begin(), replica.pods.end());
    delete_pods(replica, pods, why);
  }

  /// Deletes those of `all` that are not terminating.
  void delete_pods(const Replica& replica, const std::vector<PodPtr>& all, const std::string& why) {
    std::vector<PodPtr> pods = not_terminating(all);
    if (pods.empty()) return;
    std::string reason = fmt::format("replica {} of group {} {}: deleting its {}", replica.index, group_.name, why,
                                     count_pods(pods.size()));
    out_.deletes.push_back({std::move(pods), std::move(reason), replica.lost_host});
  }

  /// Deletes the replica and, where its pods need not be gone before, creates the next attempt.
  void replace(const Replica& replica, const std::string& why) {
    tear_down(replica, why);
    if (out_.created_pods >= rules::kMaxCreatesPerPlan || replicas_to_delete_.contains(replica.index)) return;
    if (relabelled_replicas_.contains(replica.index) || !replica.predecessors.empty()) return;
    if (replica.attempt >= kMaxAttempt || may_create_ == MayCreate::kNothing) return;
    const std::vector<int> hosts = all_hosts();
    if (!can_build(replica.index, hosts) || !may_overlap(replica) || !may_create_beside()) return;
    if (!create({replica.index, 0, replica.attempt + 1}, hosts, "being replaced: creating its")) return;
    out_.beside_terminating |= has_terminating(replica.pods);
  }

  /// Whether pods may be created while some of an earlier attempt exist.
  bool may_create_beside() {
    if (may_create_ == MayCreate::kMissing) out_.waits_for_deletion = true;
    return may_create_ == MayCreate::kNextAttempts;
  }

  /// Whether pods of another attempt can be created while these exist: the slice controllers hold them back, or they
  /// have no peers.
  [[nodiscard]] bool may_overlap(const Replica& replica) const {
    if (group_.hosts == 1) return !is_multislice(group_);
    if (!options_.mutation.gate) return false;
    const Result<Object> next = builder_->build({replica.index, 0, replica.attempt});
    if (!next || !is_gated(next->json())) return false;
    // Pods of an earlier cluster are of another slice.
    const auto is_predecessor = [slice = next->label(tpu::kSlice)](const PodPtr& pod) {
      return pod->label(tpu::kSlice) == slice;
    };
    return std::ranges::all_of(replica.pods, is_predecessor) &&
           std::ranges::all_of(replica.predecessors, is_predecessor);
  }

  [[nodiscard]] std::vector<int> all_hosts() const {
    std::vector<int> hosts(static_cast<std::size_t>(group_.hosts));
    std::iota(hosts.begin(), hosts.end(), 0);
    return hosts;
  }

  void create_missing(std::size_t present) {
    const auto desired = static_cast<std::size_t>(group_.desired_replicas());
    const std::vector<int> hosts = all_hosts();
    for (int index = 0; present < desired && out_.created_pods < rules::kMaxCreatesPerPlan; ++index) {
      // A pod with one of the names, but without the labels, must be deleted first.
      if (pods_.replicas.contains(index) || replicas_to_delete_.contains(index)) continue;
      if (relabelled_replicas_.contains(index)) continue;
      if (!create({index}, hosts, "missing: creating its")) return;
      ++present;
    }
  }

  void complete(const Replica& replica) {
    // The hosts of one slice run the same program. Nothing has started, so nothing is lost.
    if (is_outdated(replica)) return tear_down(replica, "is incomplete and was built from an earlier template");
    // Names and slice keys of an adopted replica are those of an earlier cluster.
    const bool adopted = std::ranges::any_of(replica.pods, [&](const PodPtr& pod) {
      const auto named = parse_worker_pod_name(spec_, group_.name, pod->key.name);
      return !named || named->replica != replica.index;
    });
    if (adopted) return tear_down(replica, "is incomplete and has pods of an earlier cluster");
    const bool name_in_use = std::ranges::any_of(replica.missing_hosts, [&](int host) {
      return relabelled_.contains(worker_pod_name(spec_, group_.name, {replica.index, host, replica.attempt}));
    });
    if (name_in_use) return tear_down(replica, "lacks a host whose pod lost its labels");
    if (!replica.predecessors.empty()) {
      if (may_create_ == MayCreate::kNothing || !can_build(replica.index, replica.missing_hosts)) return;
      if (!may_overlap(replica) || !may_create_beside()) return;
    }
    if (!create({replica.index, 0, replica.attempt}, replica.missing_hosts, "incomplete: creating its missing")) return;
    out_.beside_terminating |= has_terminating(replica.predecessors);
  }

  /// All pods of a replica and attempt, or none. They are built when they are sent; until then only a few are, to find
  /// errors of the template.
  bool create(WorkerIndex of, const std::vector<int>& hosts, std::string_view why) {
    if (may_create_ == MayCreate::kNothing || !can_build(of.replica, hosts)) return false;
    out_.created_pods += hosts.size();
    out_.creates.push_back(
        {builder_, group_.name, of.replica, of.attempt, hosts,
         fmt::format("replica {} of group {} is {} {}", of.replica, group_.name, why, count_pods(hosts.size()))});
    return true;
  }

  /// Finds template errors. An error affects all pods, unless the template sets a field that must differ between hosts
  /// or replicas; then at most one pod is valid, so building two hosts of two replicas finds it.
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
  const std::set<std::string>& relabelled_;
  const MayCreate may_create_;
  const Options& options_;
  const GroupPods pods_;
  const std::set<std::string> to_delete_;  ///< Names in scaleStrategy.workersToDelete.
  const std::set<int> replicas_to_delete_;
  const std::set<int> relabelled_replicas_;
  std::shared_ptr<const WorkerPodBuilder> builder_;  ///< Null until a pod is missing.
  int checked_replicas_ = 0;
  std::string template_hash_;  ///< Empty until it is needed.
  bool has_surplus_ = false;   ///< Replicas that Ray's autoscaler is to remove.
  bool settled_ = true;
  std::vector<const Replica*> outdated_;
  WorkerDecision& out_;
};

/// Recreates at most one outdated replica.
void roll(std::vector<GroupPlanner>& groups) {
  if (!std::ranges::all_of(groups, &GroupPlanner::settled)) return;
  for (GroupPlanner& group : groups) {
    if (!group.outdated().empty() && group.recreate(*group.outdated().front())) return;
  }
}

}  // namespace

WorkerDecision decide_workers(const RayClusterSpec& spec, const std::vector<PodPtr>& workers, MayCreate may_create,
                              const Options& options) {
  std::map<std::string, std::vector<NamedWorker>> by_group;
  std::set<std::string> relabelled;
  for (const PodPtr& pod : workers) {
    const std::string& group = pod->label(kRayGroup);
    const NamedWorker worker{pod, parse_worker_pod_name(spec, group, pod->key.name)};
    if (!is_labelled_as_named(worker)) relabelled.insert(pod->key.name);
    by_group[group].push_back(worker);
  }
  WorkerDecision out;
  std::vector<GroupPlanner> groups;
  groups.reserve(spec.groups.size());
  for (const WorkerGroup& group : spec.groups) {
    groups.emplace_back(spec, group, by_group[group.name], relabelled, may_create, options, out).decide();
    by_group.erase(group.name);
  }
  if (spec.rolling) roll(groups);
  for (const auto& [name, of_group] : by_group) {
    std::vector<PodPtr> pods;
    pods.reserve(of_group.size());
    for (const NamedWorker& worker : of_group) pods.push_back(worker.pod);
    std::vector<PodPtr> deleted = not_terminating(pods);
    if (deleted.empty()) continue;
    std::string reason =
        fmt::format("the spec has no worker group \"{}\": deleting its {}", name, count_pods(deleted.size()));
    out.deletes.push_back({std::move(deleted), std::move(reason)});
  }
  return out;
}

}  // namespace tpuslice::raycluster
