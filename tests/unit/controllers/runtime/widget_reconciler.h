// A workload kind of the tests: a Widget wants spec.replicas pods and says in its status how many there are.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "controllers/runtime/reconciler.h"
#include "controllers/runtime/store.h"
#include "tests/unit/controllers/runtime/fake_api.h"

namespace tpuslice::runtime {

class WidgetReconciler final : public Reconciler {
 public:
  WidgetReconciler(const ObjectStore& widgets, const PodStore& pods) : widgets_(widgets), pods_(pods) {}

  [[nodiscard]] std::string name() const override { return "widget"; }
  [[nodiscard]] ResourceType resource() const override { return kWidgets; }
  [[nodiscard]] Result<Plan> plan(const ReconcileInput& input) const override {
    ++plans;
    Plan plan;
    const auto widget = widgets_.get(input.key);
    if (!widget) return plan;
    const Json& spec = widget->object.json()["spec"];
    if (spec.contains("throw")) throw std::runtime_error("a broken reconciler");
    if (spec.contains("requeue")) plan.requeue_after = std::chrono::seconds(spec["requeue"].get<int>());
    const int replicas = spec.value("replicas", 0);
    Stage stage;
    for (int i = 0; i < replicas; ++i) {
      const std::string name = input.key.name + "-" + std::to_string(i);
      if (pods_.get({input.key.namespace_name, name})) continue;
      stage.actions.push_back(Action::create(kPods, pod(name, &widget->object)));
      stage.actions.back().failure_reason = "FailedCreatePod";
    }
    if (!stage.actions.empty()) {
      plan.reason = "create " + std::to_string(stage.actions.size()) + " pods";
      plan.events.push_back({EventType::kNormal, "Created", "Create", "created pods", std::nullopt});
      plan.stages.push_back(std::move(stage));
    }
    Json status = {{"pods", pods_.lookup("owner/" + widget->uid).size()}};
    if (input.last_failure) status["failure"] = input.last_failure->reason;
    plan.status = StatusPatch{std::move(status)};
    plan.measurements = measurements;
    return plan;
  }

  mutable std::atomic<int> plans = 0;
  std::vector<Measurement> measurements;  ///< Of every plan.

 private:
  const ObjectStore& widgets_;
  const PodStore& pods_;
};

}  // namespace tpuslice::runtime
