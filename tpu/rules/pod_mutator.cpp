#include "tpu/rules/pod_mutator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "tpu/device_env.h"
#include "tpu/identity.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/placement.h"
#include "tpu/rules/pod_draft.h"
#include "tpu/rules/pod_facts.h"
#include "tpu/rules/pod_warnings.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/rules/workload_kinds.h"
#include "tpu/slice_shape.h"
#include "tpu/topology_key.h"
#include "tpu/worker_env.h"
#include "tpu/workload_ref.h"

namespace tpuslice::rules {
namespace {

using tpu::SliceIdentity;

constexpr std::size_t kMaxShownText = 128;  // Bytes of the pod, in messages.

/// Bytes of what a TPU container gets besides the two lists: some 20 short variables with names of DNS.
constexpr std::int64_t kOtherVariables = 4096;

constexpr std::string_view kDerived = "it is derived from the pod's controller and indexes";

/// Sets a field, or rejects the pod if the user set another value: the other hosts of the slice rely on ours.
Status set_or_reject(Json& field, const std::string& value, std::string_view path, std::string_view why) {
  const bool unset = field.is_null() || (field.is_string() && field.get_ref<const std::string&>().empty());
  if (!unset && field != value) {
    return Error::invalid_argument("{}: Invalid value: {}: must be unset or \"{}\": {}", path,
                                   clip(field.dump(-1, ' ', false, Json::error_handler_t::replace), kMaxShownText),
                                   clip(value, kMaxShownText), why);
  }
  field = value;
  return {};
}

/// Whether the environment of these containers may be built.
Status take_env(EnvBudget& budget, std::string_view list, const SliceIdentity& identity,
                const std::vector<int>& ports) {
  const tpu::ListSizes sizes = tpu::list_sizes(identity, ports);
  const std::size_t containers = ports.size();
  const std::int64_t hosts = identity.hosts;
  const std::int64_t processes = hosts * static_cast<std::int64_t>(containers);
  RETURN_IF_ERROR(budget.take({list, "TPU_WORKER_HOSTNAMES", sizes.hostnames, containers, processes, hosts}));
  RETURN_IF_ERROR(budget.take({list, "TPU_PROCESS_ADDRESSES", sizes.addresses, containers, processes, hosts}));
  return budget.take({list, "the other TPU variables", kOtherVariables, containers});
}

/// Injects the environment of the containers of one list that run at the same time; true if one of them takes part in a
/// multislice job.
Result<bool> inject_env(PodDraft& pod, std::string_view list, const SliceIdentity& identity,
                        const std::vector<tpu::TpuContainer>& processes) {
  const std::vector<int> ports = tpu::process_ports(identity, array_at(pod.json, {"spec", list}), processes);
  RETURN_IF_ERROR(take_env(pod.budget, list, identity, ports));
  bool any_multislice = false;
  for (std::size_t index = 0; index < processes.size(); ++index) {
    Json& env = pod.env(list, processes[index].position);
    const bool multislice = tpu::wants_multislice(identity.slices, env);
    any_multislice = any_multislice || multislice;
    env = tpu::merge_env(std::move(env), tpu::worker_env(identity, index, ports, multislice), index);
  }
  return any_multislice;
}

bool has_user_identity(const Json& pod, const SliceIdentity& identity) {
  const bool init = identity.containers.empty();
  const std::size_t first = (init ? identity.init_containers : identity.containers).front().position;
  const Json& container = pod["spec"][init ? "initContainers" : "containers"][first];
  return container.contains("env") && tpu::declares_identity(container["env"]);
}

/// Injects the environment of all containers; true if one of them takes part in a multislice job.
Result<bool> inject_envs(PodDraft& pod, const SliceIdentity& identity) {
  if (identity.env.respects_user_identity && has_user_identity(pod.json, identity)) return false;
  // Init containers run one after the other: each is the only process of its host.
  for (const tpu::TpuContainer& container : identity.init_containers) {
    RETURN_IF_ERROR(inject_env(pod, "initContainers", identity, {container}));
  }
  return inject_env(pod, "containers", identity, identity.containers);
}

Status set_hostname(PodDraft& pod, const SliceIdentity& identity) {
  if (!identity.sets_hostname) return {};
  constexpr std::string_view kWhy = "the other hosts of the slice find this one by that name";
  RETURN_IF_ERROR(
      set_or_reject(pod.spec("hostname"), identity.host_names.of(identity.host_index), "spec.hostname", kWhy));
  return set_or_reject(pod.spec("subdomain"), identity.subdomain, "spec.subdomain", kWhy);
}

/// The gang that the slice starts with, and its number of slices; empty if it starts alone.
std::pair<std::string, std::string> gang_of(const Json& pod, const SliceIdentity& identity, bool multislice) {
  const int wanted = parse_count(string_at(pod, {"metadata", "annotations", tpu::kGangSlices})).value_or(0);
  if (wanted == 1) return {};
  if (wanted > 1) {
    const std::string name = string_at(pod, {"metadata", "annotations", tpu::kGang});
    return {name.empty() ? tpu::gang_key(identity) : fmt::format("named/{}", name), std::to_string(wanted)};
  }
  // How many slices there will be is known only where the workload says so: a user may start them with other groups.
  if (!multislice || !identity.multi_host() || identity.slices < 2) return {};
  return {tpu::gang_key(identity), std::to_string(identity.slices)};
}

/// Sets the annotations that the slice controllers read; removes those that they write.
Status annotate(PodDraft& pod, const SliceIdentity& identity, const std::string& topology_key, bool multislice) {
  Json& annotations = pod.annotations();
  const auto set = [&](std::string_view name, const std::string& value) {
    return set_or_reject(annotations[std::string(name)], value, fmt::format("metadata.annotations[{}]", name),
                         kDerived);
  };
  RETURN_IF_ERROR(set(tpu::kSliceHosts, std::to_string(identity.hosts)));
  RETURN_IF_ERROR(set(tpu::kSliceHost, std::to_string(identity.host_index)));
  RETURN_IF_ERROR(set(tpu::kTopologyKey, topology_key));
  if (!identity.start.empty()) RETURN_IF_ERROR(set(tpu::kSliceStart, std::string(identity.start)));
  if (const auto [gang, slices] = gang_of(pod.json, identity, multislice); !gang.empty()) {
    annotations[std::string(tpu::kGangSlices)] = slices;
    RETURN_IF_ERROR(set(tpu::kSliceGang, gang));
  }
  for (const std::string_view name :
       {tpu::kSliceMembers, tpu::kPlacedAt, tpu::kPlacedIn, tpu::kPlacedOn, tpu::kQueuedSince, tpu::kWaiting,
        tpu::kWaitingReason, tpu::kRemovedHosts, tpu::kNodeNotReady}) {
    annotations.erase(std::string(name));
  }
  return {};
}

/// Whether something else decides when and where the pod starts: another scheduler, or the gang scheduling of
/// kube-scheduler (workloadRef in Kubernetes 1.35).
bool has_other_scheduling(const Json& pod) {
  const std::string scheduler = string_at(pod, {"spec", "schedulerName"});
  return (!scheduler.empty() && scheduler != "default-scheduler") ||
         find_set(pod, {"spec", "schedulingGroup"}) != nullptr || find_set(pod, {"spec", "workloadRef"}) != nullptr;
}

Status add_gate(PodDraft& pod, const SliceIdentity& identity) {
  const std::string gating = string_at(pod.json, {"metadata", "annotations", tpu::kGating});
  if (!gating.empty() && gating != "on" && gating != "off") {
    return Error::invalid_argument("metadata.annotations[{}]: Invalid value: \"{}\": must be \"on\" or \"off\"",
                                   tpu::kGating, clip(gating, kMaxShownText));
  }
  // Without an accelerator the nodes to wait for are unknown; init containers alone do not occupy a node; a bound pod
  // waits for no node.
  if (gating == "off" || identity.accelerator == nullptr || identity.containers.empty()) return {};
  if (!string_at(pod.json, {"spec", "nodeName"}).empty() || has_other_scheduling(pod.json)) return {};
  Json& gates = pod.spec("schedulingGates");
  const Json gate = {{"name", tpu::kSliceGate}};
  if (gates.is_null()) gates = Json::array();
  if (std::find(gates.begin(), gates.end(), gate) == gates.end()) gates.push_back(gate);
  return {};
}

Status set_slice_label(PodDraft& pod, const std::string& slice) {
  return set_or_reject(pod.metadata("labels", tpu::kSlice), slice, fmt::format("metadata.labels[{}]", tpu::kSlice),
                       kDerived);
}

Status check_topology_key(const std::string& key, const MutationOptions& options) {
  if (options.topology_keys.empty() || key == options.topology_key || options.topology_keys.contains(key)) return {};
  if (tpu::is_gke_topology_key(key)) return {};
  return Error::invalid_argument(
      "metadata.annotations[{}]: Unsupported value: \"{}\": supported values: \"{}\", and GKE's labels of dynamic "
      "slices and sub-slices; the exclusive-topology annotation of a JobSet or LeaderWorkerSet sets it, too; an "
      "administrator adds keys with --topology-keys",
      tpu::kTopologyKey, clip(key, kMaxShownText), fmt::join(options.topology_keys, "\", \""));
}

std::string topology_key_of(const Json& pod, const SliceIdentity& identity, const MutationOptions& options) {
  std::string key = string_at(pod, {"metadata", "annotations", tpu::kTopologyKey});
  if (key.empty()) key = identity.topology_key;
  if (key.empty()) key = tpu::gke_topology_key(pod);
  return key.empty() ? options.topology_key : key;
}

/// Pods of an accelerator that is not in the catalog (LeaderWorkerSet) get affinities only if a topology key is named:
/// whether their slices are values of the default key is unknown.
bool needs_affinity(const Json& pod, const SliceIdentity& identity, bool is_default_key) {
  if (!identity.multi_host()) return false;
  return tpu::unknown_accelerator(pod).empty() || !identity.topology_key.empty() || !is_default_key;
}

Status add_placement(PodDraft& pod, const SliceIdentity& identity, bool multislice, const MutationOptions& options) {
  const std::string key = tpu::slice_key(identity);
  const std::string topology_key = topology_key_of(pod.json, identity, options);
  if (identity.multi_host()) RETURN_IF_ERROR(check_topology_key(topology_key, options));
  RETURN_IF_ERROR(set_slice_label(pod, key));
  if (identity.host_index == 0) {
    pod.metadata("labels", tpu::kHost) = tpu::kHost0;
  } else {
    pod.erase_label(tpu::kHost);
  }
  RETURN_IF_ERROR(annotate(pod, identity, topology_key, multislice));
  if (!needs_affinity(pod.json, identity, topology_key == options.topology_key)) return {};
  tpu::add_slice_affinity(pod.spec("affinity"), key, topology_key);
  return options.gate ? add_gate(pod, identity) : Status();
}

/// Adds to the node selector what the required node affinity demands anyway: the slice controllers find the
/// accelerator there.
void select_nodes(PodDraft& pod) {
  for (const std::string_view label : {tpu::kAcceleratorLabel, tpu::kTopologyLabel}) {
    if (!string_at(pod.json, {"spec", "nodeSelector", label}).empty()) continue;
    const std::string value = tpu::node_label(pod.json, label);
    if (!value.empty()) pod.spec("nodeSelector")[std::string(label)] = value;
  }
}

/// All that the pod needs as a host of its slice.
Status add_to_slice(PodDraft& pod, const SliceIdentity& identity, const MutationOptions& options) {
  select_nodes(pod);
  ASSIGN_OR_RETURN(const bool multislice, inject_envs(pod, identity));
  // Single-host slices need a hostname only within a multislice job.
  if (identity.multi_host() || multislice) RETURN_IF_ERROR(set_hostname(pod, identity));
  RETURN_IF_ERROR(add_placement(pod, identity, multislice, options));
  if (!tpu::tolerates_tpu(pod.json)) tpu::add_tpu_toleration(pod.spec("tolerations"));
  return {};
}

/// Chips of the pod's node: the pod has all of them, unless its generation splits hosts.
std::int64_t node_chips(const Json& pod, std::int64_t pod_chips) {
  const auto shape = tpu::selected_shape(pod);
  if (!shape || !*shape || !(*shape)->accelerator->splits_hosts()) return pod_chips;
  return tpu::default_chips_per_host(*(*shape)->accelerator, (*shape)->topology);
}

/// Nothing is injected for labels that are missing or unknown to the device plugin.
void inject_device_env(PodDraft& draft, const std::vector<tpu::TpuContainer>& containers) {
  if (containers.empty()) return;
  const Json& pod = draft.json;
  const std::string accelerator = tpu::node_label(pod, tpu::kAcceleratorLabel);
  const std::string topology = tpu::node_label(pod, tpu::kTopologyLabel);
  const std::string annotation = string_at(pod, {"metadata", "annotations", tpu::kSliceTopologyAnnotation});
  const std::string resiliency = string_at(pod, {"spec", "nodeSelector", tpu::kIciResiliencyLabel});
  const std::int64_t chips = node_chips(pod, tpu::total_chips(containers));
  for (std::size_t index = 0; index < containers.size(); ++index) {
    const auto added = tpu::device_env({accelerator, topology, annotation, resiliency, chips, containers[index].chips});
    if (!added) continue;
    Json& env = draft.env("containers", containers[index].position);
    env = tpu::merge_env(std::move(env), *added, index);
  }
}

/// Every pod that an API server sends has one.
bool has_name(const Json& pod) {
  return find_path(pod, {"metadata", "name"}) != nullptr || find_path(pod, {"metadata", "generateName"}) != nullptr;
}

/// Whether its chips are not available to slices: a container asks for them, or an init container.
bool occupies_tpus(const Json& pod, const PodFacts& facts) {
  return facts.asks_for_tpus || init_containers_ask_for_tpus(pod);
}

/// Names the workload for the slice controllers, unless it is the pod's controller.
Status set_workload(PodDraft& pod, const WorkloadKind& kind) {
  const std::optional<tpu::WorkloadRef> workload = workload_beyond_controller(pod.json, kind);
  Json& annotations = pod.annotations();
  const auto set = [&](std::string_view name, const std::string& value) -> Status {
    if (!value.empty()) {
      return set_or_reject(annotations[std::string(name)], value, fmt::format("metadata.annotations[{}]", name),
                           kDerived);
    }
    annotations.erase(std::string(name));
    return {};
  };
  RETURN_IF_ERROR(set(tpu::kWorkload, workload ? tpu::to_string(*workload) : ""));
  return set(tpu::kWorkloadUid, workload ? workload->uid : "");
}

/// The facts of the mutated pod are the same.
Result<PodFacts> mutate(PodDraft& pod, const MutationOptions& options) {
  const WorkloadKind* kind = kind_of_pod(pod.json, options.kinds);
  const bool served = kind != nullptr && options.served_kinds.contains(kind->kind);
  const PodSteps* steps = served ? kind->steps : nullptr;
  if (steps != nullptr) RETURN_IF_ERROR(steps->prepare(pod));
  ASSIGN_OR_RETURN(PodFacts facts, read_pod_facts(pod.json, kind));
  std::optional<SliceIdentity>& identity = facts.identity;
  if (identity) {
    if (steps != nullptr) steps->adjust(pod.json, *identity);
    RETURN_IF_ERROR(add_to_slice(pod, *identity, options));
    RETURN_IF_ERROR(set_workload(pod, *kind));
  } else if (has_name(pod.json) && occupies_tpus(pod.json, facts)) {
    // Its chips are not available to slices.
    RETURN_IF_ERROR(set_slice_label(pod, std::string(tpu::kNoSlice)));
  }
  if (options.device_env) inject_device_env(pod, facts.tpu_containers);
  if (steps != nullptr) RETURN_IF_ERROR(steps->complete(pod, identity ? &*identity : nullptr, options));
  return facts;
}

std::vector<std::string> pod_warnings(const Json& pod, const PodFacts& facts) {
  if (!facts.asks_for_tpus) return {};
  std::vector<std::string> warnings = warn_unknown_accelerator_of_pod(pod);
  for (std::string& warning : warn_invalid_annotations_of_pod(pod)) warnings.push_back(std::move(warning));
  const int hosts = tpu::selected_hosts(pod, facts.tpu_containers).value_or(1);
  if (hosts == 1) return warnings;
  if (!facts.identity) {
    const WorkloadKind* kind = facts.kind;
    warnings.push_back(
        fmt::format("this pod asks for one of {} hosts of a slice, but has no index: it gets no TPU_WORKER_ID. {}",
                    hosts, kind != nullptr && !kind->indexes_missing.empty() ? kind->indexes_missing : kNumberedKinds));
  }
  if (lacks_cluster_dns(pod)) {
    warnings.emplace_back(
        "spec.dnsPolicy: with hostNetwork the hosts of a slice find each other only with ClusterFirstWithHostNet");
  }
  return warnings;
}

Result<PodFacts> mutate_well_formed(PodDraft& pod, const MutationOptions& options) {
  try {
    return mutate(pod, options);
  } catch (const Json::exception& error) {
    // A field has a JSON type that the API server would have refused.
    return Error::invalid_argument("pod is malformed: {}", error.what());
  }
}

}  // namespace

Result<Json> mutate_pod(Json pod, const MutationOptions& options) {
  PodDraft draft{pod, {}};
  RETURN_IF_ERROR(mutate_well_formed(draft, options));
  return pod;
}

Result<PodReview> review_pod(Json& pod, const MutationOptions& options) {
  PodDraft draft{pod, {}};
  ASSIGN_OR_RETURN(const PodFacts facts, mutate_well_formed(draft, options));
  return PodReview{draft.changes.patch(), pod_warnings(pod, facts)};
}

}  // namespace tpuslice::rules
