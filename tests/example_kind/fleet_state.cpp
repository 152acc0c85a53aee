#include "tests/example_kind/fleet_state.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "tests/example_kind/rules/fleet_labels.h"
#include "tests/example_kind/rules/validator.h"

namespace tpuslice::example {
namespace {

/// The number in a label; nothing if it is absent or not a number below `end`.
std::optional<std::int64_t> index_of(const PodView& pod, std::string_view label, std::int64_t end) {
  const std::string& text = pod.label(label);
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < 0 || number >= end) return std::nullopt;
  return number;
}

/// Which pod of the spec it is; nothing if the spec does not ask for it.
std::optional<HostIndex> desired_index(const PodView& pod, const FleetSpec& spec) {
  const auto ship = index_of(pod, kShip, spec.ships);
  const auto host = index_of(pod, kHost, spec.hosts);
  if (!ship || !host) return std::nullopt;
  const HostIndex index{*ship, *host};
  return pod.key.name == pod_name(spec.key.name, index) ? std::optional(index) : std::nullopt;
}

}  // namespace

bool Ship::complete() const {
  return std::ranges::all_of(pods, [](const PodPtr& pod) { return pod != nullptr && !pod->terminating(); });
}

bool Ship::terminating() const {
  return std::ranges::any_of(pods, [](const PodPtr& pod) { return pod != nullptr && pod->terminating(); });
}

bool Ship::ready() const {
  return complete() && std::ranges::all_of(pods, [](const PodPtr& pod) { return pod->ready; });
}

bool Ship::running() const {
  return complete() && std::ranges::all_of(pods, [](const PodPtr& pod) { return pod->phase == PodPhase::kRunning; });
}

FleetState::FleetState(const FleetObserved& observed) : seen(observed), spec(observed.fleet.spec()) {
  // A spec that is refused may have any number.
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(spec.ships, 0, kMaxShips));
  ships.resize(count, Ship{std::vector<PodPtr>(static_cast<std::size_t>(spec.hosts))});
  for (const PodPtr& pod : seen.pods) {
    const std::optional<HostIndex> index = desired_index(*pod, spec);
    if (index && index->ship < static_cast<std::int64_t>(count)) {
      ships[static_cast<std::size_t>(index->ship)].pods[static_cast<std::size_t>(index->host)] = pod;
    } else {
      surplus.push_back(pod);
    }
  }
  std::ranges::sort(surplus, {}, [](const PodPtr& pod) { return pod->key; });
}

}  // namespace tpuslice::example
