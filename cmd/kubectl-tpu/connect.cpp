#include "cmd/kubectl-tpu/connect.h"

#include "api/client/credentials.h"
#include "api/http/client/network_transport.h"
#include "api/http/rest/rest_transport.h"
#include "cmd/kubectl-tpu/logged_transport.h"

namespace tpuslice::plugin {
namespace {

/// Requests under way at the same time.
constexpr int kMaxParallel = 8;

}  // namespace

Result<Connection> connect_to_cluster(const GlobalOptions& options, const Clock& clock, const Logger& log) {
  Connection connection;
  ASSIGN_OR_RETURN(connection.config, client::find_config(options.kubeconfig, options.context));
  ASSIGN_OR_RETURN(http::TransportOptions transport, client::transport_options(connection.config, clock));
  transport.max_parallel = kMaxParallel;
  transport.user_agent = "kubectl-tpu";
  if (options.http == "own") {
    ASSIGN_OR_RETURN(connection.transport, http::make_network_transport(std::move(transport)));
  } else {
    ASSIGN_OR_RETURN(connection.transport, http::make_rest_transport(std::move(transport)));
  }
  connection.transport = std::make_unique<LoggedTransport>(std::move(connection.transport), clock, log);
  log.info("connecting", {{"server", connection.config.server}});
  return connection;
}

}  // namespace tpuslice::plugin
