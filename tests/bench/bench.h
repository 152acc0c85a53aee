// Bench: one control plane, and the measurements on it. docs/performance.md says how each is made.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/lean_client.h"
#include "tests/bench/pod_watch.h"
#include "tests/bench/restart_watch.h"
#include "tests/bench/workload.h"
#include "tests/support/control_plane.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

struct BenchOptions {
  std::string operator_program;
  bool keep_dir = false;                       ///< Logs of everything that ran.
  bool gangs = true;                           ///< Pods of JobSets wait for the slice controller, as is the default.
  Duration limit = std::chrono::seconds(120);  ///< Of any one thing that is waited for.
};

/// What one round of a shape took.
struct Creation {
  double rate = 0;                   ///< Pods per second, from the first object applied to the last pod ADDED.
  double floor = 0;                  ///< The same pods (of JobSets: Jobs) posted bare.
  double operator_cpu = 0;           ///< Seconds per 1,000 pods, all work until everything is at rest again.
  double apiserver_cpu = 0;          ///< The same of the API server,
  double floor_apiserver_cpu = 0;    ///< and for the bare ones;
  double controllers_cpu = 0;        ///< of kube-controller-manager,
  double floor_controllers_cpu = 0;  ///< and for the bare ones.
  double resident_before = 0;        ///< MiB of the operator: synced, nothing to do;
  double resident_after = 0;         ///< at rest with these pods.
  double others = 0;                 ///< Share of the machine that programs other than these used meanwhile.

  [[nodiscard]] double ratio() const { return floor == 0 ? 0 : rate / floor; }
};

/// A pod of a slice fails: seconds until all pods of the slice were deleted, and the last new one is ADDED.
struct Healing {
  int hosts = 0;
  std::vector<double> seconds;
  std::vector<double> floor;  ///< The same pods deleted and posted again by hand.
  int single = 0;             ///< So often somebody else replaced the pod before the operator saw that it had failed.
};

/// Pods, or Jobs, posted one by one.
struct Posted {
  double rate = 0;             ///< Pods per second, until the last is ADDED.
  double apiserver_cpu = 0;    ///< Seconds per 1,000 pods.
  double controllers_cpu = 0;  ///< The same of kube-controller-manager.
};

/// Pods that are not born right, by what the API server asks about each.
struct ThroughWebhook {
  Posted none;              ///< Nobody.
  Posted noop;              ///< A webhook that changes nothing.
  Posted ours;              ///< The operator.
  double operator_cpu = 0;  ///< Seconds per 1,000 pods.
};

/// Who restarts a JobSet, and when.
enum class RestartWay : std::uint8_t {
  kAtFailureTarget,  ///< The operator, as the JobSet's annotation asks for.
  kAtFailed,         ///< The operator, as upstream.
  kForeground,       ///< The client of the floor deletes all Jobs and, when all is gone, posts them again.
  kBackground,       ///< The same, but the Jobs go before their pods.
  kPodsAsked,        ///< The same, and one request deletes all pods, so that nobody waits for the garbage collector.
};

inline constexpr std::array kRestartWays = {RestartWay::kAtFailureTarget, RestartWay::kAtFailed,
                                            RestartWay::kForeground, RestartWay::kBackground, RestartWay::kPodsAsked};

[[nodiscard]] std::string_view name_of(RestartWay way);

struct Restart {
  std::array<std::optional<double>, kRestartSteps> seconds;  ///< After the failure.
  double operator_cpu = 0;                                   ///< Seconds until all pods are there, as the following.
  double apiserver_cpu = 0;
  double controllers_cpu = 0;
};

struct Rest {
  double writes = 0;
  double cpu_percent = 0;  ///< Of one core, the operator.
};

/// Every step begins and ends at rest, with no pods left. Used from one thread.
class Bench {
 public:
  /// Starts the control plane: no scheduler, no kwok, no priority and fairness, controllers at 2000 requests a second,
  /// each with an account of its own, as the Job controller is known by its name.
  /// Errors: as ControlPlane::start; of installing the operator's account.
  static Result<std::unique_ptr<Bench>> start(BenchOptions options);

  /// What is measured while the pods of a round are there.
  struct Meanwhile {
    int heal = 0;     ///< So many slices lose a pod, one after another.
    Duration rest{};  ///< Nothing happens for so long, with the operator running.
    Healing* healing = nullptr;
    std::vector<Rest>* resting = nullptr;
  };
  /// The operator's creation and the floor, in either order.
  Result<Creation> create(const Shape& shape, bool floor_first, const Meanwhile& meanwhile);
  Result<ThroughWebhook> create_through_webhook(const Shape& shape);
  /// A pod of the JobSet fails, again and again.
  Result<std::vector<Restart>> restart_jobset(Shape shape, RestartWay way, int times);

 private:
  explicit Bench(BenchOptions options) : options_(std::move(options)) {}

  struct Usage {
    double apiserver = 0;
    double controllers = 0;
    double ours = 0;  ///< Of everything started here, and this program.
    double machine = 0;
  };
  Status run_operator(const Shape& shape, const Meanwhile& meanwhile, Creation& out);
  Status run_floor(const Shape& shape, const Meanwhile& meanwhile, Creation& out);
  Status post_bare_pods(LeanClient& client, const std::vector<Object>& clusters, const std::string& namespace_name,
                        const Meanwhile& meanwhile, Creation& out);
  Status post_bare_jobs(LeanClient& client, const std::vector<Object>& jobsets, const std::string& namespace_name,
                        Creation& out);
  /// With the operator's webhook, as the pods of StatefulSets need it, but without its controller.
  Status post_bare_sets(LeanClient& client, const std::vector<Object>& owners, const std::string& namespace_name,
                        Creation& out);
  /// What `send` does is expected to make so many pods.
  Result<Posted> post(const std::string& namespace_name, std::size_t pods, const std::function<Status()>& send);
  [[nodiscard]] Result<std::unique_ptr<LeanClient>> connect() const;  ///< With the operator's account.

  /// For RayClusters that controller alone: without nodes no slice is placed, what is measured is creation
  /// (tpu-slice-scheduling-bench measures placement). For JobSets everything (options_.gangs), with its webhook, as it
  /// is shipped.
  Status start_operator(Kind kind, bool serve = true);  ///< Without `serve`, another kind than this.
  Status stop_operator();
  /// Until the API server, which may not have seen the configuration yet, asks about pods that ask for TPUs.
  Status wait_asked(const std::string& namespace_name, const std::function<bool()>& asked);
  Status remove_webhook();
  /// Pods that the operator was asked about.
  Result<double> admitted_pods();
  /// `asked` tells that the API server asks whom it should.
  Result<Posted> create_unprepared(const Shape& shape, const std::function<bool()>& asked);
  Result<std::string> new_namespace(const char* prefix);
  Result<std::vector<Object>> apply(const Shape& shape, const std::string& namespace_name);
  Status remove(Kind kind, const std::vector<Object>& objects, const std::string& namespace_name);
  Result<Restart> restart_once(const Shape& shape, RestartWay way, const Object& jobset, int attempt);
  Status replace_by_hand(LeanClient& client, RestartWay way, const Object& jobset, int attempt,
                         const RestartWatch& watch);
  /// As a kubelet would say it.
  Status fail_pod(const ObjectKey& pod);
  Status say_status(const ObjectKey& pod, const Json& status);
  /// All pods of the namespace run, and their Jobs know. Errors: Timeout.
  Status make_pods_ready(const std::string& namespace_name);
  Result<std::optional<double>> heal(const std::string& namespace_name, int slice);
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
  std::map<Kind, Json> samples_;
  int namespaces_ = 0;
};

}  // namespace tpuslice::bench
