#include "controllers/slice/unnumbered_pods.h"

#include <fmt/format.h>

#include "api/types/json.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"
#include "tpu/labels.h"
#include "tpu/slice_shape.h"

namespace tpuslice::slice {
namespace {

const std::string& topology_of(const PodView& pod) {
  return value_of(pod.scheduling->node_selector, tpu::kTopologyLabel);
}

/// Number of hosts of the slice that the pod selects; 1 if it is not known.
int selected_hosts(const PodView& pod) {
  const auto accelerator = tpu::find_accelerator(accelerator_of(pod.scheduling->node_selector));
  const auto topology = tpu::Topology::parse(topology_of(pod));
  if (!accelerator || !topology) return 1;
  const std::string& part = pod.annotation(tpu::kSliceTopologyAnnotation);
  return tpu::host_count(tpu::annotated_topology(**accelerator, *topology, part), tpu::chips_of(pod)).value_or(1);
}

}  // namespace

bool is_unnumbered(const PodView& pod) {
  return pod.label(tpu::kSlice) == tpu::kNoSlice && is_live(pod) && pod.controller && pod.controller->kind == "Job" &&
         pod.controller->api_version.starts_with("batch/") && tpu::chips_of(pod) > 0 && selected_hosts(pod) > 1;
}

plan::Plan plan_unnumbered_pod(const PodView& pod, Timestamp now) {
  plan::Plan out;
  if (!is_unnumbered(pod) || !pod.created || now >= *pod.created + kUnnumberedPodPeriod) return out;
  const bool is_indexed = !pod.annotation(tpu::kCompletionIndex).empty();
  const std::string message = fmt::format(
      "Each pod is one of {} hosts of a slice, {} {}, but gets no TPU_WORKER_ID, so the hosts do not find each other: "
      "create the Job again with {}the subdomain of a headless service in its pod template, in a JobSet with "
      "spec.network.enableDNSHostnames",
      selected_hosts(pod), accelerator_of(pod.scheduling->node_selector), topology_of(pod),
      is_indexed ? "" : "completionMode Indexed and ");
  out.events.push_back({plan::EventType::kWarning, "SliceIdentityMissing", "IdentifyHost", message, workload_of(pod)});
  out.reason = fmt::format("pod {} has no slice identity", pod.key.name);
  return out;
}

}  // namespace tpuslice::slice
