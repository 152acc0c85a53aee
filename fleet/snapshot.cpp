#include "fleet/snapshot.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/types/utf8.h"
#include "tpu/chips.h"

namespace tpuslice::fleet {
namespace {

using placement::Capacity;
using placement::PlacementOptions;
using placement::ScaleUp;
using std::chrono::seconds;

/// The texts of --scale-up, in the order of ScaleUp.
constexpr std::array<std::string_view, 4> kScaleUps = {"off", "auto", "scout", "provisioning-request"};
/// The texts of --capacity-order, in the order of Capacity.
constexpr std::array<std::string_view, 3> kCapacities = {"reservation", "on-demand", "spot"};
constexpr std::size_t kMaxMissing = 64;

/// What can be read of the object: a minimal view if it is malformed.
template <typename View>
Result<std::shared_ptr<const View>> decode(const Json& object, std::string_view path, std::string_view kind) {
  if (!object.is_object()) return Error::invalid_argument("{}: Invalid value: expected an object", path);
  const std::string text = trimmed(with_kind(object, kind)).dump();
  Result<View> view = View::decode(text, &kept_keys());
  if (!view) view = View::decode_minimal(text, &kept_keys());
  if (!view) return view.error().within(path);
  return std::make_shared<const View>(*std::move(view));
}

template <typename View>
Status read_list(const Json& document, const char* list, std::string_view kind,
                 std::vector<std::shared_ptr<const View>>& out) {
  const Json& items = array_at(document, {list});
  out.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(auto view, decode<View>(items[i], fmt::format("{}[{}]", list, i), kind));
    out.push_back(std::move(view));
  }
  return {};
}

/// Removes what release_pod() has added to the pod.
void undo_release(Json& pod) {
  Json& annotations = pod["metadata"]["annotations"];
  const std::string placed_in = string_at(annotations, {tpu::kPlacedIn});
  const std::string topology_key = string_at(annotations, {tpu::kTopologyKey});
  if (annotations.is_object()) {
    for (const std::string_view each : {tpu::kSliceMembers, tpu::kPlacedAt, tpu::kPlacedIn, tpu::kPlacedOn,
                                        tpu::kWaiting, tpu::kWaitingReason, tpu::kRemovedHosts, tpu::kNodeNotReady}) {
      annotations.erase(std::string(each));
    }
  }
  Json& spec = pod["spec"];
  if (!placed_in.empty() && string_at(spec, {"nodeSelector", topology_key}) == placed_in) {
    spec["nodeSelector"].erase(topology_key);
  }
  const Json::json_pointer required("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
  if (!spec.contains(required) || !spec[required].is_object()) return;
  bool any = false;
  for (Json& term : spec[required]["nodeSelectorTerms"]) {
    if (term.is_object()) term.erase("matchFields");
    any = any || !term.empty();
  }
  if (!any) spec["affinity"]["nodeAffinity"].erase("requiredDuringSchedulingIgnoredDuringExecution");
}

/// The pod as its controller would create it again; null if it cannot be decoded.
PodPtr read_as_created(const Json& object) {
  Json pod = trimmed(with_kind(object, "Pod"));
  if (!pod["spec"].is_object()) return nullptr;
  undo_release(pod);
  pod["spec"].erase("nodeName");
  pod["spec"]["schedulingGates"] = Json::array({{{"name", tpu::kSliceGate}}});
  pod.erase("status");
  Result<PodView> view = PodView::decode(pod.dump(), &kept_keys());
  return view ? std::make_shared<const PodView>(*std::move(view)) : nullptr;
}

void read_pods_as_created(const Json& document, Snapshot& out) {
  for (const Json& object : array_at(document, {"pods"})) {
    const std::string uid = string_at(object, {"metadata", "uid"});
    if (string_at(object, {"spec", "nodeName"}).empty() &&
        find_set(object, {"metadata", "annotations", tpu::kSliceMembers}) == nullptr) {
      continue;
    }
    if (find_set(object, {"metadata", "labels", tpu::kSlice}) == nullptr) continue;
    PodPtr pod = read_as_created(object);
    if (pod != nullptr && tpu::chips_of(*pod) > 0) out.as_created.emplace(uid, std::move(pod));
  }
}

Workload read_workload(const Json& json) {
  const Object object(trimmed(json));
  return {object.api_version(), object.kind(), object.key(), object.uid(), object.controller()};
}

/// The index of the text in `names`; absent for another text.
template <std::size_t N>
std::optional<std::size_t> index_of(std::string_view text, const std::array<std::string_view, N>& names) {
  const auto* const found = std::ranges::find(names, text);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

void read_seconds(const Json& options, const char* member, Duration& out) {
  constexpr std::int64_t kMax = 10LL * 365 * 24 * 3600;
  if (const Json* const value = find_set(options, {member}); value != nullptr && value->is_number_integer()) {
    out = seconds(std::clamp<std::int64_t>(value->get<std::int64_t>(), 0, kMax));
  }
}

Status read_capacities(const Json& options, placement::CapacityOrder& order) {
  const Json* const given = find_set(options, {"capacityOrder"});
  if (given == nullptr) return {};
  if (!given->is_array() || given->size() != order.size()) {
    return Error::invalid_argument("options.capacityOrder: Invalid value: expected reservation, on-demand and spot");
  }
  for (int rank = 0; const Json& each : *given) {
    const auto index = index_of(each.is_string() ? each.get<std::string>() : std::string(), kCapacities);
    if (!index) {
      return Error::invalid_argument(
          "options.capacityOrder[{}]: Invalid value: expected reservation, on-demand or spot", rank);
    }
    order.at(*index) = rank++;
  }
  return {};
}

Status read_options(const Json& json, Snapshot& out) {
  PlacementOptions& options = out.options;
  options.scale_up.namespace_name = string_at(json, {"namespace"}, "tpu-slice-system");
  out.topology_key = string_at(json, {"topologyKey"}, out.topology_key);
  for (const Json& each : array_at(json, {"topologyKeys"})) {
    if (each.is_string()) options.topology_keys.insert(each.get<std::string>());
  }
  const std::string scale_up = string_at(json, {"scaleUp"}, "auto");
  const auto mode = index_of(scale_up, kScaleUps);
  if (!mode) {
    return Error::invalid_argument("options.scaleUp: Invalid value: \"{}\": expected one of {}", clip(scale_up, 64),
                                   fmt::join(kScaleUps, ", "));
  }
  options.scale_up.mode = static_cast<ScaleUp>(*mode);
  options.scale_up.scouts = bool_at(json, {"scouts"}, options.scale_up.scouts);
  options.scale_up.provisioning_class = string_at(json, {"provisioningClass"});
  options.scale_up.max_scale_ups =
      static_cast<std::size_t>(std::max<std::int64_t>(0, int_at(json, {"maxScaleUps"}, 50)));
  options.max_preemptions_per_hour =
      static_cast<std::size_t>(std::max<std::int64_t>(0, int_at(json, {"maxPreemptionsPerHour"})));
  options.reservation.percent = int_at(json, {"reservationPercent"}, options.reservation.percent);
  options.show_other_namespaces = bool_at(json, {"showOtherNamespaces"});
  read_seconds(json, "reservationSeconds", options.reservation.timeout);
  read_seconds(json, "holdTimeoutSeconds", options.hold_timeout);
  read_seconds(json, "stableSeconds", options.stable_time);
  read_seconds(json, "keepDomainSeconds", options.keep_domain);
  return read_capacities(json, options.capacity_order);
}

void read_cluster(const Json& json, ClusterInfo& out) {
  out.name = string_at(json, {"name"});
  out.kubernetes = string_at(json, {"kubernetes"});
  out.operator_version = string_at(json, {"operator"});
  out.replicas = int_at(json, {"replicas"});
  out.ready = int_at(json, {"ready"});
}

/// The document that a List of objects stands for.
Json document_of_list(const Json& list) {
  Json document = {{"nodes", Json::array()}, {"pods", Json::array()}, {"workloads", Json::array()}};
  for (const Json& each : array_at(list, {"items"})) {
    const std::string kind = string_at(each, {"kind"});
    document[kind == "Node" ? "nodes" : kind == "Pod" ? "pods" : "workloads"].push_back(each);
  }
  return document;
}

Result<Snapshot> read_document(const Json& document, Timestamp now) {
  Snapshot out;
  out.time = now;
  if (const Json* const time = find_set(document, {"time"}); time != nullptr) {
    const auto parsed = time->is_string() ? parse_rfc3339(time->get<std::string>()) : std::nullopt;
    if (!parsed) return Error::invalid_argument("time: Invalid value: expected RFC 3339");
    out.time = *parsed;
  }
  read_cluster(object_at(document, {"cluster"}), out.cluster);
  RETURN_IF_ERROR(read_options(object_at(document, {"options"}), out));
  out.has_autoscaler = bool_at(document, {"autoscaler"});
  RETURN_IF_ERROR(read_list(document, "nodes", "Node", out.nodes));
  RETURN_IF_ERROR(read_list(document, "pods", "Pod", out.pods));
  read_pods_as_created(document, out);
  for (const Json& each : array_at(document, {"workloads"})) out.workloads.push_back(read_workload(each));
  for (const Json& each : array_at(document, {"provisioningRequests"})) {
    auto view = placement::ProvisioningRequestView::decode(each.dump());
    if (view) out.provisioning_requests.push_back(std::make_shared<const placement::ProvisioningRequestView>(*view));
  }
  if (const Json* const records = find_set(document, {"preemptions"}); records != nullptr) {
    auto view = placement::PreemptionRecords::decode(records->dump());
    if (view) out.preemptions = std::make_shared<const placement::PreemptionRecords>(*std::move(view));
  }
  const Json& history = array_at(document, {"history"});
  for (std::size_t i = 0; i < history.size(); ++i) {
    auto record = read_history_record(history[i]);
    if (!record) return record.error().within(fmt::format("history[{}]", i));
    out.history.push_back(*std::move(record));
  }
  for (const Json& each : array_at(document, {"missing"})) {
    if (out.missing.size() == kMaxMissing) break;
    out.missing.push_back({string_at(each, {"resource"}), string_at(each, {"namespace"})});
  }
  return out;
}

}  // namespace

Result<Snapshot> read_snapshot(const Json& document, Timestamp now) {
  if (!document.is_object()) return Error::invalid_argument("snapshot: expected an object");
  const std::string schema = string_at(document, {"schema"});
  if (schema == kSnapshotSchema) return read_document(document, now);
  if (schema.empty() && string_at(document, {"kind"}).ends_with("List")) {
    return read_document(document_of_list(document), now);
  }
  if (schema.empty() && string_at(document, {"kind"}) == "Node") {
    return read_document({{"nodes", Json::array({document})}}, now);
  }
  return Error::invalid_argument("schema: Invalid value: \"{}\": expected \"{}\" or a List of nodes", clip(schema, 64),
                                 kSnapshotSchema);
}

Json write_options(const Snapshot& snapshot) {
  const PlacementOptions& options = snapshot.options;
  const auto count = [](Duration time) { return std::chrono::duration_cast<seconds>(time).count(); };
  Json capacities = Json::array();
  for (int rank = 0; rank < static_cast<int>(kCapacities.size()); ++rank) {
    for (std::size_t i = 0; i < kCapacities.size(); ++i) {
      if (options.capacity_order.at(i) == rank) capacities.push_back(kCapacities.at(i));
    }
  }
  Json out = {{"namespace", options.scale_up.namespace_name},
              {"topologyKey", snapshot.topology_key},
              {"topologyKeys", Json::array()},
              {"scaleUp", kScaleUps.at(static_cast<std::size_t>(options.scale_up.mode))},
              {"scouts", options.scale_up.scouts},
              {"provisioningClass", options.scale_up.provisioning_class},
              {"maxScaleUps", options.scale_up.max_scale_ups},
              {"maxPreemptionsPerHour", options.max_preemptions_per_hour},
              {"capacityOrder", std::move(capacities)},
              {"reservationPercent", options.reservation.percent},
              {"reservationSeconds", count(options.reservation.timeout)},
              {"holdTimeoutSeconds", count(options.hold_timeout)},
              {"stableSeconds", count(options.stable_time)},
              {"keepDomainSeconds", count(options.keep_domain)},
              {"showOtherNamespaces", options.show_other_namespaces}};
  for (const std::string& each : options.topology_keys) out["topologyKeys"].push_back(each);
  return out;
}

}  // namespace tpuslice::fleet
