// ScaleBench: the operator with as many pods and nodes as a large cluster has; see docs/performance.md.
#pragma once

#include <memory>
#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

struct ScaleOptions {
  std::string operator_program;
  int clusters = 50;                          ///< RayClusters, each of 30 slices of 64 hosts and 10 slices of 8.
  bool keep_dir = false;                      ///< Keep all logs.
  Duration limit = std::chrono::minutes(40);  ///< Of each wait.
};

struct ScaleFigures {
  int pods = 0;
  int slices = 0;
  int nodes = 0;
  double placed = 0;  ///< Slices for which there are nodes.
  double bound = 0;   ///< Pods on nodes.

  // From the first RayCluster applied until all pods exist, all nodes are used and the operator is at rest.
  double creation_rate = 0;  ///< Pods per second, until the last exists.
  double creation_cpu = 0;   ///< CPU seconds of the operator per 1,000 pods.
  double creation_peak = 0;  ///< MiB

  // The operator is started again.
  double ready_seconds = 0;  ///< From the start of the process until it is ready.
  double start_cpu = 0;      ///< CPU seconds until it is at rest.
  double start_peak = 0;     ///< MiB
  double resident = 0;       ///< MiB, at rest.

  double rest_cpu = 0;     ///< Percent of a core.
  double rest_writes = 0;  ///< Requests that write, in that time.

  /// From the end of --node-not-ready-timeout until all pods of the slice on the node are being deleted.
  double teardown_seconds = 0;

  // The API server is started again, which makes watches expire.
  double relists = 0;
  double relist_peak = 0;  ///< MiB
  double relist_cpu = 0;   ///< CPU seconds until the operator is at rest.
};

/// A control plane with kube-scheduler, without kubelets and kube-controller-manager. Used by one thread.
class ScaleBench {
 public:
  /// Starts it and creates the nodes: those of 335 slices for 50 RayClusters. Errors: as ControlPlane::start.
  static Result<std::unique_ptr<ScaleBench>> start(ScaleOptions options);

  /// Prints its progress on standard error. To be called once.
  Result<ScaleFigures> measure();

 private:
  explicit ScaleBench(ScaleOptions options) : options_(std::move(options)) {}

  Status create_nodes();
  Status create_clusters();
  Status measure_creation(ScaleFigures& out);
  Status measure_start(ScaleFigures& out);
  Status measure_rest(ScaleFigures& out);
  Status measure_teardown(ScaleFigures& out);
  Status measure_relist(ScaleFigures& out);

  Status start_operator(bool leader_elect);
  Status stop_operator();
  [[nodiscard]] Result<double> count_pods();
  [[nodiscard]] Result<double> count_bound_pods();
  Status wait_until_at_rest();
  /// The next peak_resident_mib() is that from now on.
  Status reset_peak();

  const ScaleOptions options_;
  const RealClock clock_;
  std::unique_ptr<testing::ControlPlane> plane_;
  std::string account_;  ///< Kubeconfig of the operator.
  int webhook_port_ = 0;
  std::unique_ptr<testing::OperatorProcess> operator_;
};

}  // namespace tpuslice::bench
