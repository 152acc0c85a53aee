#include "tests/example_kind/decisions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tests/example_kind/children.h"
#include "tpu/rules/limits.h"

namespace tpuslice::example {
namespace {

/// Why the ship cannot go on; empty if it can.
std::string defect_of(const Ship& ship, std::string_view name) {
  for (const PodPtr& pod : ship.pods) {
    if (pod == nullptr || pod->terminating() || !pod->finished()) continue;
    return fmt::format("pod {} has {}", pod->key.name, pod->phase == PodPhase::kFailed ? "failed" : "succeeded");
  }
  const bool runs = std::ranges::any_of(ship.pods, [](const PodPtr& pod) {
    return pod != nullptr && !pod->terminating() && pod->phase == PodPhase::kRunning;
  });
  return runs && !ship.complete() ? fmt::format("ship {} has lost a host", name) : std::string();
}

std::vector<PodPtr> to_delete(const std::vector<PodPtr>& pods) {
  std::vector<PodPtr> out;
  std::ranges::copy_if(pods, std::back_inserter(out),
                       [](const PodPtr& pod) { return pod != nullptr && !pod->terminating(); });
  return out;
}

}  // namespace

Decisions decide(const FleetState& state) {
  Decisions out;
  out.service = decide_service(state.seen);
  out.flag = decide_flag(state.seen);
  out.surplus = to_delete(state.surplus);
  for (std::size_t i = 0; i < state.ships.size(); ++i) {
    const Ship& ship = state.ships[i];
    const auto index = static_cast<std::int64_t>(i);
    std::string defect = defect_of(ship, ship_name(state.spec.key.name, index));
    if (!defect.empty()) {
      out.restarts.push_back({index, to_delete(ship.pods), std::move(defect)});
      continue;
    }
    if (ship.terminating() || out.create.size() >= rules::kMaxCreatesPerPlan) continue;
    for (std::size_t host = 0; host < ship.pods.size(); ++host) {
      if (ship.pods[host] == nullptr) out.create.push_back({index, static_cast<std::int64_t>(host)});
    }
  }
  return out;
}

}  // namespace tpuslice::example
