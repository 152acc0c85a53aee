// Bench: a control plane and the measurements on it; see docs/performance.md.
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
  bool keep_dir = false;                       ///< Keep all logs.
  bool gangs = true;                           ///< Run the slice controllers, which pods of JobSets wait for.
  Duration limit = std::chrono::seconds(120);  ///< Time-out of each wait.
};

/// Cost of one round of a shape.
struct Creation {
  double rate = 0;                   ///< Pods per second, from the first object applied to the last pod ADDED.
  double floor = 0;                  ///< The same pods (JobSets: Jobs) posted without the operator.
  double operator_cpu = 0;           ///< Seconds per 1,000 pods until all programs are at rest.
  double apiserver_cpu = 0;          ///< The same of the API server.
  double floor_apiserver_cpu = 0;    ///< The same for the floor.
  double controllers_cpu = 0;        ///< The same of kube-controller-manager.
  double floor_controllers_cpu = 0;  ///< The same for the floor.
  double resident_before = 0;        ///< MiB of the operator, synced and without work.
  double resident_after = 0;         ///< MiB of the operator, at rest with these pods.
  double others = 0;                 ///< Share of the machine that other programs used.

  [[nodiscard]] double ratio() const { return floor == 0 ? 0 : rate / floor; }
  /// The operator's CPU, in percent of the API server's.
  [[nodiscard]] double operator_share() const { return apiserver_cpu == 0 ? 0 : 100 * operator_cpu / apiserver_cpu; }
};

/// A pod of a slice fails: seconds until the last replacement of the pods of the slice is ADDED.
struct Healing {
  int hosts = 0;
  std::vector<double> seconds;
  std::vector<double> floor;  ///< The same pods deleted and posted by the client of the floor.
  int single = 0;  ///< How often kube-controller-manager replaced the pod before the operator observed its failure.
};

/// Result of posting pods or Jobs.
struct PostResult {
  double rate = 0;             ///< Pods per second, until the last is ADDED.
  double apiserver_cpu = 0;    ///< Seconds per 1,000 pods.
  double controllers_cpu = 0;  ///< The same of kube-controller-manager.
};

/// Pods that the operator did not mutate in advance, by the webhook that the API server calls.
struct WebhookCost {
  PostResult none;          ///< No webhook.
  PostResult noop;          ///< A webhook that does not change the pod.
  PostResult ours;          ///< The operator's webhook.
  double operator_cpu = 0;  ///< Seconds per 1,000 pods.
};

/// How a JobSet is restarted.
enum class RestartMethod : std::uint8_t {
  kAtFailureTarget,  ///< By the operator, when a Job has the condition FailureTarget.
  kAtFailed,         ///< By the operator, when a Job has failed, as upstream.
  kForeground,       ///< By the client of the floor: deletes all Jobs in the foreground, then posts the new ones.
  kBackground,       ///< The same with deletion in the background.
  kDeletePods,       ///< The same, and one request deletes all pods instead of the garbage collector.
};

inline constexpr std::array kRestartMethods = {RestartMethod::kAtFailureTarget, RestartMethod::kAtFailed,
                                               RestartMethod::kForeground, RestartMethod::kBackground,
                                               RestartMethod::kDeletePods};

[[nodiscard]] std::string_view name_of(RestartMethod method);

struct Restart {
  std::array<std::optional<double>, kRestartSteps> seconds;  ///< After the failure.
  double operator_cpu = 0;                                   ///< Seconds until all pods are created, as the following.
  double apiserver_cpu = 0;
  double controllers_cpu = 0;
};

struct Rest {
  double writes = 0;
  double cpu_percent = 0;  ///< Of one core, the operator.
};

/// Every measurement begins and ends at rest, without pods. Used by one thread.
class Bench {
 public:
  /// Starts the control plane: no scheduler, no kwok, no priority and fairness, controllers at 2000 requests a second,
  /// each with its own account, since the webhook's match conditions name the account of the Job controller.
  /// Errors: as ControlPlane::start; of installing the operator's account.
  static Result<std::unique_ptr<Bench>> start(BenchOptions options);

  /// What is measured after the pods of a round were created.
  struct Meanwhile {
    int heal = 0;     ///< Number of slices that lose a pod, one at a time.
    Duration rest{};  ///< Time at rest with the operator running.
    Healing* healing = nullptr;
    std::vector<Rest>* resting = nullptr;
  };
  /// Creation by the operator and the floor, in either order.
  Result<Creation> create(const Shape& shape, bool floor_first, const Meanwhile& meanwhile);
  Result<WebhookCost> measure_webhook(const Shape& shape);
  /// Fails a pod of the JobSet `times` times.
  Result<std::vector<Restart>> restart_jobset(Shape shape, RestartMethod method, int times);

 private:
  explicit Bench(BenchOptions options) : options_(std::move(options)) {}

  struct Usage {
    double apiserver = 0;
    double controllers = 0;
    double ours = 0;  ///< Of this program and all programs that it started.
    double machine = 0;
  };
  Status run_operator(const Shape& shape, const Meanwhile& meanwhile, Creation& out);
  Status run_floor(const Shape& shape, const Meanwhile& meanwhile, Creation& out);
  Status post_bare_pods(LeanClient& client, const std::vector<Object>& clusters, const std::string& namespace_name,
                        const Meanwhile& meanwhile, Creation& out);
  Status post_bare_jobs(LeanClient& client, const std::vector<Object>& jobsets, const std::string& namespace_name,
                        Creation& out);
  /// With the operator's webhook, which pods of StatefulSets need, but without its controller.
  Status post_bare_sets(LeanClient& client, const std::vector<Object>& owners, const std::string& namespace_name,
                        Creation& out);
  /// Measures `send` until `pods` pods are created.
  Result<PostResult> post(const std::string& namespace_name, std::size_t pods, const std::function<Status()>& send);
  [[nodiscard]] Result<std::unique_ptr<LeanClient>> connect() const;  ///< As the operator's account.

  /// For RayClusters only that controller: there are no nodes, and tpu-slice-scheduling-bench measures placement. For
  /// the other kinds all controllers (see options_.gangs) and the webhook, as installed from deploy/.
  Status start_operator(Kind kind, bool serve = true);  ///< Without `serve`, not the controller of LeaderWorkerSets.
  Status stop_operator();
  /// Creates TPU pods (dry run) until the API server, which may read the configuration late, calls the webhook.
  Status wait_for_webhook(const std::string& namespace_name, const std::function<bool()>& called);
  Status remove_webhook();
  /// Number of pods that the operator's webhook admitted.
  Result<double> admitted_pods();
  /// `called` returns whether the expected webhook has been called.
  Result<PostResult> create_unmutated(const Shape& shape, const std::function<bool()>& called);
  Result<std::string> new_namespace(const char* prefix);
  Result<std::vector<Object>> apply(const Shape& shape, const std::string& namespace_name);
  Status remove(Kind kind, const std::vector<Object>& objects, const std::string& namespace_name);
  Result<Restart> restart_once(const Shape& shape, RestartMethod method, const Object& jobset, int attempt);
  Status restart_floor(LeanClient& client, RestartMethod method, const Object& jobset, int attempt,
                       const RestartWatch& watch);
  /// Sets the status of an evicted pod.
  Status fail_pod(const ObjectKey& pod);
  Status patch_status(const ObjectKey& pod, const Json& status);
  /// Makes all pods of the namespace Ready and waits until their Jobs count them. Errors: Timeout.
  Status make_pods_ready(const std::string& namespace_name);
  Result<std::optional<double>> heal(const std::string& namespace_name, int slice);
  Result<double> heal_floor(LeanClient& client, const std::string& namespace_name, const std::vector<BarePod>& slice);
  Result<Rest> rest(Duration time);
  /// Waits until all programs are at rest.
  Status settle();
  [[nodiscard]] Usage usage() const;

  const BenchOptions options_;
  const RealClock clock_;
  std::unique_ptr<testing::ControlPlane> plane_;
  std::string account_;  ///< Kubeconfig of the operator, also used for the floor.
  std::unique_ptr<PodWatch> watch_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  std::map<Kind, Json> samples_;
  int namespaces_ = 0;
};

}  // namespace tpuslice::bench
