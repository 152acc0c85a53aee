#include "cmd/tpu-slice-operator/fleet_source.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/placement/scale_up/autoscaler_status.h"

namespace tpuslice {

FleetSource::FleetSource(runtime::Manager& manager, const slice::SliceStores& stores, history::History history,
                         placement::PlacementOptions options, std::string topology_key,
                         const std::vector<ResourceType>& kinds, const runtime::Namespaces& namespaces)
    : manager_(manager),
      pods_(stores.pods),
      nodes_(stores.nodes),
      history_(std::move(history)),
      options_(std::move(options)),
      topology_key_(std::move(topology_key)) {
  for (const ResourceType& kind : kinds) {
    workloads_.emplace_back(kind, &manager.store<ObjectView>(kind, {.namespaces = namespaces}));
  }
  const std::string& own = options_.scale_up.namespace_name;
  autoscaler_ = &manager.optional_store<placement::MetadataView>(
      kConfigMaps, {.namespaces = {std::string(placement::kAutoscalerNamespace)},
                    .field_selector = fmt::format("metadata.name={}", placement::kAutoscalerConfigMap)});
  if (!options_.scale_up.provisioning_class.empty()) {
    requests_ = &manager.optional_store<placement::ProvisioningRequestView>(placement::kProvisioningRequests,
                                                                            {.namespaces = {own}});
  }
  if (options_.max_preemptions_per_hour > 0) {
    preemptions_ = &manager.optional_store<placement::PreemptionRecords>(
        kConfigMaps,
        {.namespaces = {own}, .field_selector = fmt::format("metadata.name={}", placement::kPreemptionsConfigMap)});
  }
}

Result<fleet::Snapshot> FleetSource::take() const {
  if (!manager_.ready()) return Error::unavailable("the stores are not synced yet; try again later");
  fleet::Snapshot out;
  out.time = manager_.clock().wall();
  out.cluster.operator_version = TPUSLICE_VERSION;
  out.options = options_;
  out.topology_key = topology_key_;
  out.has_autoscaler = placement::has_autoscaler(*autoscaler_, out.time);
  for (const fleet::NodePtr& node : nodes_.list()) {
    if (slice::has_tpus(*node)) out.nodes.push_back(node);
  }
  out.pods = pods();
  out.workloads = workloads();
  if (requests_ != nullptr) out.provisioning_requests = requests_->list();
  if (preemptions_ != nullptr) {
    out.preemptions =
        preemptions_->get({options_.scale_up.namespace_name, std::string(placement::kPreemptionsConfigMap)});
  }
  out.history = history();
  return out;
}

plan::ObjectReference FleetSource::owner_of(const plan::ObjectReference& workload) const {
  plan::ObjectReference owner = workload;
  for (std::size_t depth = 0; depth < workloads_.size() && owner.kind != "RayJob"; ++depth) {
    const auto found = std::ranges::find(workloads_, std::string_view(owner.kind),
                                         [](const auto& each) { return std::string_view(each.first.kind); });
    const auto object = found == workloads_.end() ? nullptr : found->second->get(owner.key);
    if (object == nullptr || !object->controller) break;
    const ControllerRef& controller = *object->controller;
    const bool is_served = std::ranges::any_of(
        workloads_, [&](const auto& each) { return std::string_view(each.first.kind) == controller.kind.str(); });
    if (!is_served) break;
    owner = {controller.api_version, controller.kind, {owner.key.namespace_name, controller.name}, controller.uid, {}};
  }
  return owner;
}

std::vector<fleet::HistoryRecord> FleetSource::history() const {
  std::vector<fleet::HistoryRecord> out;
  for (const history::Record& record : history_.records()) {
    if (auto read = fleet::read_history_record(history::to_json(record))) out.push_back(*std::move(read));
  }
  std::ranges::stable_sort(out, {}, &fleet::HistoryRecord::time);
  return out;
}

std::vector<fleet::PodPtr> FleetSource::pods() const {
  std::vector<fleet::PodPtr> out;
  for (const runtime::PodStore* store : pods_) {
    for (const fleet::PodPtr& pod : store->list()) {
      if (slice::is_considered(*pod)) out.push_back(pod);
    }
  }
  // Two watches may hold a pod for a moment when its labels change.
  const auto key = [](const fleet::PodPtr& pod) -> const ObjectKey& { return pod->key; };
  std::ranges::sort(out, {}, key);
  const auto [first, last] = std::ranges::unique(out, {}, key);
  out.erase(first, last);
  return out;
}

std::vector<fleet::Workload> FleetSource::workloads() const {
  std::vector<fleet::Workload> out;
  for (const auto& [type, store] : workloads_) {
    for (const auto& object : store->list()) {
      out.push_back({type.api_version(), std::string(type.kind), object->key, object->uid, object->controller});
    }
  }
  return out;
}

}  // namespace tpuslice
