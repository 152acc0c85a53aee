// Retirement: RayClusters that are no longer used are deleted.
//
// One that served stays for rayClusterDeletionDelaySeconds, so that requests that are under way end; the time of its
// deletion is recorded on it. One that did not serve is deleted at once: it only occupies nodes. One that is still in
// the HTTPRoute stays until the route has changed.
#pragma once

#include <vector>

#include "controllers/rayservice/upgrade.h"

namespace tpuslice::rayservice {

struct RetirementDecision {
  struct Schedule {
    const Cluster* cluster = nullptr;
    std::string time;  ///< For kDeleteAfter.
  };
  std::vector<const Cluster*> deletes;
  std::vector<Schedule> schedules;
  std::vector<const Cluster*> cancelled;  ///< Used again: the recorded time is removed.
  std::optional<Duration> requeue_after;
};

/// `active` and `pending` name the clusters in use.
[[nodiscard]] RetirementDecision decide_retirement(const RayServiceState& state, std::string_view active,
                                                   std::string_view pending);

}  // namespace tpuslice::rayservice
