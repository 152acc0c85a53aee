// Repairs drift of leader and worker sets.
#pragma once

#include "api/types/views.h"

namespace tpuslice::leaderworkerset {

enum class PodTemplate : std::uint8_t {
  kReplace,  ///< Make it equal to the desired one; pods are recreated.
  kIgnore,   ///< Changing it would restart pods.
};

/// Merge patch that gives `live` all fields of `desired`; null if it has them. Fields that are only in `live`
/// (defaults, labels of others) stay; immutable fields and owners are not compared. A maxUnavailable dropped by an
/// older API server does not count as drift.
[[nodiscard]] Json restore_set(const Json& desired, const StatefulSetView& live, PodTemplate pods);

}  // namespace tpuslice::leaderworkerset
