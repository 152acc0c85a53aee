#include "tpu/identity.h"

#include <charconv>

#include <fmt/format.h>

#include "tpu/geometry.h"
#include "tpu/labels.h"
#include "tpu/naming.h"

namespace tpuslice::tpu {
namespace {

/// "metadata.labels[ray.io/group]"
std::string label_path(std::string_view label) { return fmt::format("metadata.labels[{}]", label); }
std::string selector_path(std::string_view label) { return fmt::format("spec.nodeSelector[{}]", label); }

/// The number in a label; nothing where the label is absent.
Result<std::optional<int>> index_label(const Json& pod, std::string_view label) {
  const std::string text = string_at(pod, {"metadata", "labels", label});
  if (text.empty()) return std::optional<int>();
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": must be a number from 0", label_path(label), text);
  }
  return std::optional<int>(index);
}

Result<const Accelerator*> accelerator_of(const Json& pod) {
  const std::string label = string_at(pod, {"spec", "nodeSelector", kAcceleratorLabel});
  if (label.empty()) {
    return Error::invalid_argument("{}: Required value: a TPU pod names its accelerator, for example tpu-v6e-slice",
                                   selector_path(kAcceleratorLabel));
  }
  auto found = find_accelerator(label);
  if (!found) return found.error().within(selector_path(kAcceleratorLabel));
  return found;
}

Result<Topology> topology_of(const Json& pod, const Accelerator& accelerator) {
  const std::string selected = string_at(pod, {"spec", "nodeSelector", kTopologyLabel});
  const std::string annotated = string_at(pod, {"metadata", "annotations", kSliceTopologyAnnotation});
  if (selected.empty() && annotated.empty()) {
    return Error::invalid_argument("{}: Required value: a TPU pod names the topology of its slice, for example {}",
                                   selector_path(kTopologyLabel), accelerator.shapes.back());
  }
  const std::string path = selected.empty() ? fmt::format("metadata.annotations[{}]", kSliceTopologyAnnotation)
                                            : selector_path(kTopologyLabel);
  const auto topology = Topology::parse(selected.empty() ? annotated : selected);
  if (!topology) return topology.error().within(path);
  if (const Status legal = check_topology(accelerator, *topology); !legal) return legal.error().within(path);
  return effective_topology(accelerator, *topology, selected.empty() ? std::string_view() : annotated);
}

/// Processes of one slice are alike, and before tpu7x a host is one process.
Status check_containers(const std::vector<TpuContainer>& containers, const Accelerator& accelerator) {
  if (containers.size() > 1 && !accelerator.splits_hosts()) {
    return Error::invalid_argument(
        "spec.containers: {} containers ask for {}; on {} one container must ask for all {} chips of its host",
        containers.size(), kTpuResource, accelerator.label, total_chips(containers));
  }
  for (const TpuContainer& container : containers) {
    if (container.chips != containers.front().chips) {
      return Error::invalid_argument(
          "spec.containers[{}].resources.limits[{}]: Invalid value: {}: container {} asks for {}; all TPU containers "
          "of a pod must ask for the same number of chips",
          container.position, kTpuResource, container.chips, containers.front().name, containers.front().chips);
    }
  }
  return {};
}

Result<int> host_index_of(const Json& pod, const Topology& topology, int hosts, std::int64_t chips) {
  ASSIGN_OR_RETURN(const std::optional<int> index, index_label(pod, kRayHostIndex));
  const std::string size =
      fmt::format("topology {} has {} chips; with {} chips per host that is {} hosts, set numOfHosts: {}",
                  topology.to_string(), topology.chips(), chips, hosts, hosts);
  if (!index && hosts > 1) {
    return Error::invalid_argument("{}: Required value: {}", label_path(kRayHostIndex), size);
  }
  if (index.value_or(0) >= hosts) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}", label_path(kRayHostIndex), *index, size);
  }
  return index.value_or(0);
}

}  // namespace

int SliceIdentity::processes_per_host() const {
  return accelerator->splits_hosts() ? static_cast<int>(containers.size()) : 1;
}

int SliceIdentity::worker_id(std::size_t container) const {
  if (!accelerator->splits_hosts()) return host_index;
  return host_index * processes_per_host() + static_cast<int>(container);
}

std::string SliceIdentity::hostname(int host) const { return ray_worker_hostname(group, replica_index, host); }

std::string SliceIdentity::address(int host) const { return hostname(host) + "." + subdomain; }

Result<std::optional<SliceIdentity>> identify_ray_worker(const Json& pod) {
  const std::string cluster = string_at(pod, {"metadata", "labels", kRayCluster});
  const std::string group = string_at(pod, {"metadata", "labels", kRayGroup});
  if (cluster.empty() || group.empty()) return std::optional<SliceIdentity>();
  const Json* spec = find_path(pod, {"spec"});
  if (spec == nullptr) return std::optional<SliceIdentity>();
  ASSIGN_OR_RETURN(std::vector<TpuContainer> containers, tpu_containers(*spec));
  if (containers.empty()) return std::optional<SliceIdentity>();
  ASSIGN_OR_RETURN(const std::optional<int> replica, index_label(pod, kRayReplicaIndex));
  if (!replica) return std::optional<SliceIdentity>();

  ASSIGN_OR_RETURN(const Accelerator* accelerator, accelerator_of(pod));
  ASSIGN_OR_RETURN(const Topology topology, topology_of(pod, *accelerator));
  RETURN_IF_ERROR(check_containers(containers, *accelerator));
  const std::int64_t chips = total_chips(containers);
  const auto hosts = host_count(topology, chips);
  if (!hosts) return hosts.error().within("spec.containers");
  ASSIGN_OR_RETURN(const int host, host_index_of(pod, topology, *hosts, chips));
  return std::optional<SliceIdentity>(SliceIdentity{.slice_name = ray_slice_name(group, *replica),
                                                    .cluster = cluster,
                                                    .group = group,
                                                    .replica_index = *replica,
                                                    .host_index = host,
                                                    .hosts = *hosts,
                                                    .subdomain = ray_headless_service(cluster),
                                                    .accelerator = accelerator,
                                                    .topology = topology,
                                                    .containers = std::move(containers)});
}

}  // namespace tpuslice::tpu
