#include "tests/support/slice/slices.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "api/base/check.h"
#include "tests/support/chips.h"
#include "tests/support/pod_merge.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

SharedString& annotate(PodView& pod, std::string_view name) { return pod.annotations[std::string(name)]; }

/// The pod that the action creates.
PodPtr created_pod(const plan::Action& action, Timestamp now) {
  Json json = *action.body.make();
  json["metadata"]["uid"] = "uid-of-" + action.key.name;
  json["metadata"]["resourceVersion"] = "1";
  json["metadata"]["creationTimestamp"] = format_rfc3339(now);
  const KeptKeys keep = {std::string(tpu::kAnnotationPrefix), std::string(tpu::kTpuResource)};
  Result<PodView> pod = PodView::decode(json.dump(), &keep);
  TPUSLICE_CHECK_MSG(pod.ok(), action.key.to_string());
  return std::make_shared<const PodView>(*std::move(pod));
}

void clear_requirements(PodView& pod) {
  pod.scheduling.edit().tolerations.clear();
  pod.scheduling.edit().node_affinity = {};
}

}  // namespace

Timestamp start_of_time() { return *parse_rfc3339("2026-01-01T00:00:00Z"); }
Timestamp after(Duration passed) { return start_of_time() + passed; }

PodPtr with(const PodPtr& pod, const PodChange& change) {
  PodView copy = *pod;
  change(copy);
  return std::make_shared<const PodView>(std::move(copy));
}

NodePtr with(const NodePtr& node, const NodeChange& change) {
  NodeView copy = *node;
  change(copy);
  return std::make_shared<const NodeView>(std::move(copy));
}

SliceBuilder a_slice(std::string name) { return SliceBuilder(std::move(name)); }

SliceBuilder& SliceBuilder::in(std::string space) {
  key_.namespace_name = std::move(space);
  return *this;
}
SliceBuilder& SliceBuilder::hosts(int count) {
  hosts_ = count;
  return *this;
}
SliceBuilder& SliceBuilder::chips(int of_each_pod) {
  chips_ = of_each_pod;
  return *this;
}
SliceBuilder& SliceBuilder::topology_key(std::string key) {
  topology_key_ = std::move(key);
  return *this;
}
SliceBuilder& SliceBuilder::created(Duration when) {
  created_ = when;
  return *this;
}
SliceBuilder& SliceBuilder::priority(int value) {
  priority_ = value;
  return *this;
}
SliceBuilder& SliceBuilder::gang(std::string name, int slices) {
  annotations_[std::string(tpu::kSliceGang)] = std::move(name);
  annotations_[std::string(tpu::kGangSlices)] = std::to_string(slices);
  return *this;
}
SliceBuilder& SliceBuilder::start(std::string_view how) {
  annotations_[std::string(tpu::kSliceStart)] = std::string(how);
  return *this;
}
SliceBuilder& SliceBuilder::selects(std::string_view label, std::string value) {
  selector_[std::string(label)] = std::move(value);
  return *this;
}
SliceBuilder& SliceBuilder::on(const std::vector<std::string>& hostnames) {
  for (std::size_t index = 0; index < hostnames.size(); ++index) {
    if (hostnames[index].empty()) continue;
    host(static_cast<int>(index), [name = hostnames[index]](PodView& pod) {
      pod.scheduling.edit().node_selector[std::string(tpu::kHostnameLabel)] = name;
    });
  }
  return *this;
}
SliceBuilder& SliceBuilder::deadline(Duration time) {
  return each([time](PodView& pod) {
    pod.active_deadline_seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  });
}

SliceBuilder& SliceBuilder::placed_in(std::string domain, Duration when) {
  domain_ = std::move(domain);
  placed_ = when;
  return *this;
}
SliceBuilder& SliceBuilder::runs_in(std::string domain, Duration when) {
  bound_ = true;
  return placed_in(std::move(domain), when);
}
SliceBuilder& SliceBuilder::record(std::string members) {
  record_ = std::move(members);
  return *this;
}
SliceBuilder& SliceBuilder::gated(int host) {
  gated_.insert(host);
  return *this;
}
SliceBuilder& SliceBuilder::unscheduled(int host) {
  unscheduled_.insert(host);
  return *this;
}

SliceBuilder& SliceBuilder::without(int host) {
  missing_.insert(host);
  return *this;
}
SliceBuilder& SliceBuilder::fails(int index, std::string reason) {
  return host(index, [reason = std::move(reason)](PodView& pod) {
    pod.phase = PodPhase::kFailed;
    pod.reason = reason;
  });
}
SliceBuilder& SliceBuilder::succeeds(int index) {
  return host(index, [](PodView& pod) { pod.phase = PodPhase::kSucceeded; });
}
SliceBuilder& SliceBuilder::terminating(int index) {
  return host(index, [](PodView& pod) { pod.deletion = start_of_time(); });
}
SliceBuilder& SliceBuilder::replaced(int index) {
  gated(index);
  return host(index, [](PodView& pod) { pod.uid += "-new"; });
}
SliceBuilder& SliceBuilder::host(int index, PodChange change) {
  changes_.emplace(index, std::move(change));
  return *this;
}
SliceBuilder& SliceBuilder::each(PodChange change) {
  of_each_.push_back(std::move(change));
  return *this;
}
SliceBuilder& SliceBuilder::companion(const std::string& name, const PodChange& change) {
  return extra(name, [&](PodView& pod) {
    tpu::set_chips(pod, 0);
    pod.annotations.erase(std::string(tpu::kSliceHost));
    if (change) change(pod);
  });
}
SliceBuilder& SliceBuilder::extra(const std::string& name, const PodChange& change) {
  PodView pod = as_created(0);
  pod.key.name = name;
  pod.uid = "uid-of-" + name;
  change(pod);
  others_.push_back(std::move(pod));
  return *this;
}

PodView SliceBuilder::as_created(int host) const {
  PodView pod;
  pod.key = {key_.namespace_name, fmt::format("{}-{}", key_.name, host)};
  pod.uid = "uid-of-" + pod.key.name;
  pod.resource_version = fmt::format("{}", 100 + host);
  pod.created = after(created_);
  pod.labels = {{std::string(tpu::kSlice), key_.name}};
  if (host == 0) pod.labels[std::string(tpu::kHost)] = tpu::kHost0;
  pod.controller = ControllerRef{"batch/v1", "Job", "job", "uid-of-job"};
  pod.annotations = annotations_;
  annotate(pod, tpu::kSliceHosts) = std::to_string(hosts_);
  annotate(pod, tpu::kSliceHost) = std::to_string(host);
  annotate(pod, tpu::kTopologyKey) = topology_key_;
  pod.scheduling.edit().gates = {std::string(tpu::kSliceGate)};
  pod.scheduling.edit().node_selector = selector_;
  pod.scheduling.edit().node_selector.emplace(tpu::kAcceleratorLabel, kV6e);
  pod.scheduling.edit().tolerations = {{.key = std::string(tpu::kTpuTaint), .exists = true}};
  tpu::set_chips(pod, chips_);
  pod.priority = priority_;
  return pod;
}

std::string SliceBuilder::members() const {
  std::vector<PodPtr> pods;
  for (int host = 0; host < hosts_; ++host) pods.push_back(std::make_shared<const PodView>(as_created(host)));
  return members_of(read_slice(key_, pods));
}

void SliceBuilder::release(PodView& pod, int host, const std::string& members) const {
  pod.scheduling.edit().gates.clear();
  annotate(pod, tpu::kSliceMembers) = members;
  annotate(pod, tpu::kPlacedAt) = format_rfc3339(after(placed_));
  if (!domain_->empty()) {
    pod.scheduling.edit().node_selector[topology_key_] = *domain_;
    pod.annotations[std::string(tpu::kPlacedIn)] = *domain_;
  }
  if (!bound_ || unscheduled_.contains(host)) return;
  pod.node_name = fmt::format("{}-{}", *domain_, host);
  pod.phase = PodPhase::kRunning;
  clear_requirements(pod);
}

std::vector<PodPtr> SliceBuilder::pods() const {
  const std::string record = record_.value_or(members());
  std::vector<PodPtr> out;
  const auto add = [&](PodView pod) { out.push_back(std::make_shared<const PodView>(std::move(pod))); };
  for (int host = 0; host < hosts_; ++host) {
    if (missing_.contains(host)) continue;
    PodView pod = as_created(host);
    if (domain_ && !gated_.contains(host)) release(pod, host, record);
    for (const PodChange& change : of_each_) change(pod);
    const auto [first, last] = changes_.equal_range(host);
    for (auto change = first; change != last; ++change) change->second(pod);
    add(std::move(pod));
  }
  for (const PodView& pod : others_) add(pod);
  return out;
}

PodPtr SliceBuilder::pod(int host) const {
  const std::string name = fmt::format("{}-{}", key_.name, host);
  for (const PodPtr& pod : pods()) {
    if (pod->key.name == name) return pod;
  }
  TPUSLICE_CHECK_MSG(false, name);
  return nullptr;
}

PoolBuilder a_pool(std::string name) { return PoolBuilder(std::move(name)); }

PoolBuilder& PoolBuilder::size(int nodes) {
  size_ = nodes;
  return *this;
}
PoolBuilder& PoolBuilder::chips(int of_each_node) {
  chips_ = of_each_node;
  return *this;
}
PoolBuilder& PoolBuilder::label(std::string_view key, std::string value) {
  labels_[std::string(key)] = std::move(value);
  return *this;
}
PoolBuilder& PoolBuilder::without(int node) {
  missing_.insert(node);
  return *this;
}
PoolBuilder& PoolBuilder::node(int node, NodeChange change) {
  changes_.emplace(node, std::move(change));
  return *this;
}
PoolBuilder& PoolBuilder::each(NodeChange change) {
  of_each_.push_back(std::move(change));
  return *this;
}
PoolBuilder& PoolBuilder::hostnames() {
  return each([](NodeView& node) { node.labels[std::string(tpu::kHostnameLabel)] = node.key.name; });
}

std::vector<NodePtr> PoolBuilder::nodes() const {
  std::vector<NodePtr> out;
  for (int index = 0; index < size_; ++index) {
    if (missing_.contains(index)) continue;
    NodeView node;
    node.key = {"", fmt::format("{}-{}", name_, index)};
    node.uid = "uid-of-" + node.key.name;
    node.resource_version = "1";
    node.labels = labels_;
    node.labels.emplace(tpu::kAcceleratorLabel, kV6e);
    node.labels[kGkePool] = name_;
    node.ready = true;
    node.ready_changed = start_of_time();
    tpu::set_chips(node, chips_);
    node.taints = {{std::string(tpu::kTpuTaint), "present", "NoSchedule"}};
    for (const NodeChange& change : of_each_) change(node);
    const auto [first, last] = changes_.equal_range(index);
    for (auto change = first; change != last; ++change) change->second(node);
    out.push_back(std::make_shared<const NodeView>(std::move(node)));
  }
  return out;
}

void cordoned(NodeView& node) { node.unschedulable = true; }
void not_ready(NodeView& node) { node.ready = false; }
void without_chips(NodeView& node) { tpu::set_chips(node, 0); }
void unreadable(NodeView& node) {
  NodeView view;
  view.key = std::move(node.key);
  view.uid = std::move(node.uid);
  view.resource_version = std::move(node.resource_version);
  view.labels = std::move(node.labels);
  view.minimal = true;
  node = std::move(view);
}

PodPtr a_pod_without_slice(const std::string& name, const std::string& node) {
  PodView pod;
  pod.key = {"default", name};
  pod.uid = "uid-of-" + name;
  pod.created = start_of_time();
  pod.labels = {{std::string(tpu::kSlice), std::string(tpu::kNoSlice)}};
  pod.node_name = node;
  pod.phase = PodPhase::kRunning;
  tpu::set_chips(pod, 4);
  return std::make_shared<const PodView>(std::move(pod));
}

std::vector<PodPtr> pods_of(std::initializer_list<SliceBuilder> slices) {
  std::vector<PodPtr> out;
  for (const SliceBuilder& slice : slices) {
    for (PodPtr& pod : slice.pods()) out.push_back(std::move(pod));
  }
  return out;
}

std::vector<Slice> read_slices(const std::vector<PodPtr>& pods) {
  std::vector<Slice> out;
  for (const auto& [key, members] : group_by_slice(pods)) out.push_back(read_slice(key, members));
  return out;
}

std::vector<Slice> slices_of(std::initializer_list<SliceBuilder> slices) {
  std::vector<Slice> out;
  for (const SliceBuilder& slice : slices) out.push_back(slice.slice());
  return out;
}

std::vector<NodePtr> nodes_of(std::initializer_list<PoolBuilder> pools) {
  std::vector<NodePtr> out;
  for (const PoolBuilder& pool : pools) {
    for (NodePtr& node : pool.nodes()) out.push_back(std::move(node));
  }
  return out;
}

std::vector<const Slice*> pointers_to(const std::vector<Slice>& slices) {
  std::vector<const Slice*> out;
  for (const Slice& slice : slices) out.push_back(&slice);
  return out;
}

void apply_plan(const plan::Plan& plan, std::vector<PodPtr>& pods, Timestamp now) {
  std::set<ObjectKey> deleted;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.type == kConfigMaps) continue;
      const bool again = action.kind == plan::ActionKind::kDelete && !deleted.insert(action.key).second;
      TPUSLICE_CHECK_MSG(!again, action.key.to_string());
      if (action.kind == plan::ActionKind::kCreate) {
        TPUSLICE_CHECK_MSG(std::ranges::none_of(pods, [&](const PodPtr& pod) { return pod->key == action.key; }),
                           action.key.to_string());
        pods.push_back(created_pod(action, now));
        continue;
      }
      const auto found = std::ranges::find_if(pods, [&](const PodPtr& pod) { return pod->key == action.key; });
      TPUSLICE_CHECK_MSG(found != pods.end(), action.key.to_string());
      const plan::Preconditions& when = action.preconditions;
      TPUSLICE_CHECK_MSG(when.uid == (*found)->uid, action.key.to_string());
      TPUSLICE_CHECK_MSG(when.resource_version.empty() || when.resource_version == (*found)->resource_version,
                         action.key.to_string());
      if (action.kind == plan::ActionKind::kDelete) {
        *found = with(*found, [](PodView& pod) { pod.deletion = start_of_time(); });
      } else {
        *found = with(*found, [&](PodView& pod) {
          testing::merge_into(pod, *action.body.make());
          pod.resource_version += "+";
        });
      }
    }
  }
}

}  // namespace tpuslice::slice
