// RecoveryBench: how long a slice does not run after a fault, on real kubelets; see docs/performance.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "tests/nodes/node_cluster.h"
#include "tests/nodes/recovery/faults.h"
#include "tests/nodes/recovery/recovery_watch.h"
#include "tests/nodes/recovery/workloads.h"

namespace tpuslice::bench {

struct RecoveryOptions {
  std::string operator_program = {};  ///< Installed as in deploy/install.yaml.
  std::string upstream = {};          ///< "jobset", "lws" or "kuberay": upstream's operator runs instead.
  bool by_hand = false;               ///< Neither runs; the benchmark deletes the pods and creates them again.
  int node_timeout = 30;              ///< Seconds for which pods, and this operator, tolerate a node that is not Ready.
  bool keep_dir = false;              ///< Keep all logs.
  Duration limit = std::chrono::seconds(600);  ///< Time-out of a recovery.
};

/// A cluster with two v6e slices of four hosts, one of them spare. Used by one thread.
class RecoveryBench {
 public:
  /// Errors: as NodeCluster::start; of the programs.
  static Result<std::unique_ptr<RecoveryBench>> start(RecoveryOptions options);

  /// Creates the workload, injects the fault once all hosts are Ready, and deletes the workload after the recovery.
  /// `round` chooses the victim. std::nullopt if it did not recover in time, which is printed with the state of the
  /// pods. Errors: Timeout if the workload does not start, or cannot be deleted; of the API server. The logs are kept
  /// then.
  Result<std::optional<Recovery>> recover(const Workload& workload, const Fault& fault, bool short_teardown, int round);

 private:
  explicit RecoveryBench(RecoveryOptions options) : options_(std::move(options)) {}

  Status start_cluster();
  Status install_operator();
  Status start_upstream();
  Result<std::string> kubectl(const std::string& arguments);
  Result<std::optional<Recovery>> measure(const Workload& workload, const Fault& fault, bool short_teardown, int round);
  /// Prints the error, the pods and the last events.
  void report(const Error& error);
  Status create(const Workload& workload, const std::string& name, bool short_teardown);
  /// Creates pods on the nodes of a pool.
  Status create_by_hand(const Workload& workload, const std::string& name, const std::string& pool);
  Status replace_by_hand(const Workload& workload, const Fault& fault, bool short_teardown, const HostPod& victim,
                         const std::vector<HostPod>& hosts);
  void kill_containers();
  Status clean_up(const Workload& workload, const Fault& fault, const HostPod& victim);

  const RecoveryOptions options_;
  const RealClock clock_;
  int workloads_ = 0;  ///< Number of those created, for their names.
  std::unique_ptr<testing::NodeCluster> cluster_;
  std::unique_ptr<testing::Process> upstream_;
  std::unique_ptr<RecoveryWatch> watch_;  ///< Destroyed first.
};

}  // namespace tpuslice::bench
