// ApiServer: the Kubernetes REST API over a Registry, for kubectl and the client in api/client.
#pragma once

#include <string>

#include "api/http/server/server.h"
#include "api/http/transport.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

struct ApiServerOptions {
  Duration bookmark_every = std::chrono::seconds(60);  ///< In watches that allow bookmarks.
  Duration watch_timeout = std::chrono::minutes(30);   ///< Timeout of watches without timeoutSeconds.
  std::string version = "v1.34.1";                     ///< gitVersion of /version.
};

/// Thread-safe. Responds in JSON only. Every user may do everything; admission sees the user.
class ApiServer {
 public:
  explicit ApiServer(Registry& registry, ApiServerOptions options = {});

  /// A watch returns a stream that its reader drives.
  [[nodiscard]] http::Reply handle(const http::Request& request, const UserInfo& user);

  [[nodiscard]] Registry& registry() { return registry_; }

 private:
  Registry& registry_;
  const ApiServerOptions options_;
};

}  // namespace tpuslice::sim
