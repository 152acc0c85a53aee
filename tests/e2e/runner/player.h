// Player: plays scenarios in one world, with one operator.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "tests/e2e/runner/always.h"
#include "tests/e2e/runner/kinds.h"
#include "tests/e2e/runner/scenario.h"
#include "tests/e2e/runner/world.h"
#include "tests/support/operator_process.h"

namespace tpuslice::e2e {

/// The operator's metric of what it asked of the API server, by HTTP status.
inline constexpr const char* kRequests = "rest_client_requests_total";

/// One after the other: each finds the world as the first one did. From one thread.
class Player {
 public:
  /// Called with a line for each step that has been done.
  using Print = std::function<void(const std::string& line)>;

  /// Registers the webhook and starts the operator. `world` outlives it.
  static Result<std::unique_ptr<Player>> start(World& world, Print print);

  /// Errors: the first thing that was not as expected, with file and line. Also when the operator was forbidden
  /// anything.
  Status play(const Scenario& scenario);

 private:
  Player(World& world, Print print) : world_(world), print_(std::move(print)), kinds_(world.client()) {}

  Status start_operator();
  Status set_up(const Scenario& scenario);
  Status play_steps(const Scenario& scenario);
  /// Whatever the scenario left behind: namespace, lost nodes, processes that do not run.
  Status tidy_up();
  Status revive();
  Status play_step(const Step& step);
  Status check_always() const;
  /// That the operator was not forbidden anything since the scenario began, or since it was started.
  Status check_forbidden();

  Status act(const Step& step, const Apply& apply);
  Status act(const Step& step, const Patch& patch);
  Status act(const Step& step, const Delete& action);
  Status act(const Step& step, const FailPods& fail);
  Status act(const Step& step, const LoseNodes& lose);
  Status act(const Step& step, const ReturnNodes& all);
  Status act(const Step& step, const Control& control);
  Status act(const Step& step, const Run& run);
  Status act(const Step& step, const Remember& remember);
  Status act(const Step& step, const Expect& expect);
  Status control_operator(const std::string& verb);
  Status mark_node(const std::string& node, const Json& ready);

  struct CommandResult {
    int status = 0;
    std::string output;
  };
  [[nodiscard]] Result<CommandResult> run_command(const std::string& command, Duration limit);
  [[nodiscard]] Result<ResourceType> type_of(const Target& target);
  /// In the namespace of the scenario; none if the one that is named is not there.
  [[nodiscard]] Result<std::vector<Json>> find(const Target& target);
  /// Tries again until it says nothing. Errors: Timeout with what it said last.
  Status until(Duration limit, const std::function<std::string()>& problem);

  World& world_;
  const Print print_;
  const RealClock clock_;
  Kinds kinds_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  double forbidden_before_ = 0;  ///< What the operator's counter said at the start of the scenario.
  bool operator_paused_ = false;
  bool apiserver_away_ = false;

  // Of the scenario that is played.
  std::string space_;
  std::string kubeconfig_;
  Memory memory_;
  std::set<std::string> lost_nodes_;
  std::vector<std::unique_ptr<Always>> always_;
};

}  // namespace tpuslice::e2e
