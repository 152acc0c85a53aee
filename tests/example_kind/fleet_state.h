// FleetState: what a plan decides from, derived from one observation.
#pragma once

#include <vector>

#include "tests/example_kind/observed.h"

namespace tpuslice::example {

struct Ship {
  std::vector<PodPtr> pods;  ///< By host; null where there is none.

  [[nodiscard]] bool complete() const;     ///< All hosts exist, and none is terminating.
  [[nodiscard]] bool terminating() const;  ///< A host is terminating.
  [[nodiscard]] bool ready() const;
  [[nodiscard]] bool running() const;
};

/// Borrows from the observation.
struct FleetState {
  explicit FleetState(const FleetObserved& observed);

  const FleetObserved& seen;
  const FleetSpec& spec;
  std::vector<Ship> ships;      ///< Those that the spec asks for.
  std::vector<PodPtr> surplus;  ///< Pods that the spec does not ask for, by name.
};

}  // namespace tpuslice::example
