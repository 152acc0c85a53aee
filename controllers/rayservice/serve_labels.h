// Label ray.io/serve of pods: whether the serve service selects them.
//
// A single-host worker is always selected: its readiness includes that of its proxy. Of the others the controller sets
// the label:
//
// - the head: its proxy is asked, since it must be ready before there is one;
// - hosts of a slice of several: Serve runs proxies only on nodes with replicas, so the others would never be ready if
//   their readiness included that of a proxy. The nodes with a healthy proxy are those that Serve reports.
//
// While it is unknown what serves, labels stay as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controllers/plan/workload_request.h"
#include "controllers/rayservice/clusters.h"
#include "controllers/rayservice/serving.h"

namespace tpuslice::rayservice {

/// Port of the head's Serve proxy: the one named serve, or Ray's default.
[[nodiscard]] std::int64_t serve_port(const Cluster& cluster);

/// GET of the head's Serve proxy; nothing while the head does not run, or no configuration was sent to the cluster.
[[nodiscard]] std::optional<plan::WorkloadRequest> proxy_request(const Cluster& cluster);

struct ServeLabel {
  PodPtr pod;
  bool serves = false;
};
/// The labels to change. `exclude_head`: the head is never selected.
[[nodiscard]] std::vector<ServeLabel> decide_serve_labels(const Cluster& cluster, const Serving& serving,
                                                          const plan::WorkloadAnswers& answers, bool exclude_head);

}  // namespace tpuslice::rayservice
