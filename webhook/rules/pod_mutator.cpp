#include "webhook/rules/pod_mutator.h"

#include <utility>

#include <fmt/format.h>

#include "tpu/identity.h"
#include "tpu/labels.h"
#include "tpu/placement.h"
#include "tpu/worker_env.h"

namespace tpuslice::webhook {
namespace {

using tpu::SliceIdentity;

Json& object_member(Json& parent, std::string_view key) {
  Json& found = parent[std::string(key)];
  if (found.is_null()) found = Json::object();
  return found;
}

/// Sets a field that only we may decide. A value of the user's that disagrees cannot be honoured: the other hosts of
/// the slice would look for this one under our name.
Status decide(Json& parent, std::string_view key, const std::string& value, std::string_view path,
              std::string_view why) {
  Json& field = parent[std::string(key)];
  const bool unset = field.is_null() || (field.is_string() && field.get_ref<const std::string&>().empty());
  if (!unset && field != value) {
    return Error::invalid_argument("{}: Invalid value: {}: must be unset or \"{}\": {}", path,
                                   field.dump(-1, ' ', false, Json::error_handler_t::replace), value, why);
  }
  field = value;
  return {};
}

/// Adds each TPU container's variables; true if one of them takes part in a multislice job.
bool join_environment(Json& pod, const SliceIdentity& identity) {
  Json& containers = pod["spec"]["containers"];
  const std::vector<int> ports = tpu::process_ports(identity, containers);
  bool any_multislice = false;
  for (std::size_t index = 0; index < identity.containers.size(); ++index) {
    Json& env = containers[identity.containers[index].position]["env"];
    const bool multislice = tpu::declares_multislice(env);
    any_multislice = any_multislice || multislice;
    env = tpu::join_env(std::move(env), tpu::worker_env(identity, index, ports, multislice), index);
  }
  return any_multislice;
}

Status decide_names(Json& pod, const SliceIdentity& identity) {
  constexpr std::string_view kWhy = "the other hosts of the slice find this one by that name";
  Json& spec = pod["spec"];
  RETURN_IF_ERROR(decide(spec, "hostname", identity.hostname(identity.host_index), "spec.hostname", kWhy));
  return decide(spec, "subdomain", identity.subdomain, "spec.subdomain", kWhy);
}

Status place(Json& pod, const SliceIdentity& identity, const MutationOptions& options) {
  const std::string key = tpu::slice_key(pod, identity);
  std::string topology_key = string_at(pod, {"metadata", "annotations", tpu::kTopologyKey});
  if (topology_key.empty()) topology_key = options.topology_key;
  constexpr std::string_view kWhy = "it is derived from the pod's controller and indexes";
  Json& metadata = object_member(pod, "metadata");
  RETURN_IF_ERROR(decide(object_member(metadata, "labels"), tpu::kSlice, key,
                         fmt::format("metadata.labels[{}]", tpu::kSlice), kWhy));
  RETURN_IF_ERROR(decide(object_member(metadata, "annotations"), tpu::kSliceHosts, std::to_string(identity.hosts),
                         fmt::format("metadata.annotations[{}]", tpu::kSliceHosts), kWhy));
  tpu::join_slice_affinity(pod, key, topology_key);
  return {};
}

Result<Json> mutate(Json pod, const MutationOptions& options) {
  ASSIGN_OR_RETURN(const std::optional<SliceIdentity> identity, tpu::identify_ray_worker(pod));
  if (!identity) return pod;
  const bool multislice = join_environment(pod, *identity);
  // Slices of one host need a name of their own only to be found by other slices.
  if (identity->multi_host() || multislice) RETURN_IF_ERROR(decide_names(pod, *identity));
  if (identity->multi_host()) RETURN_IF_ERROR(place(pod, *identity, options));
  tpu::join_tpu_toleration(pod);
  return pod;
}

}  // namespace

Result<Json> mutate_pod(Json pod, const MutationOptions& options) {
  try {
    return mutate(std::move(pod), options);
  } catch (const Json::exception& error) {
    // A member of another type than a pod's; an API server sends none.
    return Error::invalid_argument("pod is malformed: {}", error.what());
  }
}

}  // namespace tpuslice::webhook
