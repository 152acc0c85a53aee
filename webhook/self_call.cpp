#include "webhook/self_call.h"

#include <fmt/format.h>

#include "api/http/client/network_transport.h"

namespace tpuslice::webhook {
namespace {

/// The host at which a server that listens on `address` is reached from this machine.
std::string host_to_call(const std::string& address) {
  const std::string host = address.substr(0, address.rfind(':'));
  const bool every_address = host.empty() || host == "0.0.0.0" || host == "[::]";
  return every_address ? "127.0.0.1" : host;
}

}  // namespace

Status self_call(const SelfCall& call, const std::stop_token& stop) {
  http::TransportOptions options;
  options.server = fmt::format("https://{}:{}", host_to_call(call.address), call.port);
  options.ca = call.authorities;
  options.insecure_skip_verify = call.authorities.empty();
  options.tls_server_name = call.server_name;
  ASSIGN_OR_RETURN(const auto transport, http::make_network_transport(options));
  http::Request request;
  request.target = kHealthPath;
  ASSIGN_OR_RETURN(const http::Response response, transport->call(request, call.deadline, stop));
  if (response.status == 200) return {};
  return Error::unavailable("GET {} of {}: status {}, expected 200", kHealthPath, options.server, response.status);
}

}  // namespace tpuslice::webhook
