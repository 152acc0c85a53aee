// SchedulingBench: a control plane with many TPU nodes, and rounds of slices that are scheduled on it; see
// docs/performance.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/lean_client.h"
#include "tests/bench/scheduling/binding_watch.h"
#include "tests/bench/scheduling/method.h"
#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

struct SchedulingOptions {
  std::string operator_program;
  int nodes = 1000;       ///< Rounded down to whole pools.
  int slices = 200;       ///< Measured in a round.
  int running = 100;      ///< Slices that run before the round; fewer if the measured ones need the pools.
  bool keep_dir = false;  ///< Keep all logs.
  Duration limit = std::chrono::seconds(300);  ///< Of a round.
};

/// Result and cost of a round.
struct Round {
  std::size_t pods = 0;
  std::size_t bound = 0;
  int whole = 0;      ///< Slices with all pods in one pool.
  int partial = 0;    ///< Slices with some pods on nodes, or in several pools.
  int torn_down = 0;  ///< Slices with deleted pods.

  double rate = 0;           ///< Pods per second, from the first request to the last binding.
  double creation_rate = 0;  ///< The same until the last pod is created: an upper limit of `rate`.
  // CPU seconds per 1,000 bound pods until all programs are at rest, or until the end of an unfinished round.
  double scheduler_cpu = 0;
  double apiserver_cpu = 0;
  double operator_cpu = 0;
  double resident = 0;  ///< MiB of the operator after the round; 0 without an operator.
  double others = 0;    ///< Share of the machine that other programs used.

  [[nodiscard]] bool finished() const { return bound == pods && torn_down == 0; }
};

/// Every round begins and ends at rest, without pods. Used by one thread.
class SchedulingBench {
 public:
  /// Starts the control plane (kube-scheduler, no controllers, no kwok, no priority and fairness) and creates the
  /// nodes. Errors: as ControlPlane::start; InvalidArgument for more slices than pools.
  static Result<std::unique_ptr<SchedulingBench>> start(SchedulingOptions options);

  /// One round of `slices` slices, at most options.slices. Exceeding the limit is not an error.
  Result<Round> measure(Method method, int slices);

  [[nodiscard]] int nodes() const;
  [[nodiscard]] int running() const { return running_; }
  [[nodiscard]] double nodes_per_second() const { return nodes_per_second_; }  ///< Creation rate.

 private:
  explicit SchedulingBench(SchedulingOptions options) : options_(std::move(options)) {}

  struct Usage {
    double scheduler = 0;
    double apiserver = 0;
    double tpu_operator = 0;
    double ours = 0;  ///< Of this program and all programs that it started.
    double machine = 0;
  };
  Status create_nodes();
  Status start_operator();
  Status stop_operator();
  Result<std::string> new_namespace(const char* prefix);
  /// New connections: the API server closes idle ones after 90 seconds.
  [[nodiscard]] Result<std::unique_ptr<LeanClient>> connect(int connections) const;
  /// Posts the pods and waits until they are bound, at most for the limit.
  Status schedule(const std::string& namespace_name, const std::vector<std::string>& pods, Round& out);
  /// Prints the progress. Returns true if `count` pods are bound or terminating.
  Result<bool> wait_settled(const std::string& namespace_name, std::size_t count, Instant until);
  void count_slices(const std::string& namespace_name, int slices, Round& out) const;
  Status add_running(Method method, const std::string& namespace_name);
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
