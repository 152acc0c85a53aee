// SchedulingBench: a control plane with many TPU nodes, and rounds of slices that are scheduled on it.
// docs/performance.md says how it is measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/lean_client.h"
#include "tests/bench/scheduling/binding_watch.h"
#include "tests/bench/scheduling/way.h"
#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

struct SchedulingOptions {
  std::string operator_program;
  int nodes = 1000;       ///< Rounded down to whole pools.
  int slices = 200;       ///< Measured in a round.
  int running = 100;      ///< Slices that have nodes before the round; fewer where the measured ones need the pools.
  bool keep_dir = false;  ///< Logs of everything that ran.
  Duration limit = std::chrono::seconds(300);  ///< Of a round.
};

/// What became of the slices of a round, and what it took.
struct Round {
  std::size_t pods = 0;
  std::size_t bound = 0;
  int whole = 0;      ///< Slices with all pods in one pool.
  int partial = 0;    ///< Slices with some pods on nodes, or in several pools.
  int torn_down = 0;  ///< Slices of which pods were deleted.

  double rate = 0;           ///< Pods per second, from the first request to the last binding.
  double creation_rate = 0;  ///< The same to the last pod created: no round is faster.
  // CPU seconds per 1,000 bound pods, until everything is at rest again; of a round that does not finish, until its
  // end.
  double scheduler_cpu = 0;
  double apiserver_cpu = 0;
  double operator_cpu = 0;
  double resident = 0;  ///< MiB of the operator after the round; 0 where there is none.
  double others = 0;    ///< Share of the machine that programs other than these used meanwhile.

  [[nodiscard]] bool finished() const { return bound == pods && torn_down == 0; }
};

/// Every round begins and ends at rest, with the nodes and no pods. Used from one thread.
class SchedulingBench {
 public:
  /// Starts the control plane (kube-scheduler, no controllers, no kwok, no priority and fairness) and makes the nodes.
  /// Errors: as ControlPlane::start; InvalidArgument for more slices than pools.
  static Result<std::unique_ptr<SchedulingBench>> start(SchedulingOptions options);

  /// One round of `slices`, at most options.slices. One that takes longer than the limit is no error.
  Result<Round> measure(Way way, int slices);

  [[nodiscard]] int nodes() const;
  [[nodiscard]] int running() const { return running_; }
  [[nodiscard]] double nodes_per_second() const { return nodes_per_second_; }  ///< How fast they were made.

 private:
  explicit SchedulingBench(SchedulingOptions options) : options_(std::move(options)) {}

  struct Usage {
    double scheduler = 0;
    double apiserver = 0;
    double the_operator = 0;
    double ours = 0;  ///< Of everything started here, and this program.
    double machine = 0;
  };
  Status make_nodes();
  Status start_operator();
  Status stop_operator();
  Result<std::string> new_namespace(const char* prefix);
  /// New connections: the API server closes what is idle for a minute and a half.
  [[nodiscard]] Result<std::unique_ptr<LeanClient>> connect(int connections) const;
  /// Posts the pods and waits until they are bound, or for as long as the limit is.
  Status schedule(const std::string& namespace_name, const std::vector<std::string>& pods, Round& out);
  /// Tells how far it is now and then. True if nothing more will happen to any of `count` pods.
  Result<bool> wait_settled(const std::string& namespace_name, std::size_t count, Instant until);
  void tell_slices(const std::string& namespace_name, int slices, Round& out) const;
  Status add_running(Way way, const std::string& namespace_name);
  Status remove_pods(const std::string& namespace_name);
  Status settle();
  [[nodiscard]] Usage usage() const;

  const SchedulingOptions options_;
  const RealClock clock_;
  int pools_ = 0;
  int running_ = 0;
  double nodes_per_second_ = 0;
  std::unique_ptr<testing::ControlPlane> plane_;
  std::string account_;  ///< Kubeconfig of the operator.
  std::unique_ptr<BindingWatch> watch_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  int namespaces_ = 0;
};

}  // namespace tpuslice::bench
