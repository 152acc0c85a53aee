// Why kube-scheduler cannot place a pod in the domain of its slice, as the condition PodScheduled of the pod says.
#pragma once

#include <string>

#include "api/types/views.h"

namespace tpuslice::slice {

struct Unschedulable {
  /// Another domain would not help, or the cause will pass: a volume that is being provisioned, CPU or memory that
  /// other pods use, a preemption under way.
  bool temporary = false;
  std::string reasons;  ///< Those of the message that concern the domain's nodes, without numbers.
};

/// `pod.unschedulable` is not empty.
[[nodiscard]] Unschedulable read_unschedulable(const PodView& pod);

}  // namespace tpuslice::slice
