// ApiServer: the Kubernetes REST API over a Registry; kubectl and our own client talk to it.
#pragma once

#include <string>

#include "api/http/server.h"
#include "api/http/transport.h"
#include "api/sim/registry.h"

namespace tpuslice::sim {

struct ApiServerOptions {
  Duration bookmark_every = std::chrono::seconds(60);  ///< In watches that allow bookmarks.
  Duration watch_timeout = std::chrono::minutes(30);   ///< Of watches that do not say.
  std::string version = "v1.34.1";                     ///< gitVersion of /version.
};

/// Thread-safe. Answers in JSON only. Everybody may do everything; who asks is what admission sees.
class ApiServer {
 public:
  explicit ApiServer(Registry& registry, ApiServerOptions options = {});

  /// A watch comes back as a stream that its reader drives.
  [[nodiscard]] http::Reply handle(const http::Request& request, const UserInfo& user);

  [[nodiscard]] Registry& registry() { return registry_; }

 private:
  Registry& registry_;
  const ApiServerOptions options_;
};

}  // namespace tpuslice::sim
