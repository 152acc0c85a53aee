// Serving: what Ray Serve reports about a cluster, and giving it the Serve configuration.
//
// 1. GET the applications.
// 2. If the cluster has not accepted the configuration, has lost its applications, or reports another configuration
//    than it had accepted: record that it is sent (ServeRecord), then PUT it.
// 3. When it is accepted, record that. Without an answer it may have taken effect: it is sent again only after another
//    GET.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/types/conditions.h"
#include "controllers/plan/workload_request.h"
#include "controllers/ray/dashboard.h"
#include "controllers/rayservice/clusters.h"
#include "controllers/rayservice/rayservice_options.h"
#include "controllers/rayservice/serve_config.h"

namespace tpuslice::rayservice {

struct Serving {
  std::vector<plan::WorkloadRequest> requests;
  /// The applications that were reported last; nothing while unknown, such as after a restart of the operator.
  std::optional<ray::ServeInfo> info;
  bool current = false;               ///< `info` is what the cluster reports now, after the last configuration.
  std::optional<ServeRecord> record;  ///< To write.
  /// The cluster has accepted the configuration that was to be applied.
  bool accepted = false;
  Problem problem;  ///< Why the configuration is not applied: for kServeConfigApplied.
  std::optional<Duration> requeue_after;

  /// At least one application, and all are RUNNING.
  [[nodiscard]] bool ready() const;
};

/// Only what the cluster reports.
[[nodiscard]] Serving observe_serving(const Cluster& cluster, const plan::WorkloadAnswers& answers,
                                      const Options& options);

/// The same, and applies `config`.
[[nodiscard]] Serving apply_serve_config(const Cluster& cluster, const ServeConfig& config,
                                         const plan::WorkloadAnswers& answers, Timestamp now, const Options& options);

}  // namespace tpuslice::rayservice
