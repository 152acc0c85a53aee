#include "tests/example_kind/rules/fleet_rules.h"

#include <utility>

#include <fmt/format.h>

#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/example_kind/rules/spec.h"
#include "tpu/identity_parts.h"

namespace tpuslice::example {

Result<std::optional<tpu::SliceIdentity>> identify_pod(const Json& pod) {
  ASSIGN_OR_RETURN(std::vector<tpu::TpuContainer> containers, tpu::pod_containers(pod));
  if (containers.empty()) return tpu::MaybeIdentity();
  const std::string fleet = string_at(pod, {"metadata", "labels", kFleetName});
  RETURN_IF_ERROR(tpu::check_label_part(kFleetName, fleet));
  ASSIGN_OR_RETURN(const std::optional<int> ship, tpu::index_label(pod, kShip));
  ASSIGN_OR_RETURN(const std::optional<int> host, tpu::index_label(pod, kHost));
  ASSIGN_OR_RETURN(const std::optional<tpu::SliceShape> shape, tpu::selected_shape(pod));
  if (!ship || !host || !shape) return tpu::MaybeIdentity();

  tpu::SliceIdentity identity;
  identity.containers = std::move(containers);
  ASSIGN_OR_RETURN(identity.hosts, tpu::set_shape(identity, *shape));
  if (*host >= identity.hosts) {
    return Error::invalid_argument("{}: Invalid value: \"{}\": {}", tpu::label_path(kHost), *host,
                                   tpu::describe_hosts(identity, identity.hosts));
  }
  identity.host_index = *host;
  identity.slice_index = *ship;
  identity.slice_name = ship_name(fleet, *ship);
  const std::string uid = tpu::controller_uid(pod);
  identity.owner = uid.empty() ? fmt::format("{}/{}", string_at(pod, {"metadata", "namespace"}), fleet) : uid;
  identity.host_names = tpu::numbered_hostnames(identity.slice_name, 0);
  identity.sets_hostname = true;
  identity.subdomain = fleet;
  identity.coordinator = fmt::format("{}.{}", pod_name(fleet, {0, 0}), fleet);
  return tpu::MaybeIdentity(std::move(identity));
}

}  // namespace tpuslice::example
