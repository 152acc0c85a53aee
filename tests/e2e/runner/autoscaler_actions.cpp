// ScenarioRunner: the autoscaler of a scenario.
#include "tests/e2e/runner/scenario_runner.h"

namespace tpuslice::e2e {

Status ScenarioRunner::start_autoscaler(const testing::AutoscalerOptions& options) {
  autoscaler_ = std::make_unique<testing::AutoscalerThread>(world_.client(), world_.client(), options);
  return autoscaler_->start();
}

Status ScenarioRunner::remove_autoscaler() {
  RETURN_IF_ERROR(autoscaler_->remove_all());
  autoscaler_.reset();
  return {};
}

Status ScenarioRunner::act(const Step&, const ControlAutoscaler& control) {
  if (control.run) return autoscaler_->start();
  autoscaler_->stop();
  return {};
}

Status ScenarioRunner::act(const Step&, const SetCapacity& set) {
  return autoscaler_->set_capacity(set.group, set.available);
}

}  // namespace tpuslice::e2e
