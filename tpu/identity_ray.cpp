#include <fmt/format.h>

#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

constexpr int kMegascalePort = 8081;  // Ray exports metrics on 8080, the default.

Error missing_shape(const Json& pod) {
  if (string_at(pod, {"spec", "nodeSelector", kAcceleratorLabel}).empty()) {
    return Error::invalid_argument(
        "spec.nodeSelector[{}]: Required value: a TPU pod names its accelerator, for example tpu-v6e-slice",
        kAcceleratorLabel);
  }
  return Error::invalid_argument(
      "spec.nodeSelector[{}]: Required value: a TPU pod names the topology of its slice, for example 4x4",
      kTopologyLabel);
}

Result<int> ray_host_index(const Json& pod, const SliceIdentity& identity) {
  ASSIGN_OR_RETURN(const std::optional<int> index, index_label(pod, kRayHostIndex));
  const auto size = [&] {
    return fmt::format("{}, set numOfHosts: {}", describe_hosts(identity, identity.hosts), identity.hosts);
  };
  if (!index && identity.hosts > 1) {
    return Error::invalid_argument("{}: Required value: {}", label_path(kRayHostIndex), size());
  }
  if (index.value_or(0) >= identity.hosts) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}", label_path(kRayHostIndex), *index, size());
  }
  return index.value_or(0);
}

}  // namespace

Result<std::optional<SliceIdentity>> identify_ray_cluster_pod(const Json& pod) {
  ASSIGN_OR_RETURN(std::vector<TpuContainer> containers, pod_containers(pod));
  if (containers.empty()) return MaybeIdentity();
  const std::string cluster = string_at(pod, {"metadata", "labels", kRayCluster});
  const std::string group = string_at(pod, {"metadata", "labels", kRayGroup});
  if (group.empty()) return MaybeIdentity();
  ASSIGN_OR_RETURN(const std::optional<int> replica, index_label(pod, kRayReplicaIndex));
  if (!replica) return MaybeIdentity();

  RETURN_IF_ERROR(check_label_part(kRayCluster, cluster));
  RETURN_IF_ERROR(check_label_part(kRayGroup, group));
  SliceIdentity identity;
  identity.env.megascale_port = kMegascalePort;
  identity.sets_hostname = true;
  identity.containers = std::move(containers);
  ASSIGN_OR_RETURN(const std::optional<SliceShape> shape, selected_shape(pod));
  if (!shape) return unknown_accelerator(pod).empty() ? Result<MaybeIdentity>(missing_shape(pod)) : MaybeIdentity();
  ASSIGN_OR_RETURN(identity.hosts, set_shape(identity, *shape));
  ASSIGN_OR_RETURN(identity.host_index, ray_host_index(pod, identity));
  const std::string uid = controller_uid(pod);
  identity.owner = uid.empty() ? fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}), cluster) : uid;
  identity.slice_name = ray_slice_name(group, *replica);
  identity.slice_index = *replica;
  identity.host_names = ray_worker_hostnames(group, *replica);
  identity.subdomain = ray_headless_service(cluster);
  identity.coordinator = fmt::format("{}.{}", ray_worker_hostnames(group, 0).of(0), identity.subdomain);
  return MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::tpu
