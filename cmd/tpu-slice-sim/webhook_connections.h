// WebhookConnections: how the simulated API server reaches the operator's webhook: over HTTPS, with the CA that the
// webhook configuration names, as a real one would.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "api/base/mutex.h"
#include "api/http/transport.h"
#include "api/types/json.h"

namespace tpuslice {

/// Thread-safe. A `service` of a webhook's clientConfig is taken to be served on a port of this machine, since the
/// simulated cluster has no network.
class WebhookConnections {
 public:
  /// Every service leads to this port from now on.
  void set_port(std::uint16_t port) TPUSLICE_EXCLUDES(mutex_);

  /// The connection for a `clientConfig`; kept for the next call with the same one.
  ///
  /// Errors: InvalidArgument for a clientConfig that cannot be used; Unavailable while there is no webhook or no CA.
  [[nodiscard]] Result<std::shared_ptr<http::Transport>> connect(const Json& client_config) TPUSLICE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::uint16_t port_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  /// By server, name and CA. A rotated CA adds one; there are few in a simulator's life.
  std::map<std::string, std::shared_ptr<http::Transport>> open_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice
