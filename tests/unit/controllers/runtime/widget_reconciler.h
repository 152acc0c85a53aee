// WidgetReconciler: creates spec.replicas pods for a Widget and counts them in its status.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"
#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {

class WidgetReconciler final : public plan::Reconciler {
 public:
  WidgetReconciler(const ObjectStore& widgets, PodStore& pods)
      : widgets_(widgets), pods_(pods), pods_by_owner_(pods.add_index(owner_uid<PodView>)) {}

  [[nodiscard]] std::string name() const override { return "widget"; }
  [[nodiscard]] ResourceType resource() const override { return kWidgets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override {
    ++plans;
    plan::Plan plan;
    const auto widget = widgets_.get(input.key);
    if (!widget || widget->minimal) return plan;
    const Object object = widget->object();
    const Json spec = object.json()["spec"];
    if (spec.contains("throw")) throw std::runtime_error("reconciler bug");
    if (spec.contains("ask")) {
      plan.requests.push_back({.name = "ask",
                               .method = spec.value("method", "GET"),
                               .address = "10.0.0.7:80",
                               .target = spec["ask"].get<std::string>()});
    }
    if (spec.contains("requeue")) plan.requeue_after = std::chrono::seconds(spec["requeue"].get<int>());
    const int replicas = spec.value("replicas", 0);
    plan::Stage stage;
    for (int i = 0; i < replicas; ++i) {
      const std::string name = input.key.name + "-" + std::to_string(i);
      if (pods_.get({input.key.namespace_name, name})) continue;
      stage.actions.push_back(plan::Action::create(kPods, pod(name, &object)));
      stage.actions.back().failure_reason = "FailedCreatePod";
      stage.actions.back().events = created;
    }
    if (!stage.actions.empty()) {
      plan.reason = "create " + std::to_string(stage.actions.size()) + " pods";
      plan.stages.push_back(std::move(stage));
    }
    Json status = {{"pods", pods_by_owner_.lookup(widget->uid).size()}};
    if (input.last_failure) status["failure"] = input.last_failure->reason;
    plan.status = plan::StatusPatch{std::move(status), counts_only};
    if (input.last_failure && spec.contains("wait")) {
      plan.stages.clear();
      plan.keeps_failure = true;
    }
    if (input.last_failure && spec.contains("skip") && !plan.stages.empty()) {
      std::erase_if(plan.stages.front().actions, [](const auto& action) { return action.key.name.ends_with("-0"); });
      plan.keeps_failure = true;
    }
    plan.measurements = measurements;
    return plan;
  }

  mutable std::atomic<int> plans = 0;
  /// What is reported of all creates.
  std::shared_ptr<const plan::ActionEvents> created = std::make_shared<const plan::ActionEvents>(
      plan::ActionEvents{.on_success = {{plan::EventType::kNormal, "Created", "Create", "created pods"}}});
  std::vector<plan::Measurement> measurements;  ///< Copied into every plan.
  bool counts_only = false;                     ///< Of the status.

 private:
  const ObjectStore& widgets_;
  const PodStore& pods_;
  const Index<PodView> pods_by_owner_;
};

}  // namespace tpuslice::runtime
