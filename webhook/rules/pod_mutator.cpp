#include "webhook/rules/pod_mutator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tpu/device_env.h"
#include "tpu/identity.h"
#include "tpu/labels.h"
#include "tpu/lws_group.h"
#include "tpu/placement.h"
#include "tpu/slice_shape.h"
#include "tpu/worker_env.h"
#include "webhook/rules/leaderworkerset/group_member.h"
#include "webhook/rules/pod_draft.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {
namespace {

using tpu::SliceIdentity;

constexpr std::string_view kDerived = "it is derived from the pod's controller and indexes";

/// Sets a field that only we may decide. A value of the user's that disagrees cannot be honoured: the other hosts of
/// the slice would look for this one under our name.
Status decide(Json& field, const std::string& value, std::string_view path, std::string_view why) {
  const bool unset = field.is_null() || (field.is_string() && field.get_ref<const std::string&>().empty());
  if (!unset && field != value) {
    return Error::invalid_argument("{}: Invalid value: {}: must be unset or \"{}\": {}", path,
                                   field.dump(-1, ' ', false, Json::error_handler_t::replace), value, why);
  }
  field = value;
  return {};
}

/// Adds the variables of the containers of one list that run at the same time; true if one of them takes part in a
/// multislice job.
bool join_environment(PodDraft& pod, std::string_view list, const SliceIdentity& identity,
                      const std::vector<tpu::TpuContainer>& processes) {
  const std::vector<int> ports = tpu::process_ports(identity, array_at(pod.json, {"spec", list}), processes);
  bool any_multislice = false;
  for (std::size_t index = 0; index < processes.size(); ++index) {
    Json& env = pod.env(list, processes[index].position);
    const bool multislice = tpu::wants_multislice(identity.slices, env);
    any_multislice = any_multislice || multislice;
    env = tpu::join_env(std::move(env), tpu::worker_env(identity, index, ports, multislice), index);
  }
  return any_multislice;
}

/// Whether the user took the environment into their own hands.
bool leaves_environment_to_user(const Json& pod, const SliceIdentity& identity) {
  if (identity.workload != tpu::Workload::kLeaderWorkerSet) return false;
  const bool init = identity.containers.empty();
  const std::size_t first = (init ? identity.init_containers : identity.containers).front().position;
  const Json& container = pod["spec"][init ? "initContainers" : "containers"][first];
  return container.contains("env") && tpu::declares_identity(container["env"]);
}

bool join_environments(PodDraft& pod, const SliceIdentity& identity) {
  if (leaves_environment_to_user(pod.json, identity)) return false;
  // Init containers run one after the other: each is the only process of its host.
  for (const tpu::TpuContainer& container : identity.init_containers) {
    join_environment(pod, "initContainers", identity, {container});
  }
  return join_environment(pod, "containers", identity, identity.containers);
}

/// Only a RayCluster's pods have no names of their controller's.
Status decide_names(PodDraft& pod, const SliceIdentity& identity) {
  if (identity.workload != tpu::Workload::kRay) return {};
  constexpr std::string_view kWhy = "the other hosts of the slice find this one by that name";
  RETURN_IF_ERROR(decide(pod.spec("hostname"), identity.host_names.of(identity.host_index), "spec.hostname", kWhy));
  return decide(pod.spec("subdomain"), identity.subdomain, "spec.subdomain", kWhy);
}

/// The annotations by which the slice controller knows the pod's place; what it writes itself does not come with a pod.
Status annotate(PodDraft& pod, const SliceIdentity& identity, const std::string& topology_key) {
  Json& annotations = pod.annotations();
  const auto set = [&](std::string_view name, const std::string& value) {
    return decide(annotations[std::string(name)], value, fmt::format("metadata.annotations[{}]", name), kDerived);
  };
  RETURN_IF_ERROR(set(tpu::kSliceHosts, std::to_string(identity.hosts)));
  RETURN_IF_ERROR(set(tpu::kSliceHost, std::to_string(identity.host_index)));
  RETURN_IF_ERROR(set(tpu::kTopologyKey, topology_key));
  if (!identity.start.empty()) RETURN_IF_ERROR(set(tpu::kSliceStart, std::string(identity.start)));
  if (annotations.contains(tpu::kGangSlices)) RETURN_IF_ERROR(set(tpu::kSliceGang, tpu::gang_key(identity)));
  for (const std::string_view name :
       {tpu::kSliceMembers, tpu::kPlacedAt, tpu::kPlacedIn, tpu::kPlacedOn, tpu::kWaiting}) {
    annotations.erase(std::string(name));
  }
  return {};
}

/// Holds the pod back until its whole slice has nodes.
Status join_gate(PodDraft& pod, const SliceIdentity& identity) {
  const std::string gating = string_at(pod.json, {"metadata", "annotations", tpu::kGating});
  if (!gating.empty() && gating != "on" && gating != "off") {
    return Error::invalid_argument("metadata.annotations[{}]: Invalid value: \"{}\": must be \"on\" or \"off\"",
                                   tpu::kGating, gating);
  }
  // Without an accelerator nobody knows which nodes to wait for; chips of init containers alone make no lasting claim
  // to nodes; a pod with a node waits for none.
  if (gating == "off" || identity.accelerator == nullptr || identity.containers.empty()) return {};
  if (!string_at(pod.json, {"spec", "nodeName"}).empty()) return {};
  Json& gates = pod.spec("schedulingGates");
  const Json gate = {{"name", tpu::kSliceGate}};
  if (gates.is_null()) gates = Json::array();
  if (std::find(gates.begin(), gates.end(), gate) == gates.end()) gates.push_back(gate);
  return {};
}

Status mark(PodDraft& pod, const std::string& slice) {
  return decide(pod.metadata("labels", tpu::kSlice), slice, fmt::format("metadata.labels[{}]", tpu::kSlice), kDerived);
}

Status place(PodDraft& pod, const SliceIdentity& identity, const MutationOptions& options) {
  const std::string key = tpu::slice_key(identity);
  std::string topology_key = string_at(pod.json, {"metadata", "annotations", tpu::kTopologyKey});
  if (topology_key.empty()) topology_key = identity.topology_key;
  if (topology_key.empty()) topology_key = options.topology_key;
  RETURN_IF_ERROR(mark(pod, key));
  RETURN_IF_ERROR(annotate(pod, identity, topology_key));
  if (!identity.multi_host()) return {};
  tpu::join_slice_affinity(pod.spec("affinity"), key, topology_key);
  return options.gate ? join_gate(pod, identity) : Status();
}

Status join_slice(PodDraft& pod, const SliceIdentity& identity, const MutationOptions& options) {
  const bool multislice = join_environments(pod, identity);
  // Slices of one host need a name of their own only to be found by other slices.
  if (identity.multi_host() || multislice) RETURN_IF_ERROR(decide_names(pod, identity));
  RETURN_IF_ERROR(place(pod, identity, options));
  if (!tpu::tolerates_tpu(pod.json)) tpu::add_tpu_toleration(pod.spec("tolerations"));
  return {};
}

/// Chips of the node that a pod with so many is on: all of them, unless its generation splits hosts.
std::int64_t node_chips(const Json& pod, std::int64_t pod_chips) {
  const auto shape = tpu::selected_shape(pod);
  if (!shape || !*shape || !(*shape)->accelerator->splits_hosts()) return pod_chips;
  return tpu::default_chips_per_host(*(*shape)->accelerator, (*shape)->topology);
}

/// Labels that say nothing, or what no device plugin knows, add nothing.
void join_device_env(PodDraft& draft) {
  const Json& pod = draft.json;
  const auto containers = tpu::tpu_containers(pod["spec"]);
  if (!containers) return;
  const std::string accelerator = string_at(pod, {"spec", "nodeSelector", tpu::kAcceleratorLabel});
  const std::string topology = string_at(pod, {"spec", "nodeSelector", tpu::kTopologyLabel});
  const std::string annotation = string_at(pod, {"metadata", "annotations", tpu::kSliceTopologyAnnotation});
  const std::string resiliency = string_at(pod, {"spec", "nodeSelector", tpu::kIciResiliencyLabel});
  const std::int64_t chips = node_chips(pod, tpu::total_chips(*containers));
  for (std::size_t index = 0; index < containers->size(); ++index) {
    const auto added =
        tpu::device_env({accelerator, topology, annotation, resiliency, chips, (*containers)[index].chips});
    if (!added) continue;
    Json& env = draft.env("containers", (*containers)[index].position);
    env = tpu::join_env(std::move(env), *added, index);
  }
}

/// As every pod that an API server sends: there is a metadata to put a label into.
bool has_name(const Json& pod) {
  return find_path(pod, {"metadata", "name"}) != nullptr || find_path(pod, {"metadata", "generateName"}) != nullptr;
}

Status change(PodDraft& pod, const MutationOptions& options) {
  std::optional<tpu::LwsGroup> group;
  if (options.leader_worker_sets) {
    ASSIGN_OR_RETURN(group, tpu::read_lws_group(pod.json));
  }
  if (group) number_member(pod, *group);
  ASSIGN_OR_RETURN(std::optional<SliceIdentity> identity, tpu::identify_worker(pod.json));
  if (identity) {
    if (group) identity->start = member_start(pod.json, *identity);
    RETURN_IF_ERROR(join_slice(pod, *identity, options));
  } else if (has_name(pod.json) && asks_for_tpus(pod.json)) {
    RETURN_IF_ERROR(mark(pod, std::string(tpu::kNoSlice)));  // It takes chips that no slice can have.
  }
  if (group) place_member(pod, *group, identity && identity->multi_host(), options.topology_key);
  if (options.device_env && pod.json.contains("spec")) join_device_env(pod);
  if (group) tell_member(pod, *group);  // Last, as its variables come first.
  return {};
}

Status change_well_formed(PodDraft& pod, const MutationOptions& options) {
  try {
    return change(pod, options);
  } catch (const Json::exception& error) {
    // A member of another type than a pod's; an API server sends none.
    return Error::invalid_argument("pod is malformed: {}", error.what());
  }
}

}  // namespace

Result<Json> mutate_pod(Json pod, const MutationOptions& options) {
  PodDraft draft{pod, {}};
  RETURN_IF_ERROR(change_well_formed(draft, options));
  return pod;
}

Result<Json> patch_pod(Json& pod, const MutationOptions& options) {
  PodDraft draft{pod, {}};
  RETURN_IF_ERROR(change_well_formed(draft, options));
  return draft.changes.patch();
}

std::vector<std::string> warn_pod(const Json& pod) {
  std::vector<std::string> warnings;
  const int hosts = tpu::selected_hosts(pod).value_or(1);
  if (hosts == 1) return warnings;
  const auto identity = tpu::identify_worker(pod);
  if (identity && !*identity) {
    const bool ray = !string_at(pod, {"metadata", "labels", tpu::kRayCluster}).empty();
    warnings.push_back(fmt::format(
        "this pod asks for one of {} hosts of a slice, but nothing says which: it gets no TPU_WORKER_ID. {}", hosts,
        ray ? "Turn on KubeRay's feature gate RayMultiHostIndexing"
            : "Use a RayCluster, JobSet or LeaderWorkerSet, or an Indexed Job or StatefulSet with a headless service"));
  }
  if (lacks_cluster_dns(pod)) {
    warnings.emplace_back(
        "spec.dnsPolicy: with hostNetwork the hosts of a slice find each other only with ClusterFirstWithHostNet");
  }
  return warnings;
}

}  // namespace tpuslice::webhook
