// FleetWorld: a Fleet and its children, with simple slice controllers and a kubelet, for tests of the planner.
#pragma once

#include <string>
#include <vector>

#include "tests/example_kind/fleet_plan.h"
#include "tests/example_kind/fleet_state.h"
#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/support/plan_world.h"

namespace tpuslice::example {

/// What a Fleet of a test has. Empty topology: no TPUs, so a ship has one pod.
struct FleetShape {
  std::int64_t ships = 2;
  std::string topology = "2x4";  ///< Two hosts of four chips.
  std::string flag = "blue";
};

/// The Fleet "north".
[[nodiscard]] inline Json fleet_of(const FleetShape& shape) {
  Json pod = {{"spec", {{"containers", Json::array({{{"name", "crew"}, {"image", "crew"}}})}}}};
  if (!shape.topology.empty()) {
    pod["spec"]["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"},
                                   {"cloud.google.com/gke-tpu-topology", shape.topology}};
    pod["spec"]["containers"][0]["resources"] = {{"limits", {{"google.com/tpu", "4"}}}};
  }
  return {{"apiVersion", "example.com/v1"},
          {"kind", "Fleet"},
          {"metadata",
           {{"name", "north"},
            {"namespace", "default"},
            {"uid", "uid-of-north"},
            {"resourceVersion", "1"},
            {"generation", 1}}},
          {"spec", {{"ships", shape.ships}, {"flag", shape.flag}, {"template", std::move(pod)}}}};
}

/// The plan as the controller of an operator with scheduling gates makes it.
[[nodiscard]] inline plan::Plan plan_of(const FleetObserved& seen) {
  static const Options kGated{.mutation = {.kinds = own_kinds(), .gate = true}};
  return plan_fleet(seen, kGated);
}

class FleetWorld final : public plan::PlanWorld {
 public:
  explicit FleetWorld(const FleetShape& shape = {})
      : PlanWorld(kFleets, fleet_of(shape), Timestamp(std::chrono::seconds(1'800'000'000))) {}

  [[nodiscard]] FleetObserved observed() const {
    FleetObserved seen;
    seen.fleet = object();
    seen.pods = views<PodView>(kPods);
    const auto services = views<ServiceView>(kServices);
    if (!services.empty()) seen.service = services.front();
    const auto flags = views<ConfigMapView>(kConfigMaps);
    if (!flags.empty()) seen.flag = flags.front();
    seen.now = now_;
    seen.last_failure = last_failure();
    return seen;
  }

  [[nodiscard]] plan::Plan plan() const override { return plan_of(observed()); }
  /// Ten seconds pass. Terminating pods are deleted; the pods of complete ships lose their gate and run.
  void advance() override {
    now_ += std::chrono::seconds(10);
    std::erase_if(pods(), [](const auto& pod) { return pod.second["metadata"].contains("deletionTimestamp"); });
    const FleetObserved seen = observed();
    const FleetState state(seen);
    for (const Ship& ship : state.ships) {
      if (!ship.complete()) continue;
      for (const PodPtr& pod : ship.pods) {
        if (pod->phase == PodPhase::kPending) start(pods().at(pod->key.name));
      }
    }
  }

  void fail(const std::string& pod) { pods().at(pod)["status"] = {{"phase", "Failed"}}; }
  void set_spec(const std::string& field, Json value) { object().mutable_json()["spec"][field] = std::move(value); }
  [[nodiscard]] Objects& pods() { return objects(kPods); }
  [[nodiscard]] const Objects& pods() const { return objects(kPods); }
  [[nodiscard]] Json status() const { return plan::status_of(object()); }

 private:
  static void start(Json& pod) {
    pod["spec"].erase("schedulingGates");
    pod["spec"]["nodeName"] = "node-a";
    pod["status"] = {{"phase", "Running"}, {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  }
};

}  // namespace tpuslice::example
