// Drift: what somebody changed of a StatefulSet that is ours, and how to put it back.
#pragma once

#include "api/types/views.h"

namespace tpuslice::leaderworkerset {

enum class PodTemplate : std::uint8_t {
  kReplaced,   ///< It is to say what is wanted and no more; pods are made anew.
  kLeftAlone,  ///< A change of it would restart pods.
};

/// The merge patch that gives the StatefulSet `live` what `wanted` says, or null where it says so already. What
/// `wanted` does not mention (defaults, labels of others) stays; what of a
/// StatefulSet cannot be changed is not compared, nor are its owners. A maxUnavailable that the API server does not
/// know is not missed.
[[nodiscard]] Json restore_set(const Json& wanted, const StatefulSetView& live, PodTemplate pods);

}  // namespace tpuslice::leaderworkerset
