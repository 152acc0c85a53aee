// The command tpu-slice-operator --drain.
#pragma once

#include <stop_token>
#include <string>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/http/transport.h"
#include "cmd/tpu-slice-operator/options.h"
#include "controllers/drain/drain.h"

namespace tpuslice::drain {

/// Borrowed, and outlive the command.
struct Dependencies {
  http::Transport& api;
  http::Transport& election_api;  ///< Connections of its own, as of the operator.
  const Clock& clock;
  Metrics& metrics;
  Logger log;
  std::string identity;
  std::string namespace_name;  ///< Namespace of the kubeconfig's context or the pod.
};

/// The kinds that an operator with these options gives finalizers: not those that another operator serves.
[[nodiscard]] std::vector<FinalizerKind> finalizer_kinds(const OperatorOptions& options);

/// Holds the operator's Lease, and drains. A dry run only reads. Errors: an operator runs; the API server cannot be
/// reached.
[[nodiscard]] Result<Report> run_drain(const OperatorOptions& options, bool dry_run, const Dependencies& dependencies,
                                       const std::stop_token& stop);

}  // namespace tpuslice::drain
