#include "controllers/raycluster/rules/raycluster_rules.h"

#include <fmt/format.h>

#include "controllers/raycluster/rules/host_names.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/identity_parts.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::raycluster {
namespace {

constexpr int kMegascalePort = 8081;  // Ray exports metrics on 8080, the default.

Error missing_shape(const Json& pod) {
  if (tpu::node_label(pod, tpu::kAcceleratorLabel).empty()) {
    return Error::invalid_argument(
        "spec.nodeSelector[{}]: Required value: required when google.com/tpu is requested, for example tpu-v6e-slice",
        tpu::kAcceleratorLabel);
  }
  return Error::invalid_argument(
      "spec.nodeSelector[{}]: Required value: required when google.com/tpu is requested, for example 4x4",
      tpu::kTopologyLabel);
}

Result<int> ray_host_index(const Json& pod, const tpu::SliceIdentity& identity) {
  ASSIGN_OR_RETURN(const std::optional<int> index, tpu::index_label(pod, kRayHostIndex));
  const auto size = [&] {
    return fmt::format("{}, set numOfHosts: {}", tpu::describe_hosts(identity, identity.hosts), identity.hosts);
  };
  if (!index && identity.hosts > 1) {
    return Error::invalid_argument("{}: Required value: {}", tpu::label_path(kRayHostIndex), size());
  }
  if (index.value_or(0) >= identity.hosts) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}", tpu::label_path(kRayHostIndex), *index, size());
  }
  return index.value_or(0);
}

}  // namespace

Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod) {
  ASSIGN_OR_RETURN(std::vector<tpu::TpuContainer> containers, tpu::pod_containers(pod));
  if (containers.empty()) return tpu::MaybeIdentity();
  const std::string cluster = string_at(pod, {"metadata", "labels", kRayCluster});
  const std::string group = string_at(pod, {"metadata", "labels", kRayGroup});
  if (group.empty()) return tpu::MaybeIdentity();
  const bool is_head = string_at(pod, {"metadata", "labels", kRayNodeType}) == "head";
  ASSIGN_OR_RETURN(std::optional<int> replica, tpu::index_label(pod, kRayReplicaIndex));
  if (!replica && is_head) replica = 0;
  if (!replica) return tpu::MaybeIdentity();

  RETURN_IF_ERROR(tpu::check_label_part(kRayCluster, cluster));
  RETURN_IF_ERROR(tpu::check_label_part(kRayGroup, group));
  tpu::SliceIdentity identity;
  identity.env.megascale_port = kMegascalePort;
  identity.sets_hostname = !is_head;
  identity.containers = std::move(containers);
  ASSIGN_OR_RETURN(const std::optional<tpu::SliceShape> shape, tpu::selected_shape(pod));
  if (!shape) {
    // Node affinity or a compute class may choose the nodes of a pod with neither; its slice is not known.
    const bool is_unknown = !rules::selects_tpu_nodes(pod) || !tpu::unknown_accelerator(pod).empty();
    return is_unknown ? tpu::MaybeIdentity() : Result<tpu::MaybeIdentity>(missing_shape(pod));
  }
  ASSIGN_OR_RETURN(identity.hosts, tpu::set_shape(identity, *shape));
  // The head is one pod. check_head_slice() refuses other topologies.
  if (is_head && identity.hosts > 1) return tpu::MaybeIdentity();
  ASSIGN_OR_RETURN(identity.host_index, ray_host_index(pod, identity));
  const std::string uid = tpu::controller_uid(pod);
  identity.owner = uid.empty() ? fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}), cluster) : uid;
  identity.slice_name = ray_slice_name(group, *replica);
  identity.slice_index = *replica;
  identity.host_names = ray_worker_hostnames(group, *replica);
  identity.subdomain = ray_headless_service(cluster);
  identity.coordinator = fmt::format("{}.{}", ray_worker_hostnames(group, 0).of(0), identity.subdomain);
  return tpu::MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::raycluster
