// ScenarioRunner: the autoscaler of a scenario.
#include "tests/e2e/runner/scenario_runner.h"

namespace tpuslice::e2e {
namespace {

constexpr ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                    "customresourcedefinitions", false};
constexpr Duration kCrdTimeout = std::chrono::seconds(30);

}  // namespace

Status ScenarioRunner::start_autoscaler(const testing::AutoscalerOptions& options) {
  autoscaler_ = std::make_unique<testing::AutoscalerThread>(world_.client(), world_.client(), options);
  if (options.provisioning_requests) {
    const auto created = world_.client().create(kDefinitions, Object(testing::provisioning_request_crd()));
    if (!created && created.error().code() != ErrorCode::kAlreadyExists) return created.error();
    RETURN_IF_ERROR(wait_until_empty(kCrdTimeout, [&]() -> std::string {
      const auto list = world_.client().list(testing::kProvisioningRequests);
      return list ? "" : list.error().message();
    }));
  }
  return autoscaler_->start();
}

Status ScenarioRunner::remove_autoscaler() {
  RETURN_IF_ERROR(autoscaler_->remove_all());
  autoscaler_.reset();
  const Status removed = world_.client().remove(kDefinitions, Object(testing::provisioning_request_crd()).key());
  return !removed && removed.error().code() == ErrorCode::kNotFound ? Status() : removed;
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
