// Events of the simulated components.
#pragma once

#include <string>

#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

struct SimEvent {
  std::string component;  ///< "default-scheduler"
  std::string kind;       ///< Kind of the object: "Pod"
  const Json* about = nullptr;
  std::string type;  ///< Normal or Warning
  std::string reason;
  std::string message;
};

/// Writes a core/v1 Event. A repeated event increments its count; an event that cannot be written is lost, as
/// real ones are.
void record_event(Registry& registry, const SimEvent& event);

}  // namespace tpuslice::sim
