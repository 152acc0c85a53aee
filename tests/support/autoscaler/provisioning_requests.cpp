#include "tests/support/autoscaler/provisioning_requests.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

constexpr const char* kCheckCapacity = "check-capacity.autoscaling.x-k8s.io";
constexpr const char* kAtomicScaleUp = "best-effort-atomic-scale-up.autoscaling.x-k8s.io";
constexpr const char* kQueuedProvisioning = "queued-provisioning.gke.io";
constexpr const char* kQueuedTaint = "cloud.google.com/gke-queued";
constexpr int kMaxBackoffFactor = 10;

const Json* condition_of(const Object& request, std::string_view type) {
  for (const Json& condition : array_at(request.json(), {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

bool has_condition(const Object& request, std::string_view type) {
  const Json* condition = condition_of(request, type);
  return condition != nullptr && string_at(*condition, {"status"}) == "True";
}

std::string class_of(const Object& request) { return string_at(request.json(), {"spec", "provisioningClassName"}); }

/// Pods with a node that consume the request.
std::size_t consumers(const Object& request, const ObservedCluster& cluster) {
  return static_cast<std::size_t>(std::ranges::count_if(cluster.pods, [&](const ObservedPod& pod) {
    return pod.consumed_request == request.name() && pod.info.key.namespace_name == request.namespace_name() &&
           !pod.info.node_name.empty() && !pod.info.finished;
  }));
}

}  // namespace

Json provisioning_request_crd() {
  const Json text = {{"type", "string"}};
  const Json pod_set = {{"type", "object"},
                        {"required", {"podTemplateRef", "count"}},
                        {"properties",
                         {{"podTemplateRef", {{"type", "object"}, {"properties", {{"name", text}}}}},
                          {"count", {{"type", "integer"}, {"format", "int32"}, {"minimum", 1}}}}}};
  const Json spec = {{"type", "object"},
                     {"required", {"provisioningClassName", "podSets"}},
                     {"properties",
                      {{"provisioningClassName", text},
                       {"podSets", {{"type", "array"}, {"minItems", 1}, {"maxItems", 32}, {"items", pod_set}}},
                       {"parameters", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}}}}};
  const Json condition = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  const Json status = {
      {"type", "object"},
      {"properties",
       {{"conditions", {{"type", "array"}, {"items", condition}}},
        {"provisioningClassDetails", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}}}}};
  const Json schema = {{"type", "object"}, {"properties", {{"spec", spec}, {"status", status}}}};
  const Json version = {{"name", "v1"},
                        {"served", true},
                        {"storage", true},
                        {"subresources", {{"status", Json::object()}}},
                        {"schema", {{"openAPIV3Schema", schema}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          // Groups under x-k8s.io need this annotation.
          {"metadata",
           {{"name", "provisioningrequests.autoscaling.x-k8s.io"},
            {"annotations", {{"api-approved.kubernetes.io", "unapproved, for tests"}}}}},
          {"spec",
           {{"group", "autoscaling.x-k8s.io"},
            {"scope", "Namespaced"},
            {"names",
             {{"kind", "ProvisioningRequest"},
              {"listKind", "ProvisioningRequestList"},
              {"plural", "provisioningrequests"},
              {"singular", "provisioningrequest"},
              {"shortNames", {"provreq"}}}},
            {"versions", Json::array({version})}}}};
}

Status ProvisioningRequests::place_booked(ScaleUpSimulation& simulation, const ObservedCluster& cluster, Instant) {
  requests_.clear();
  ASSIGN_OR_RETURN(std::vector<Json> all, list_all(reader_, kProvisioningRequests));
  for (Json& each : all) requests_.emplace_back(std::move(each));
  std::ranges::sort(requests_, {}, [](const Object& request) {
    return std::make_tuple(string_at(request.json(), {"metadata", "creationTimestamp"}), request.key());
  });
  std::erase_if(attempts_, [&](const auto& entry) {
    return std::ranges::none_of(requests_, [&](const Object& each) { return each.uid() == entry.first; });
  });
  for (const Object& request : requests_) {
    const bool over = has_condition(request, "BookingExpired") || has_condition(request, "CapacityRevoked");
    if (!has_condition(request, "Provisioned") || over) continue;
    const auto since = parse_rfc3339(string_at(*condition_of(request, "Provisioned"), {"lastTransitionTime"}));
    if (since && clock_.wall() >= *since + options_.booking) {
      RETURN_IF_ERROR(set_condition(request, "BookingExpired", true, "BookingExpired",
                                    "Capacity booking for the ProvisioningRequest has expired and the nodes are now "
                                    "candidates for scale down when underutilized."));
      continue;
    }
    auto pods = pods_of(request);
    if (!pods) continue;
    const std::size_t consumed = std::min(consumers(request, cluster), pods->size());
    for (std::size_t i = consumed; i < pods->size(); ++i) simulation.place((*pods)[i]);
  }
  return {};
}

Status ProvisioningRequests::handle_new(ScaleUpSimulation& simulation, const ObservedCluster& cluster, Instant now) {
  for (const Object& request : requests_) {
    const std::string name = class_of(request);
    if (name == kQueuedProvisioning) {
      RETURN_IF_ERROR(revoke_lost(request, cluster));
      if (has_condition(request, "Provisioned") || has_condition(request, "Failed")) continue;
      RETURN_IF_ERROR(handle_queued(request, simulation));
      continue;
    }
    if (name != kCheckCapacity && name != kAtomicScaleUp) continue;
    if (has_condition(request, "Provisioned") || has_condition(request, "Failed")) continue;
    if (!has_condition(request, "Accepted")) {
      RETURN_IF_ERROR(set_condition(request, "Accepted", true, "Accepted",
                                    "ProvisioningRequest is accepted by ClusterAutoscaler."));
      continue;
    }
    RETURN_IF_ERROR(handle(request, simulation, now));
  }
  return {};
}

Status ProvisioningRequests::handle(const Object& request, ScaleUpSimulation& simulation, Instant now) {
  Attempts& attempts = attempts_[request.uid()];
  if (now < attempts.next) return {};
  const auto pods = pods_of(request);
  if (!pods && pods.error().code() != ErrorCode::kNotFound) return pods.error();
  if (!pods) return set_condition(request, "Failed", true, "FailedToCreatePods", pods.error().message());
  ScaleUpSimulation trial = simulation;
  const bool check_only = class_of(request) == kCheckCapacity;
  const bool fit = std::ranges::all_of(
      *pods, [&](const sim::PodInfo& pod) { return check_only ? trial.place_now(pod) : trial.provide(pod).fits; });
  if (fit) {
    simulation = std::move(trial);
    return set_condition(request, "Provisioned", true, check_only ? "CapacityIsFound" : "CapacityIsProvisioned",
                         check_only ? "Capacity is found in the cluster." : "Capacity is provisioned in the cluster.");
  }
  const auto created = parse_rfc3339(string_at(request.json(), {"metadata", "creationTimestamp"}));
  const bool give_up = created && clock_.wall() >= *created + options_.give_up;
  if (give_up || string_at(request.json(), {"spec", "parameters", "noRetry"}) == "true") {
    return set_condition(request, "Failed", true, "CapacityIsNotFound", "CA could not find requested capacity");
  }
  const int factor = std::min(1 << std::min(attempts.count++, 10), kMaxBackoffFactor);
  attempts.next = now + options_.retry * factor;
  return set_condition(request, "Provisioned", false, "CapacityIsNotFound",
                       "Capacity is not found, CA will try to find it later.");
}

Status ProvisioningRequests::handle_queued(const Object& request, ScaleUpSimulation& simulation) {
  Attempts& attempts = attempts_[request.uid()];
  const auto pods = pods_of(request);
  if (!pods && pods.error().code() != ErrorCode::kNotFound) return pods.error();
  if (!pods) return set_condition(request, "Failed", true, "FailedToCreatePods", pods.error().message());
  if (attempts.group.empty()) {
    attempts.group = simulation.queue(*pods);
    attempts.resize_request = fmt::format("gke-{}-{}", request.namespace_name(), request.name());
  }
  if (attempts.group.empty()) return {};
  if (!has_condition(request, "Accepted")) {
    return set_condition(request, "Accepted", true, "Accepted", "Provisioning Request was successfully queued.");
  }
  ScaleUpSimulation trial = simulation;
  for (sim::PodInfo pod : *pods) {
    pod.node_selector[kResizeRequestLabel] = attempts.resize_request;
    if (!trial.place_now(pod)) return {};
  }
  simulation = std::move(trial);
  return set_condition(request, "Provisioned", true, "Provisioned",
                       "Provisioning Request was successfully provisioned.",
                       {{"NodePoolName", attempts.group}, {"ResizeRequestName", attempts.resize_request}});
}

Status ProvisioningRequests::revoke_lost(const Object& request, const ObservedCluster& cluster) {
  if (!has_condition(request, "Provisioned") || has_condition(request, "CapacityRevoked")) return {};
  const std::string name = string_at(request.json(), {"status", "provisioningClassDetails", "ResizeRequestName"});
  const bool exist = std::ranges::any_of(cluster.nodes, [&](const auto& entry) {
    const auto label = entry.second.labels.find(kResizeRequestLabel);
    return label != entry.second.labels.end() && label->second == name;
  });
  if (exist) return {};
  attempts_[request.uid()].group.clear();
  return set_condition(request, "CapacityRevoked", true, "CapacityRevoked", "The capacity was revoked.");
}

std::string ProvisioningRequests::resize_request_of(const std::string& group) const {
  for (const auto& [uid, attempts] : attempts_) {
    if (attempts.group == group) return attempts.resize_request;
  }
  return {};
}

Result<std::vector<sim::PodInfo>> ProvisioningRequests::pods_of(const Object& request) {
  std::vector<sim::PodInfo> pods;
  for (const Json& set : array_at(request.json(), {"spec", "podSets"})) {
    const std::string name = string_at(set, {"podTemplateRef", "name"});
    ASSIGN_OR_RETURN(const Object pod_template, reader_.get(kPodTemplates, {request.namespace_name(), name}, {}));
    Json pod = pod_template.json().value("template", Json::object());
    pod["metadata"]["namespace"] = request.namespace_name();
    for (std::int64_t i = 0; i < int_at(set, {"count"}); ++i) {
      pod["metadata"]["name"] = fmt::format("{}-{}-{}", request.name(), name, i);
      sim::PodInfo info = sim::PodInfo::decode(pod);
      if (class_of(request) == kQueuedProvisioning) {
        info.tolerations.push_back({.key = kQueuedTaint, .op = "Equal", .value = "true", .effect = "NoSchedule"});
        const std::string reserved =
            string_at(request.json(), {"status", "provisioningClassDetails", "ResizeRequestName"});
        if (!reserved.empty()) info.node_selector[kResizeRequestLabel] = reserved;
      }
      pods.push_back(std::move(info));
    }
  }
  return pods;
}

Status ProvisioningRequests::set_condition(const Object& request, const std::string& type, bool status,
                                           const std::string& reason, const std::string& message, const Json& details) {
  const std::string text = status ? "True" : "False";
  const Json* before = condition_of(request, type);
  const std::string since = before != nullptr && string_at(*before, {"status"}) == text
                                ? string_at(*before, {"lastTransitionTime"})
                                : format_rfc3339(clock_.wall());
  Json conditions = Json::array();
  for (const Json& condition : array_at(request.json(), {"status", "conditions"})) {
    if (string_at(condition, {"type"}) != type) conditions.push_back(condition);
  }
  conditions.push_back({{"type", type},
                        {"status", text},
                        {"reason", reason},
                        {"message", message},
                        {"lastTransitionTime", since},
                        {"observedGeneration", request.generation()}});
  Json written = {{"conditions", conditions}};
  if (!details.is_null()) written["provisioningClassDetails"] = details;
  const auto updated = writer_.update_status(kProvisioningRequests, request.key(), written,
                                             {.resource_version = request.resource_version()}, {});
  if (updated || updated.error().code() == ErrorCode::kNotFound) return {};
  return updated.error();
}

}  // namespace tpuslice::testing
