// Why kube-scheduler has no node for a pod, for a placed one in the domain of its slice, as the condition PodScheduled
// of the pod says.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/types/views.h"
#include "controllers/plan/waiting_code.h"

namespace tpuslice::plan {

struct Unschedulable {
  /// Another domain would not help, or the cause will pass: a volume that is being provisioned, CPU or memory that
  /// other pods use, a preemption under way.
  bool temporary = false;
  std::string reasons;  ///< Those of the message that concern the domain's nodes, without numbers.
  WaitingCode code =
      WaitingCode::kNotScheduled;  ///< For a pod that is not placed, whether nodes are missing or in use.
};

/// `pod.unschedulable` is not empty.
[[nodiscard]] Unschedulable read_unschedulable(const PodView& pod);

/// What is known of a pod that could have a node since `since`, where kube-scheduler reports no nodes that lack
/// something: it does not try a pod whose resource claims do not exist, and reports nothing then.
[[nodiscard]] std::string explain_silence(const PodView& pod, Timestamp since);

}  // namespace tpuslice::plan
