// Labels, environment and exclusive placement of LeaderWorkerSet pods, with or without TPUs, as upstream's pod webhook
// injects them. Only if our controller serves LeaderWorkerSets.
#pragma once

#include <string_view>

#include "controllers/leaderworkerset/rules/lws_group.h"
#include "tpu/identity.h"
#include "tpu/rules/pod_draft.h"

namespace tpuslice::rules {

/// Sets the labels of group, worker and subgroup, and the subdomain of a leader if each group has a service.
void set_member_labels(PodDraft& pod, const leaderworkerset::LwsGroup& group);

/// Value of tpu::kSliceStart: when host 0 may start before the other pods exist. Our controller makes workers wait for
/// their leader only if the leader is annotated.
[[nodiscard]] std::string_view member_start(const Json& pod, const tpu::SliceIdentity& identity);

/// Adds the affinity of upstream's exclusive placement. `in_slice`: the pod is a host of a multi-host slice, which has
/// a whole domain anyway. Leaders outside such a slice follow the annotation tpu::kSliceLeader.
void set_member_placement(PodDraft& pod, const leaderworkerset::LwsGroup& group, bool in_slice,
                          std::string_view topology_key);

/// Injects LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX into every container, before all other variables, so
/// that these can refer to them. The user's values are replaced.
/// Errors: InvalidArgument naming the field if a part of the leader's address is not a DNS label, or if the pod has so
/// many containers that the variables exceed the budget of the pod.
[[nodiscard]] Status inject_member_env(PodDraft& pod, const leaderworkerset::LwsGroup& group);

}  // namespace tpuslice::rules
