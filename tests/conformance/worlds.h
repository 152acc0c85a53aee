// The worlds of exchanges: the simulated API server and a real one.
#pragma once

#include <memory>
#include <string>

#include "api/http/transport.h"

namespace tpuslice::testing {
class ControlPlane;
}

namespace tpuslice::conformance {

class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual http::Transport& transport() = 0;
  /// Lets controllers run and time pass.
  virtual void pause() = 0;
  /// Compacts the history, if possible; a real server does so periodically.
  virtual void expire() = 0;
  /// Maximum number of attempts of an `until` step.
  [[nodiscard]] virtual int attempts() const = 0;
};

/// The API server of cmd/tpu-slice-sim with its admission and namespace controller; no nodes; time passes only in
/// pause().
[[nodiscard]] std::unique_ptr<World> simulated_world();

/// `plane` outlives it.
[[nodiscard]] std::unique_ptr<World> real_world(testing::ControlPlane& plane);

/// Starts one with the namespace and service account controllers only.
[[nodiscard]] Result<std::unique_ptr<testing::ControlPlane>> start_plane();

}  // namespace tpuslice::conformance
