// Rules for groups and subgroups of a LeaderWorkerSet that are TPU slices.
#include <algorithm>

#include <fmt/format.h>

#include "controllers/leaderworkerset/rules/validator_parts.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/pod_request.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

std::string node_selector_path(std::string_view pod_path, std::string_view label) {
  return fmt::format("{}.spec.nodeSelector[{}]", pod_path, label);
}

/// Chips of each TPU container: "2 + 2".
std::string chips_of(const Json& pod) {
  std::string text;
  const auto containers = tpu::tpu_containers(*find_set(pod, {"spec"}));
  if (!containers) return text;
  for (const tpu::TpuContainer& container : *containers) {
    text += fmt::format("{}{}", text.empty() ? "" : " + ", container.chips);
  }
  return text;
}

/// Whether TPU hosts of the group have an accelerator that is not in the catalog, so that they cannot be checked.
bool has_unknown_accelerator(const TpuGroup& group) {
  const auto is_unknown = [](const Json* pod) { return pod != nullptr && !tpu::unknown_accelerator(*pod).empty(); };
  return is_unknown(group.shape.worker) || (group.leader_has_tpus && is_unknown(group.shape.leader));
}

/// Leader and workers of one slice must be equal hosts. Single-host slices may differ.
void check_same_hosts(const TpuGroup& group, FieldErrors& errors) {
  const Json& leader = *group.shape.leader;
  const Json& worker = *group.shape.worker;
  if (tpu::selected_hosts(leader) == 1 && tpu::selected_hosts(worker) == 1) return;
  const auto refuse = [&](std::string path, const std::string& ours, const std::string& theirs) {
    errors.push_back(invalid_value(std::move(path), ours,
                                   fmt::format("the workers have {}; leader and workers are hosts of one slice and "
                                               "must name the same",
                                               theirs.empty() ? "none" : theirs),
                                   kGkeRule));
  };
  if (selects_tpu_nodes(leader) && selects_tpu_nodes(worker)) {
    for (const std::string_view label : {tpu::kAcceleratorLabel, tpu::kTopologyLabel}) {
      const std::string ours = tpu::node_label(leader, label);
      const std::string theirs = tpu::node_label(worker, label);
      if (!ours.empty() && !theirs.empty() && ours != theirs) {
        refuse(node_selector_path(kLwsLeaderPath, label), ours, theirs);
      }
    }
    const std::string ours = string_at(leader, {"metadata", "annotations", tpu::kSliceTopologyAnnotation});
    const std::string theirs = string_at(worker, {"metadata", "annotations", tpu::kSliceTopologyAnnotation});
    if (ours != theirs) {
      refuse(fmt::format("{}.metadata.annotations[{}]", kLwsLeaderPath, tpu::kSliceTopologyAnnotation), ours, theirs);
    }
  }
  const std::string ours = chips_of(leader);
  const std::string theirs = chips_of(worker);
  if (ours.empty() || theirs.empty() || ours == theirs) return;
  errors.push_back(invalid_value(fmt::format("{}.spec.containers", kLwsLeaderPath), ours,
                                 fmt::format("chips, but the workers request {}; leader and workers are hosts of one "
                                             "slice and must request the same number",
                                             theirs),
                                 kGkeRule));
}

/// Advice for groups whose `pods` pods with TPUs are several slices of `hosts` hosts: " and replicas: 2, ...".
std::string split_advice(std::int64_t pods, int hosts, int replicas) {
  if (pods <= hosts || pods % hosts != 0) return {};
  return fmt::format(" and replicas: {}, each group is a slice, or subGroupSize: {}",
                     std::max(replicas, 1) * (pods / hosts), hosts);
}

/// Advice for slices of `hosts` hosts without subgroup.
std::string size_advice(const TpuGroup& group, std::int64_t pods, int hosts, int replicas) {
  const std::string split = split_advice(pods, hosts, replicas);
  if (!group.leader_has_tpus) {
    return fmt::format("set size: {} ({} hosts and a leader without TPUs){}", hosts + 1, hosts, split);
  }
  if (group.workers_have_tpus) return fmt::format("set size: {}{}", hosts, split);
  return fmt::format("only the leader requests google.com/tpu: add it to the workers and set size: {}", hosts);
}

/// Advice for slices of `hosts` hosts with subgroup.
std::string subgroup_advice(const TpuGroup& group, const LwsSlices& slices, int hosts) {
  const bool with_leader = group.leader_has_tpus && group.shape.includes_leader();
  if (with_leader && !group.workers_have_tpus) {
    return "only the leader requests google.com/tpu: add it to the workers, or use a topology of one host";
  }
  const std::int64_t others = with_leader ? 0 : 1;
  const std::int64_t left = (group.shape.size - others) % hosts;
  if (left == 0 && group.shape.size > others) return fmt::format("set subGroupSize: {}", hosts);
  return fmt::format("set subGroupSize: {} and size: {} ({} of {} hosts{})", hosts, slices.count * hosts + others,
                     slices.count == 1 ? "a subgroup" : fmt::format("{} subgroups", slices.count), hosts,
                     with_leader ? "" : ", and a leader");
}

/// Subgroups of a group are slices of one topology, so they must have equal numbers of hosts.
void check_even(const TpuGroup& group, const LwsSlices& slices, FieldErrors& errors) {
  const std::int64_t subgroup = group.shape.subgroups->size;
  const std::string advice = group.leader_has_tpus
                                 ? fmt::format("set size: {} or {}, or give the leader a template without TPUs",
                                               group.shape.size - 1, group.shape.size - 1 + subgroup)
                                 : fmt::format("set size: {} or {} (including a leader without TPUs)",
                                               group.shape.size + 1 - subgroup, group.shape.size + 1);
  errors.push_back(
      invalid_value(std::string(kLwsSubgroupPath), subgroup,
                    fmt::format("of {} pods in a group, the first subgroup has {} with TPUs and the others "
                                "{}; each is a slice of the same topology, {}",
                                group.shape.size, slices.first, slices.others, advice),
                    kOurRule));
}

/// Hosts of the slice or slices with workers.
HostsField member_hosts(const TpuGroup& group, const LwsSlices& slices, int replicas) {
  HostsField hosts;
  hosts.many_single_hosts = true;
  if (!group.shape.subgroups) {
    hosts.path = kLwsSizePath;
    hosts.found = group.shape.size;
    hosts.pods = slices.pods();
    hosts.advice = [&group, replicas, pods = hosts.pods](int count) {
      return size_advice(group, pods, count, replicas);
    };
  } else {
    hosts.path = kLwsSubgroupPath;
    hosts.found = group.shape.subgroups->size;
    hosts.pods = slices.uneven() ? group.shape.subgroups->size : slices.pods();  // The intended number.
    hosts.advice = [&group, slices](int count) { return subgroup_advice(group, slices, count); };
  }
  return hosts;
}

/// A leader outside all subgroups is a slice of its own.
HostsField lone_leader_hosts(const TpuGroup& group) {
  HostsField hosts;
  hosts.path = "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType";
  hosts.found = "LeaderExcluded";
  hosts.advice = [&group](int) {
    return group.shape.has_leader_template()
               ? "and the leader is in no subgroup: remove google.com/tpu from it, or set LeaderWorker"
               : "and the leader is in no subgroup: add a leaderTemplate without google.com/tpu, or set LeaderWorker";
  };
  return hosts;
}

}  // namespace

void check_lws_slices(const LeaderWorkerSetSpec& spec, FieldErrors& errors) {
  const GroupTemplate& shape = spec.group;
  const TpuGroup group(shape);
  if (!group.leader_has_tpus && !group.workers_have_tpus) return;
  const LwsSlices slices = shape.valid ? lws_slices(group) : LwsSlices();
  const HostsField members = member_hosts(group, slices, spec.replicas);
  FieldErrorSet seen;  // Leader and workers may have the same template.
  FieldErrors found([&](FieldError&& error) {
    if (!shape.valid && error.path == members.path) return;  // The number of hosts is unknown.
    if (seen.insert(error)) errors.push_back(std::move(error));
  });
  const bool unknown = has_unknown_accelerator(group);
  const bool together = !unknown && group.leader_has_tpus && group.workers_have_tpus && shape.has_leader_template() &&
                        shape.includes_leader();
  if (together) check_same_hosts(group, found);
  const bool differ = !found.empty();
  if (group.leader_has_tpus) {
    const HostsField hosts = shape.includes_leader() ? members : lone_leader_hosts(group);
    FieldErrors of_leader([&](FieldError&& error) {
      // The error for the workers advises on the size.
      if (!differ || error.path != hosts.path) found.push_back(std::move(error));
    });
    check_tpu_pod(*shape.leader, std::string(lws_leader_path(shape)), hosts, of_leader);
  }
  if (group.workers_have_tpus) check_tpu_pod(*shape.worker, std::string(kLwsWorkerPath), members, found);
  const Json& member = group.workers_have_tpus ? *shape.worker : *shape.leader;
  if (!unknown && slices.uneven() && tpu::selected_hosts(member) != 1) check_even(group, slices, found);
}

}  // namespace tpuslice::rules
