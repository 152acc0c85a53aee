// The children of a Fleet as they should be.
#pragma once

#include <memory>

#include "controllers/plan/child.h"
#include "tests/example_kind/fleet_options.h"
#include "tests/example_kind/observed.h"

namespace tpuslice::example {

/// The headless service that gives the hosts their DNS names.
[[nodiscard]] Json build_service(const FleetSpec& spec);
[[nodiscard]] plan::ChildDecision decide_service(const FleetObserved& seen);

/// The ConfigMap with the flag, which pods may mount.
[[nodiscard]] Json build_flag(const FleetSpec& spec);
[[nodiscard]] plan::ChildDecision decide_flag(const FleetObserved& seen);

/// Builds pods when they are sent, so it outlives the observation. Thread-safe.
class PodBuilder {
 public:
  PodBuilder(Typed<FleetSpec> fleet, Options options) : fleet_(std::move(fleet)), options_(std::move(options)) {}

  /// Errors: mutate_pod()'s.
  [[nodiscard]] Result<Json> build(HostIndex index) const;

 private:
  const Typed<FleetSpec> fleet_;
  const Options options_;
};

}  // namespace tpuslice::example
