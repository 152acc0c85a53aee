// Evictions, which restart slices: the eviction of one pod restarts its whole slice.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/client/client.h"
#include "api/types/object.h"

namespace tpuslice::plugin {

/// Evicts the pod of this uid, as kubectl drain does: budgets are respected, and it gets the condition
/// DisruptionTarget. Errors: TooManyRequests if a PodDisruptionBudget does not allow it now; NotFound; Conflict if it
/// was replaced.
[[nodiscard]] Status evict(client::Client& api, const Object& pod, bool dry_run, const std::stop_token& stop);

/// One live pod of each slice of `pods` of which none is being deleted: its host with the lowest index.
[[nodiscard]] std::vector<Object> one_pod_of_each_slice(const std::vector<Object>& pods);

/// What the restart of a slice costs its workload (docs/troubleshooting.md).
struct RestartCost {
  std::string text;    ///< "one of failurePolicy.maxRestarts"
  bool fails = false;  ///< The workload would fail, or may.
};
/// `workload` is an object of `kind`; `hosts` is the number of hosts of the slice.
[[nodiscard]] RestartCost restart_cost(std::string_view kind, const Json& workload, int hosts);

}  // namespace tpuslice::plugin
