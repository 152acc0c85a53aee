// Groups and subgroups of a LeaderWorkerSet as TPU slices.
#include <algorithm>

#include <fmt/format.h>

#include "tpu/labels.h"
#include "tpu/pod_request.h"
#include "tpu/slice_shape.h"
#include "webhook/rules/fields.h"
#include "webhook/rules/leaderworkerset/rules.h"
#include "webhook/rules/tpu_rules.h"

namespace tpuslice::webhook {
namespace {

std::string node_selector_path(std::string_view pod_path, std::string_view label) {
  return fmt::format("{}.spec.nodeSelector[{}]", pod_path, label);
}

/// What is wrong with one template. Upstream takes the hosts from the size, so a pod may name neither accelerator nor
/// topology (warn_leaderworkerset tells that GKE will not place it); one without the other is a mistake.
std::vector<FieldError> template_errors(const Json& pod, std::string_view path, const HostsField& hosts) {
  std::vector<FieldError> errors;
  check_tpu_pod(pod, std::string(path), hosts, errors);
  if (!selects_tpu_nodes(pod)) {
    std::erase_if(errors, [&](const FieldError& error) {
      return error.path == node_selector_path(path, tpu::kAcceleratorLabel) ||
             error.path == node_selector_path(path, tpu::kTopologyLabel);
    });
  }
  return errors;
}

/// How many chips each TPU container asks for: "2 + 2".
std::string chips_of(const Json& pod) {
  std::string text;
  const auto containers = tpu::tpu_containers(*find_set(pod, {"spec"}));
  if (!containers) return text;
  for (const tpu::TpuContainer& container : *containers) {
    text += fmt::format("{}{}", text.empty() ? "" : " + ", container.chips);
  }
  return text;
}

/// Leader and workers of one slice are hosts of the same kind. Slices of one host each may differ.
void check_same_hosts(const LwsGroups& groups, std::vector<FieldError>& errors) {
  const Json& leader = *groups.leader;
  const Json& worker = *groups.worker;
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
      const std::string ours = string_at(leader, {"spec", "nodeSelector", label});
      const std::string theirs = string_at(worker, {"spec", "nodeSelector", label});
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
                                 fmt::format("chips, but the workers ask for {}; leader and workers are hosts of one "
                                             "slice and must ask for equally many chips",
                                             theirs),
                                 kGkeRule));
}

/// What to write for slices of so many hosts, where the groups have no subgroups.
std::string size_advice(const LwsGroups& groups, int hosts) {
  if (!groups.leader_has_tpus) {
    return fmt::format("set size: {} ({} hosts and a leader without TPUs)", hosts + 1, hosts);
  }
  if (groups.workers_have_tpus) return fmt::format("set size: {}", hosts);
  return fmt::format("only the leader asks for google.com/tpu: let the workers too and set size: {}", hosts);
}

/// The same with subgroups.
std::string subgroup_advice(const LwsGroups& groups, const LwsSlices& slices, int hosts) {
  const bool with_leader = groups.leader_has_tpus && groups.leader_is_member();
  if (with_leader && !groups.workers_have_tpus) {
    return "only the leader asks for google.com/tpu: let the workers too, or use a topology of one host";
  }
  const std::int64_t others = with_leader ? 0 : 1;
  const std::int64_t left = (groups.size - others) % hosts;
  if (left == 0 && groups.size > others) return fmt::format("set subGroupSize: {}", hosts);
  return fmt::format("set subGroupSize: {} and size: {} ({} of {} hosts{})", hosts, slices.count * hosts + others,
                     slices.count == 1 ? "a subgroup" : fmt::format("{} subgroups", slices.count), hosts,
                     with_leader ? "" : ", and a leader beside them");
}

/// Subgroups of a group are slices of one topology, so they are equal.
void check_even(const LwsGroups& groups, const LwsSlices& slices, std::vector<FieldError>& errors) {
  const std::int64_t subgroup = groups.subgroups->size;
  const std::string advice = groups.leader_has_tpus
                                 ? fmt::format("set size: {} or {}, or give the leader a template without TPUs",
                                               groups.size - 1, groups.size - 1 + subgroup)
                                 : fmt::format("set size: {} or {} (the leader without TPUs is one more)",
                                               groups.size + 1 - subgroup, groups.size + 1);
  errors.push_back(
      invalid_value(std::string(kLwsSubgroupPath), subgroup,
                    fmt::format("of {} pods in a group, the first subgroup has {} with TPUs and the others "
                                "{}; each is a slice of the same topology, {}",
                                groups.size, slices.first, slices.others, advice),
                    kOurRule));
}

/// Of the slice or slices that the workers are in.
HostsField member_hosts(const LwsGroups& groups, const LwsSlices& slices) {
  HostsField hosts;
  hosts.many_single_hosts = true;
  if (!groups.subgroups) {
    hosts.path = kLwsSizePath;
    hosts.found = groups.size;
    hosts.pods = slices.pods();
    hosts.advice = [&groups](int count) { return size_advice(groups, count); };
  } else {
    hosts.path = kLwsSubgroupPath;
    hosts.found = groups.subgroups->size;
    hosts.pods = slices.uneven() ? groups.subgroups->size : slices.pods();  // What was meant.
    hosts.advice = [&groups, slices](int count) { return subgroup_advice(groups, slices, count); };
  }
  return hosts;
}

/// A leader that its subgroups exclude is a slice of its own.
HostsField lone_leader_hosts(const LwsGroups& groups) {
  HostsField hosts;
  hosts.path = "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType";
  hosts.found = "LeaderExcluded";
  hosts.advice = [&groups](int) {
    return groups.leader_has_template()
               ? "and the leader is in no subgroup: let it ask for no google.com/tpu, or set LeaderWorker"
               : "and the leader is in no subgroup: add a leaderTemplate without google.com/tpu, or set LeaderWorker";
  };
  return hosts;
}

void append_new(const std::vector<FieldError>& found, std::vector<FieldError>& errors) {
  for (const FieldError& error : found) {
    if (std::find(errors.begin(), errors.end(), error) == errors.end()) errors.push_back(error);
  }
}

}  // namespace

bool selects_tpu_nodes(const Json& pod) {
  return !string_at(pod, {"spec", "nodeSelector", tpu::kAcceleratorLabel}).empty() ||
         !string_at(pod, {"spec", "nodeSelector", tpu::kTopologyLabel}).empty() ||
         !string_at(pod, {"metadata", "annotations", tpu::kSliceTopologyAnnotation}).empty();
}

void check_lws_slices(const LwsGroups& groups, std::vector<FieldError>& errors) {
  if (!groups.leader_has_tpus && !groups.workers_have_tpus) return;
  const LwsSlices slices = groups.sound ? lws_slices(groups) : LwsSlices();
  std::vector<FieldError> found;
  const bool together =
      groups.leader_has_tpus && groups.workers_have_tpus && groups.leader_has_template() && groups.leader_is_member();
  if (together) check_same_hosts(groups, found);
  const bool differ = !found.empty();
  const HostsField members = member_hosts(groups, slices);
  if (groups.leader_has_tpus) {
    const HostsField hosts = groups.leader_is_member() ? members : lone_leader_hosts(groups);
    std::vector<FieldError> of_leader = template_errors(*groups.leader, groups.leader_path(), hosts);
    // The workers tell what the size should be.
    if (differ) std::erase_if(of_leader, [&](const FieldError& error) { return error.path == hosts.path; });
    append_new(of_leader, found);
  }
  if (groups.workers_have_tpus) append_new(template_errors(*groups.worker, kLwsWorkerPath, members), found);
  const Json& member = groups.workers_have_tpus ? *groups.worker : *groups.leader;
  if (slices.uneven() && tpu::selected_hosts(member) != 1) check_even(groups, slices, found);
  if (!groups.sound) {  // Then nobody knows how many hosts there are.
    std::erase_if(found, [&](const FieldError& error) { return error.path == members.path; });
  }
  append_new(found, errors);
}

}  // namespace tpuslice::webhook
