#include "cmd/tpu-slice-sim/webhook_connections.h"

#include <utility>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/http/client/network_transport.h"
#include "api/http/url.h"

namespace tpuslice {

void WebhookConnections::set_port(std::uint16_t port) {
  const MutexLock lock(mutex_);
  port_ = port;
}

Result<std::shared_ptr<http::Transport>> WebhookConnections::connect(const Json& client_config) {
  const std::optional<std::string> ca = decode_base64(string_at(client_config, {"caBundle"}));
  if (!ca || ca->empty()) return Error::unavailable("the webhook configuration has no caBundle yet");
  http::TransportOptions options;
  options.ca = *ca;
  if (const std::string url = string_at(client_config, {"url"}); !url.empty()) {
    // The request has the path.
    ASSIGN_OR_RETURN(const http::BaseUrl base, http::parse_base_url(url));
    options.server = fmt::format("{}://{}:{}", base.scheme, base.host, base.port);
  }
  std::shared_ptr<http::Transport> transport;
  std::string id;
  {
    const MutexLock lock(mutex_);
    if (options.server.empty()) {
      if (port_ == 0) return Error::unavailable("no operator serves the webhook");
      options.server = fmt::format("https://127.0.0.1:{}", port_);
      options.tls_server_name = fmt::format("{}.{}.svc", string_at(client_config, {"service", "name"}),
                                            string_at(client_config, {"service", "namespace"}));
    }
    id = options.server + "\n" + options.tls_server_name + "\n" + options.ca;
    if (const auto found = open_.find(id); found != open_.end()) return found->second;
  }
  ASSIGN_OR_RETURN(transport, http::make_network_transport(options));
  const MutexLock lock(mutex_);
  return open_.emplace(std::move(id), std::move(transport)).first->second;
}

}  // namespace tpuslice
