// What the pods of a LeaderWorkerSet get, with TPUs or without, where our controller serves the set: the labels,
// variables and placement of upstream's own pod webhook. A pod that it has seen already stays as it is.
#pragma once

#include <string_view>

#include "tpu/identity.h"
#include "tpu/lws_group.h"
#include "webhook/rules/pod_draft.h"

namespace tpuslice::webhook {

/// Labels that tell the pod's place; its leader's own subdomain, where each group has a service.
void number_member(PodDraft& pod, const tpu::LwsGroup& group);

/// When host 0 of the slice may start before the others are there: our controller makes workers wait for their leader
/// only where its template says so.
[[nodiscard]] std::string_view member_start(const Json& pod, const tpu::SliceIdentity& identity);

/// Exclusive placement by the annotations of upstream. `in_slice`: the pod is a host of a slice of several, which has a
/// domain for itself already. A leader beside such a slice goes where tpu::kSliceLeader says.
void place_member(PodDraft& pod, const tpu::LwsGroup& group, bool in_slice, std::string_view topology_key);

/// LWS_LEADER_ADDRESS, LWS_GROUP_SIZE and LWS_WORKER_INDEX for every container, before all other variables and instead
/// of the user's, so that these can refer to them.
void tell_member(PodDraft& pod, const tpu::LwsGroup& group);

}  // namespace tpuslice::webhook
