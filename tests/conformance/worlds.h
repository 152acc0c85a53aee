// The two worlds an exchange is played in: the simulated API server, and a real one.
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
  /// Controllers have a chance to act, a little time passes.
  virtual void pause() = 0;
  /// Forgets all history of which it can be made to; a real server does so by itself, in time.
  virtual void expire() = 0;
  /// How often something is asked for that has to come about.
  [[nodiscard]] virtual int attempts() const = 0;
};

/// The API server of api/sim with its admission and namespace controller; no nodes, time moves only in pause().
[[nodiscard]] std::unique_ptr<World> simulated_world();

/// `plane` outlives it.
[[nodiscard]] std::unique_ptr<World> real_world(testing::ControlPlane& plane);

/// Starts one with just what the exchanges are about: of all controllers, those of namespaces and service accounts.
[[nodiscard]] Result<std::unique_ptr<testing::ControlPlane>> start_plane();

}  // namespace tpuslice::conformance
