#include "tests/bench/fleet/ours/cluster.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/bench/fleet/ours/objects.h"
#include "tpu/labels.h"

namespace tpuslice::fleet_bench {
namespace {

constexpr std::string_view kEvictedByTaint = "DeletionByTaintManager";

bool is_live(const PodPtr& pod) { return pod != nullptr && slice::is_live(*pod); }
bool is_started(const PodPtr& pod) { return pod != nullptr && !slice::is_gated(*pod); }

}  // namespace

Cluster::Cluster(FleetRun& run, const slice::Options& options)
    : run_(run),
      histories_(options, run.now()),
      nodes_(run.fleet().nodes.size()),
      host_on_(run.fleet().nodes.size()),
      pods_(run.trace().jobs.size()),
      pod_counts_(run.trace().jobs.size()) {
  for (NodeId id = 0; id < run.fleet().node_count(); ++id) {
    node_ids_.emplace(run.fleet().nodes[id].name, id);
    update_node(id);
  }
}

template <typename Function>
void Cluster::for_each_host(int job, Function function) {
  for (std::size_t slice = 0; slice < pods_[job].size(); ++slice) {
    for (std::size_t host = 0; host < pods_[job][slice].pods.size(); ++host) {
      const HostRef ref{job, static_cast<int>(slice), static_cast<int>(host)};
      if (slot(ref) != nullptr) function(ref);
    }
  }
}

void Cluster::put(const HostRef& host, PodPtr after) {
  const PodPtr before = std::exchange(slot(host), after);
  const NodeId node_id = slice_pods(host).nodes[host.host];
  const NodePtr node = node_id < 0 || before == nullptr || before->node_name.empty() ? nullptr : nodes_[node_id];
  histories_.record_pod(before, after, node, run_.now());
  changes_.slices.emplace(host.job, host.slice);
  if (node_id >= 0) changes_.nodes.insert(node_id);
  if (is_started(before) || is_started(after)) started_slices_.emplace(host.job, host.slice);
  if (before == nullptr || after == nullptr || is_live(before) != is_live(after)) placement_due_ = true;
  if (before != nullptr && !is_live(after)) losing_.insert(host.job);
  if (is_live(after) && is_started(after) && after->node_name.empty()) {
    without_node_.insert(host);
  } else {
    without_node_.erase(host);
  }
}

void Cluster::create_pods(int id) {
  const Job& job = run_.job(id);
  pods_[id].resize(static_cast<std::size_t>(job.slices));
  for (int slice = 0; slice < job.slices; ++slice) {
    jobs_by_slice_.emplace(slice_key_of(job, slice), id);
    std::vector<PodView> pods = make_pods(run_.fleet(), job, slice, run_.run(id).attempt, run_.now());
    pods_[id][slice].pods.resize(pods.size());
    pods_[id][slice].nodes.assign(pods.size(), -1);
    for (std::size_t index = 0; index < pods.size(); ++index) {
      const HostRef host{id, slice, static_cast<int>(index)};
      by_name_.emplace(pods[index].key.name, host);
      ++pod_counts_[id];
      put(host, std::make_shared<const PodView>(std::move(pods[index])));
    }
  }
}

void Cluster::erase(const HostRef& host) {
  by_name_.erase(slot(host)->key.name);
  put(host, nullptr);
  if (const NodeId node = std::exchange(slice_pods(host).nodes[host.host], -1); node >= 0) host_on_[node] = {};
  run_.release(host);
  --pod_counts_[host.job];
}

void Cluster::collect_pods(int job) {
  for_each_host(job, [&](const HostRef& host) {
    edit(host, [](PodView& pod) { pod.phase = PodPhase::kSucceeded; });
    erase(host);
  });
  for (int slice = 0; slice < run_.job(job).slices; ++slice) jobs_by_slice_.erase(slice_key_of(run_.job(job), slice));
  run_.release_all(job);
  pods_[job].clear();
}

void Cluster::terminate(const HostRef& host, Duration grace, std::string_view disruption) {
  const PodPtr pod = slot(host);
  if (pod->terminating()) return;
  if (pod->node_name.empty() || pod->finished() || grace <= Duration::zero()) {
    erase(host);
    return;
  }
  const Timestamp end = run_.now() + grace;
  edit(host, [&](PodView& changed) {
    changed.deletion = end;
    if (!disruption.empty()) changed.disruption = disruption;
  });
  terminating_.emplace(end, host);
}

void Cluster::end_host(const HostRef& host, HostEnd how) {
  if (!is_live(slot(host))) return;
  switch (how) {
    case HostEnd::kFails:
      edit(host, [](PodView& pod) {
        pod.phase = PodPhase::kFailed;
        pod.reason = "Error";
      });
      break;
    case HostEnd::kEvicted:
      terminate(host, kGracePeriod, kEvictedByTaint);
      break;
    case HostEnd::kDeleted:
      deleted_by_admin_.insert(host.job);
      terminate(host, kGracePeriod, {});
      break;
  }
}

void Cluster::update_node(NodeId id) {
  const NodePtr before = nodes_[id];
  const NodeState& state = run_.node(id);
  NodePtr after;
  if (state.exists) after = std::make_shared<const NodeView>(make_node(run_.fleet(), id, state));
  if (before == nullptr && after == nullptr) return;  // A fault of a node that does not exist.
  histories_.record_node(pods_on(id), before, after, run_.now());
  nodes_[id] = after;
  changes_.nodes.insert(id);
  placement_due_ = true;
  const HostRef host = host_on_[id];
  if (host.job < 0) return;
  started_slices_.emplace(host.job, host.slice);
  if (after == nullptr) {
    erase(host);  // As the garbage collector of pods does.
  } else if (after->ready && slot(host)->terminating()) {
    terminating_.emplace(*slot(host)->deletion, host);  // Its kubelet is back.
  }
}

bool Cluster::remove_terminated_pods() {
  bool any = false;
  while (!terminating_.empty() && terminating_.begin()->first <= run_.now()) {
    const HostRef host = terminating_.begin()->second;
    terminating_.erase(terminating_.begin());
    if (pods_[host.job].empty()) continue;
    const PodPtr pod = slot(host);
    if (pod == nullptr || !pod->terminating() || *pod->deletion > run_.now()) continue;
    if (!nodes_[slice_pods(host).nodes[host.host]]->ready) continue;  // update_node() tries again.
    erase(host);
    any = true;
  }
  return any;
}

std::optional<Timestamp> Cluster::next_termination() const {
  return terminating_.empty() ? std::nullopt : std::optional(terminating_.begin()->first);
}

std::optional<NodeId> Cluster::named_node(const PodView& pod) const {
  const Result<Json> affinity = parse_json(pod.scheduling->node_affinity);
  if (!affinity) return std::nullopt;
  const std::string name = string_at(*affinity, {"nodeSelectorTerms", "0", "matchFields", "0", "values", "0"});
  const auto found = node_ids_.find(name);
  return found == node_ids_.end() ? std::nullopt : std::optional(found->second);
}

bool Cluster::bind_pods() {
  bool any = false;
  for (const HostRef& host : std::set(without_node_)) {
    const PodPtr pod = slot(host);
    const std::optional<NodeId> node = named_node(*pod);
    if (!node || !run_.node(*node).is_usable() || host_on_[*node].job >= 0) {
      if (!pod->unschedulable.empty()) continue;
      edit(host,
           [](PodView& refused) { refused.unschedulable = "0/1 nodes are available: 1 Insufficient google.com/tpu."; });
      any = true;
      continue;
    }
    slice_pods(host).nodes[host.host] = *node;
    host_on_[*node] = host;
    edit(host, [&](PodView& bound) {
      bound.node_name = run_.fleet().nodes[*node].name;
      bound.phase = PodPhase::kRunning;
      bound.unschedulable = {};
      // Views keep these only while a pod has no node.
      bound.scheduling.edit().tolerations.clear();
      bound.scheduling.edit().node_affinity = {};
    });
    run_.bind(host, *node);
    any = true;
  }
  return any;
}

bool Cluster::restart_jobs() {
  bool any = false;
  for (const int job : std::exchange(losing_, {})) {
    if (run_.is_active({.job = job})) {
      bool preempted = false;
      for_each_host(job, [&](const HostRef& host) {
        preempted = preempted || slot(host)->disruption == tpu::kPreemptionBySlice;
      });
      const bool by_admin = deleted_by_admin_.erase(job) > 0;
      run_.stop(job, preempted ? StopCause::kPreempted : by_admin ? StopCause::kDeleted : StopCause::kLost);
      delete_pods(job);
      losing_.erase(job);
      any = true;
    }
    if (run_.run(job).phase != JobPhase::kStopping || pod_counts_[job] > 0) continue;
    run_.recreate(job);
    pods_[job].clear();
    any = true;
    if (run_.run(job).phase != JobPhase::kFailed) continue;
    for (int slice = 0; slice < run_.job(job).slices; ++slice) jobs_by_slice_.erase(slice_key_of(run_.job(job), slice));
  }
  return any;
}

void Cluster::delete_pods(int job) {
  for_each_host(job, [&](const HostRef& host) { terminate(host, kGracePeriod, {}); });
}

std::vector<PodPtr> Cluster::pods_of(const SliceRef& slice) const {
  std::vector<PodPtr> out;
  const std::vector<SlicePods>& of_job = pods_[slice.first];
  if (of_job.empty()) return out;
  std::ranges::copy_if(of_job[slice.second].pods, std::back_inserter(out),
                       [](const PodPtr& pod) { return pod != nullptr; });
  return out;
}

std::vector<PodPtr> Cluster::pods_on(NodeId id) const {
  const HostRef& host = host_on_[id];
  if (host.job < 0) return {};
  return {pods_[host.job][host.slice].pods[host.host]};
}

std::map<std::string, NodePtr> Cluster::nodes_of(const SliceRef& slice) const {
  std::map<std::string, NodePtr> out;
  const std::vector<SlicePods>& of_job = pods_[slice.first];
  if (of_job.empty()) return out;
  for (const NodeId id : of_job[slice.second].nodes) {
    if (id >= 0 && nodes_[id] != nullptr) out.emplace(nodes_[id]->key.name, nodes_[id]);
  }
  return out;
}

bool Cluster::workload_runs(const ObjectKey& slice) const { return jobs_by_slice_.contains(slice); }

}  // namespace tpuslice::fleet_bench
