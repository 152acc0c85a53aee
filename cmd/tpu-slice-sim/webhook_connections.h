// WebhookConnections: connections of the simulated API server to the operator's webhook, over HTTPS with the CA of the
// webhook configuration.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "api/base/mutex.h"
#include "api/http/transport.h"
#include "api/types/json.h"

namespace tpuslice {

/// Thread-safe. A `service` in a webhook's clientConfig is resolved to a port of this machine, since the
/// simulated cluster has no network.
class WebhookConnections {
 public:
  /// Sets the port that every service is resolved to.
  void set_port(std::uint16_t port) TPUSLICE_EXCLUDES(mutex_);

  /// The connection for a `clientConfig`; reused for the next call.
  ///
  /// Errors: InvalidArgument for an invalid clientConfig; Unavailable while there is no webhook or no CA.
  [[nodiscard]] Result<std::shared_ptr<http::Transport>> connect(const Json& client_config) TPUSLICE_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::uint16_t port_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  /// Connections by server, name and CA. A rotated CA adds an entry.
  std::map<std::string, std::shared_ptr<http::Transport>> open_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice
