// Bench: one control plane, and the measurements on it. docs/performance.md says how each is made.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/lean_client.h"
#include "tests/bench/pod_watch.h"
#include "tests/bench/workload.h"
#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

struct BenchOptions {
  std::string operator_program;
  bool keep_dir = false;                       ///< Logs of everything that ran.
  Duration limit = std::chrono::seconds(120);  ///< Of any one thing that is waited for.
};

/// What one round of a shape took.
struct Creation {
  double rate = 0;                 ///< Pods per second, from the first RayCluster applied to the last pod ADDED.
  double floor = 0;                ///< The same pods posted bare.
  double operator_cpu = 0;         ///< Seconds per 1,000 pods, all work until everything is at rest again.
  double apiserver_cpu = 0;        ///< The same of the API server,
  double floor_apiserver_cpu = 0;  ///< and for the bare pods.
  double resident_before = 0;      ///< MiB of the operator: synced, nothing to do;
  double resident_after = 0;       ///< at rest with these pods.
  double others = 0;               ///< Share of the machine that programs other than these used meanwhile.

  [[nodiscard]] double ratio() const { return floor == 0 ? 0 : rate / floor; }
};

/// A pod of a slice fails: seconds until all pods of the slice were deleted, and the last new one is ADDED.
struct Healing {
  int hosts = 0;
  std::vector<double> seconds;
  std::vector<double> floor;  ///< The same pods deleted and posted again by hand.
};

/// Pods posted one by one.
struct Posted {
  double rate = 0;           ///< Pods per second, until the last is ADDED.
  double apiserver_cpu = 0;  ///< Seconds per 1,000 pods.
};

/// Pods that are not born right, by what the API server asks about each.
struct ThroughWebhook {
  Posted none;              ///< Nobody.
  Posted noop;              ///< A webhook that changes nothing.
  Posted ours;              ///< The operator.
  double operator_cpu = 0;  ///< Seconds per 1,000 pods.
};

struct Rest {
  double writes = 0;
  double cpu_percent = 0;  ///< Of one core, the operator.
};

/// Every step begins and ends at rest, with no pods left. Used from one thread.
class Bench {
 public:
  /// Starts the control plane: no scheduler, no kwok, no priority and fairness, controllers at 2000 requests a second.
  /// Errors: as ControlPlane::start; of installing the operator's account.
  static Result<std::unique_ptr<Bench>> start(BenchOptions options);

  /// What is measured while the pods of a round are there.
  struct Meanwhile {
    int heal = 0;     ///< So many slices lose a pod, one after another.
    Duration rest{};  ///< Nothing happens for so long.
    Healing* healing = nullptr;
    std::vector<Rest>* resting = nullptr;
  };
  /// The operator's creation and the floor, in either order.
  Result<Creation> create(const Shape& shape, bool floor_first, const Meanwhile& meanwhile);
  Result<ThroughWebhook> create_through_webhook(const Shape& shape);

 private:
  explicit Bench(BenchOptions options) : options_(std::move(options)) {}

  struct Usage {
    double apiserver = 0;
    double ours = 0;  ///< Of everything started here, and this program.
    double machine = 0;
  };
  Status run_operator(const Shape& shape, const Meanwhile& meanwhile, Creation& out);
  Status run_floor(const Shape& shape, const Meanwhile& meanwhile, Creation& out);
  Result<Posted> post(LeanClient& client, const std::string& namespace_name, const std::vector<std::string>& pods);
  /// `asked` tells that the API server asks whom it should.
  Result<Posted> create_unprepared(const Shape& shape, const std::function<bool()>& asked);
  Result<std::string> new_namespace(const char* prefix);
  Result<std::vector<Object>> apply(const Shape& shape, const std::string& namespace_name);
  Status remove(const std::vector<Object>& clusters, const std::string& namespace_name);
  Result<double> heal(const std::string& namespace_name, int slice);
  Result<double> heal_by_hand(LeanClient& client, const std::string& namespace_name, const std::vector<BarePod>& slice);
  Result<Rest> rest(Duration time);
  /// Waits until nobody does anything.
  Status settle();
  [[nodiscard]] Usage usage() const;

  const BenchOptions options_;
  const RealClock clock_;
  std::unique_ptr<testing::ControlPlane> plane_;
  std::string account_;  ///< Kubeconfig of the operator, used for the floor as well.
  std::unique_ptr<PodWatch> watch_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  Json sample_;
  int namespaces_ = 0;
};

}  // namespace tpuslice::bench
