// ScenarioRunner: runs scenarios in one world, with one operator.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "tests/e2e/runner/invariant_watch.h"
#include "tests/e2e/runner/ray_server.h"
#include "tests/e2e/runner/rest_mapper.h"
#include "tests/e2e/runner/scenario.h"
#include "tests/e2e/runner/world.h"
#include "tests/support/autoscaler/autoscaler_thread.h"
#include "tests/support/operator_process.h"

namespace tpuslice::e2e {

/// The operator's metric of its requests, by HTTP status.
inline constexpr const char* kRequestsMetric = "rest_client_requests_total";

/// Cleans up after each scenario. Used by one thread.
class ScenarioRunner {
 public:
  /// Called with a line after each step.
  using Print = std::function<void(const std::string& line)>;

  /// Registers the webhook and starts the operator with these additional flags. `world` outlives it.
  static Result<std::unique_ptr<ScenarioRunner>> start(World& world, const std::vector<std::string>& flags,
                                                       Print print);

  /// Stops the operator, which releases its Lease.
  ~ScenarioRunner();

  /// Errors: the first expectation that failed, with file and line; Forbidden if a request of the operator was.
  Status run(const Scenario& scenario);

  /// Returns when the namespace of the last scenario is deleted. Errors: Timeout.
  static Status wait_for_terminating_namespace(World& world);

 private:
  ScenarioRunner(World& world, Print print, std::unique_ptr<RayServer> ray)
      : world_(world), print_(std::move(print)), mapper_(world.client()), ray_(std::move(ray)) {}

  Status start_operator(const std::vector<std::string>& flags);
  Status set_up(const Scenario& scenario);
  Status run_steps(const Scenario& scenario);
  Status start_autoscaler(const testing::AutoscalerOptions& options);
  /// Deletes all applied objects, returns lost nodes, starts processes that do not run, removes the autoscaler.
  Status clean_up();
  /// Removes its nodes, status and CRD: other scenarios run on the same control plane.
  Status remove_autoscaler();
  Status remove_cluster_objects();
  Status restart_processes();
  Status run_step(const Step& step);
  Status check_invariants() const;
  /// Errors: Forbidden if a request of the operator was, since the scenario or the operator started.
  Status check_forbidden();

  Status act(const Step& step, const Apply& apply);
  Status act(const Step& step, const Patch& patch);
  Status act(const Step& step, const Delete& action);
  Status act(const Step& step, const FailPods& fail);
  Status act(const Step& step, const LoseNodes& lose);
  Status act(const Step& step, const ReturnNodes& all);
  Status act(const Step& step, const Control& control);
  Status act(const Step& step, const ControlAutoscaler& control);
  Status act(const Step& step, const SetCapacity& set);
  Status act(const Step& step, const ExpectForbidden& expected);
  Status act(const Step& step, const SetRayJob& set);
  Status act(const Step& step, const SetApplications& set);
  Status act(const Step& step, const SetProxies& set);
  Status act(const Step& step, const SetDashboards& set);
  Status act(const Step& step, const ExpectDashboardRequest& expected);
  Status act(const Step& step, const Run& run);
  Status act(const Step& step, const Remember& remember);
  Status act(const Step& step, const Expect& expect);
  Status control_operator(const std::string& verb);
  /// Waits until the field of the one object of `target` is set.
  [[nodiscard]] Result<std::string> await_field(const Target& target, const std::string& path, Duration limit);
  /// "<head service>.<namespace>"
  [[nodiscard]] Result<std::string> head_service_of(const ServeCluster& cluster, Duration limit);
  /// Waits until the operator has renewed its Lease. It is restarted, as by the kubelet, if it exits because the API
  /// server was away for longer than its renew deadline.
  Status await_leader();
  Status mark_node(const std::string& node, const Json& ready);

  struct CommandResult {
    int status = 0;
    std::string output;
  };
  [[nodiscard]] Result<CommandResult> run_command(const std::string& command, Duration limit);
  [[nodiscard]] Result<ResourceType> type_of(const Target& target);
  /// In the namespace of the scenario; empty if no object matches.
  [[nodiscard]] Result<std::vector<Json>> find(const Target& target);
  /// Repeats `check` until it returns no mismatch. Errors: Timeout with the last mismatch.
  static Status wait_until_empty(Duration limit, const std::function<std::string()>& check);

  World& world_;
  const Print print_;
  const RealClock clock_;
  RestMapper mapper_;
  const std::unique_ptr<RayServer> ray_;  ///< The dashboards that the operator asks.
  std::unique_ptr<testing::OperatorProcess> operator_;
  double forbidden_before_ = 0;  ///< The operator's counter at the start of the scenario.
  bool operator_paused_ = false;
  bool apiserver_killed_ = false;
  /// By then the events that the operator could not send to the killed API server are sent.
  Instant events_sent_ = Instant::min();

  // Of the current scenario.
  std::string namespace_;
  std::string kubeconfig_;
  SavedValues saved_;
  std::set<std::string> lost_nodes_;
  std::vector<std::pair<ResourceType, ObjectKey>> cluster_objects_;  ///< Applied objects without namespace.
  std::vector<std::string> dashboard_requests_;
  std::vector<std::unique_ptr<InvariantWatch>> invariants_;
  std::unique_ptr<testing::AutoscalerThread> autoscaler_;
};

}  // namespace tpuslice::e2e
