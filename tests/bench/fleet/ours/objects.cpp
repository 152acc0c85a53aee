#include "tests/bench/fleet/ours/objects.h"

#include <chrono>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "tests/support/chips.h"
#include "tpu/labels.h"
#include "tpu/workload_ref.h"

namespace tpuslice::fleet_bench {
namespace {

// Labels and taints of GKE.
constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
constexpr const char* kSpotLabel = "cloud.google.com/gke-spot";
constexpr const char* kReservationLabel = "cloud.google.com/reservation-name";
constexpr const char* kMaintenanceTimeLabel = "cloud.google.com/scheduled-maintenance-time";

constexpr std::size_t kHashOfSliceKey = 13;  ///< Characters.

SharedString& annotation_of(PodView& pod, std::string_view name) { return pod.annotations[std::string(name)]; }

}  // namespace

NodeView make_node(const Fleet& fleet, NodeId id, const NodeState& state) {
  const Node& node = fleet.nodes[id];
  const Pool& pool = fleet.pools[node.pool];
  NodeView view;
  view.key = {"", node.name};
  view.uid = "uid-of-" + node.name;
  view.resource_version = "1";
  view.labels = {{std::string(tpu::kAcceleratorLabel), kAccelerator},
                 {std::string(tpu::kTopologyLabel), pool.topology},
                 {std::string(tpu::kHostnameLabel), node.name},
                 {kZoneLabel, pool.zone},
                 {pool.spot ? kSpotLabel : kReservationLabel, pool.spot ? "true" : "reservation"}};
  for (const DomainId domain : node.domains) {
    view.labels[fleet.shapes[fleet.domains[domain].shape].topology_key] = fleet.domains[domain].name;
  }
  if (state.maintenance) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*state.maintenance).time_since_epoch();
    view.labels[kMaintenanceTimeLabel] = std::to_string(seconds.count());
  }
  view.ready = state.ready;
  view.ready_changed = state.ready_changed;
  view.unschedulable = state.cordoned;
  view.taints = {{std::string(tpu::kTpuTaint), "present", "NoSchedule"}};
  if (pool.spot) view.taints.push_back({kSpotLabel, "true", "NoSchedule"});
  tpu::set_chips(view, kChipsPerHost);
  return view;
}

ObjectKey slice_key_of(const Job& job, int slice) {
  const std::string name = fmt::format("job-{}-{}", job.id, slice);
  return {job.tenant, fmt::format("{}-{}", name, short_hash(name, kHashOfSliceKey))};
}

std::vector<PodView> make_pods(const Fleet& fleet, const Job& job, int slice, int attempt, Timestamp now) {
  const Shape& shape = fleet.shapes[job.shape];
  const std::string job_set = fmt::format("job-{}", job.id);
  const std::string owner = fmt::format("{}-{}", job_set, slice);
  PodView pod;
  pod.resource_version = "1";
  pod.created = now;
  pod.labels = {{std::string(tpu::kSlice), slice_key_of(job, slice).name}};
  pod.controller = ControllerRef{"batch/v1", "Job", owner, fmt::format("uid-of-{}-{}", owner, attempt)};
  pod.priority = job.priority;
  pod.active_deadline_seconds = job.deadline_seconds;
  annotation_of(pod, tpu::kWorkload) =
      tpu::to_string(tpu::WorkloadRef{"jobset.x-k8s.io/v1alpha2", "JobSet", job_set, {}});
  annotation_of(pod, tpu::kWorkloadUid) = "uid-of-" + job_set;
  annotation_of(pod, tpu::kSliceHosts) = std::to_string(shape.hosts);
  annotation_of(pod, tpu::kTopologyKey) = shape.topology_key;
  if (job.slices > 1) {
    annotation_of(pod, tpu::kSliceGang) = job_set;
    annotation_of(pod, tpu::kGangSlices) = std::to_string(job.slices);
  }
  PodScheduling& scheduling = pod.scheduling.edit();
  scheduling.gates = {std::string(tpu::kSliceGate)};
  scheduling.node_selector = {{std::string(tpu::kAcceleratorLabel), kAccelerator},
                              {std::string(tpu::kTopologyLabel), shape.pool_topology}};
  if (!job.zone.empty()) scheduling.node_selector[kZoneLabel] = job.zone;
  scheduling.tolerations = {{.key = std::string(tpu::kTpuTaint), .exists = true}};
  if (job.tolerates_spot) scheduling.tolerations.push_back({.key = kSpotLabel, .exists = true});
  scheduling.resources = tpu::chips(kChipsPerHost);
  std::vector<PodView> pods(static_cast<std::size_t>(shape.hosts), pod);
  for (std::size_t host = 0; host < pods.size(); ++host) {
    // Names are in the order of the hosts.
    pods[host].key = {job.tenant, fmt::format("{}-{:03}-{}", owner, host, attempt)};
    pods[host].uid = "uid-of-" + pods[host].key.name;
    annotation_of(pods[host], tpu::kSliceHost) = std::to_string(host);
  }
  return pods;
}

}  // namespace tpuslice::fleet_bench
