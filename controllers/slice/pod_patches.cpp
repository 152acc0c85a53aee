#include "controllers/slice/pod_patches.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "tpu/labels.h"
#include "tpu/placement.h"

namespace tpuslice::slice {
namespace {

/// The pod's required node affinity, restricted to one node.
Json affinity_to_node(const PodView& pod, const std::string& node) {
  const Json name = {{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({node})}};
  Json required = parse_json(pod.scheduling->node_affinity).value_or(Json::object());
  Json& terms = required["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = Json::array({Json::object()});
  for (Json& term : terms) {
    // An empty term matches no node, and the API server does not allow to change that.
    const bool matches_nothing = !pod.scheduling->node_affinity.empty() && term.empty();
    if (!matches_nothing) term["matchFields"].push_back(name);
  }
  return {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", std::move(required)}}}};
}

/// A patch of the annotations. Host 0 gets its label, too, if it lacks it: admission has not seen the pods that the Job
/// controller creates from a template of ours.
Json annotations_patch(const PodView& pod, Json annotations) {
  Json metadata = {{"annotations", std::move(annotations)}};
  if (host_index(pod) == 0 && pod.label(tpu::kHost).empty()) metadata["labels"] = {{tpu::kHost, tpu::kHost0}};
  return {{"metadata", std::move(metadata)}};
}

}  // namespace

plan::Action release_pod(const PodView& pod, const Release& release) {
  Json gates = Json::array();
  for (const std::string& gate : pod.scheduling->gates) {
    if (gate != tpu::kSliceGate) gates.push_back({{"name", gate}});
  }
  Json annotations = {{tpu::kSliceMembers, release.members},
                      {tpu::kPlacedAt, format_rfc3339(release.placed_at)},
                      {tpu::kWaiting, nullptr},
                      {tpu::kWaitingReason, nullptr}};
  if (release.queued_since) annotations[std::string(tpu::kQueuedSince)] = format_rfc3339(*release.queued_since);
  Json patch = annotations_patch(pod, std::move(annotations));
  patch["spec"] = {{"schedulingGates", std::move(gates)}};
  if (!release.domain.empty()) {
    patch["metadata"]["annotations"][std::string(tpu::kPlacedIn)] = release.domain;
    patch["spec"]["nodeSelector"] = {{release.topology_key, release.domain}};
  }
  const std::optional<int> host = host_index(pod);
  if (host && static_cast<std::size_t>(*host) < release.nodes.size()) {
    patch["spec"]["affinity"] = affinity_to_node(pod, release.nodes[static_cast<std::size_t>(*host)]);
    if (release.records) {
      patch["metadata"]["annotations"][std::string(tpu::kPlacedOn)] = fmt::format("{}", fmt::join(release.nodes, ","));
    }
  }
  plan::Action action = plan::Action::patch(kPods, pod.key, std::move(patch), {pod.uid, pod.resource_version});
  action.failure_reason = kFailedPlaceSlice;
  return action;
}

plan::Action set_waiting_reason(const PodView& pod, const WaitingReason& reason, const plan::FailedWrites* failed,
                                std::optional<Timestamp> queued_since) {
  const bool none = reason.text.empty();
  Json annotations = {{tpu::kWaiting, none ? Json() : Json(reason.text)},
                      {tpu::kWaitingReason, none ? Json() : Json(to_string(reason.code))}};
  if (queued_since) annotations[std::string(tpu::kQueuedSince)] = format_rfc3339(*queued_since);
  plan::Action action =
      plan::Action::patch(kPods, pod.key, annotations_patch(pod, std::move(annotations)), {.uid = pod.uid});
  if (failed != nullptr && failed->refuses_patches(pod.key, pod.uid)) action.subresource = "status";
  return action;
}

plan::EventIntent waiting_event(const PodView& pod, const std::string& reason) {
  const std::string_view slice = tpu::name_in_slice_key(pod.label(tpu::kSlice));
  return {plan::EventType::kNormal, "SliceWaiting", "PlaceSlice", fmt::format("Slice {} waits: {}", slice, reason),
          plan::ObjectReference{"v1", "Pod", pod.key, pod.uid, {}}};
}

plan::Action set_annotation(const PodView& pod, std::string_view name, const std::string& value) {
  Json patch = {{"metadata", {{"annotations", {{name, value.empty() ? Json() : Json(value)}}}}}};
  return plan::Action::patch(kPods, pod.key, std::move(patch), {.uid = pod.uid});
}

plan::Action set_disruption_target(const PodView& pod, std::string_view reason, const std::string& message,
                                   Timestamp now) {
  Json condition = {{"type", "DisruptionTarget"},
                    {"status", "True"},
                    {"reason", reason},
                    {"message", message},
                    {"lastTransitionTime", format_rfc3339(now)}};
  Json patch = {{"status", {{"conditions", Json::array({std::move(condition)})}}}};
  plan::Action action = plan::Action::patch(kPods, pod.key, std::move(patch), {.uid = pod.uid});
  action.subresource = "status";
  action.strategic = true;
  action.best_effort = true;
  return action;
}

plan::Action delete_pod(const PodView& pod) {
  plan::Action action = plan::Action::remove(kPods, pod.key, {.uid = pod.uid});
  action.failure_reason = kFailedTearDownSlice;
  return action;
}

plan::Action delete_lost_pod(const PodView& pod) {
  plan::Action action = delete_pod(pod);
  action.grace_seconds = 0;
  const std::string late =
      fmt::format("Pod {} should have terminated at {}, and its node {} is not Ready:", pod.key.name,
                  format_rfc3339(*pod.deletion), pod.node_name);
  const auto event = [&](const std::string& message) {
    plan::EventIntent out{plan::EventType::kWarning, "LostPodDeleted", "DeleteLostPod", message};
    out.regarding = workload_of(pod);
    return out;
  };
  plan::ActionEvents events;
  events.on_success.push_back(event(late + " deleted without waiting for the node"));
  events.on_failure.push_back(event(late + " it could not be deleted without waiting for the node:"));
  action.events = std::make_shared<const plan::ActionEvents>(std::move(events));
  return action;
}

}  // namespace tpuslice::slice
