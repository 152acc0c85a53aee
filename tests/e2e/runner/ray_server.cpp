#include "tests/e2e/runner/ray_server.h"

#include <fmt/format.h>

#include "api/base/pause.h"

namespace tpuslice::e2e {
namespace {

/// Longer than the operator waits for an answer.
constexpr Duration kSlow = std::chrono::seconds(8);

}  // namespace

Result<std::unique_ptr<RayServer>> RayServer::start() {
  std::unique_ptr<RayServer> out(new RayServer());
  http::ServerOptions options;
  options.threads = 8;
  options.drain = std::chrono::milliseconds(100);
  ASSIGN_OR_RETURN(out->server_,
                   http::Server::start(std::move(options), out->clock_,
                                       [self = out.get()](const http::Request& request, const http::Peer&) {
                                         std::optional<http::Response> response = self->dashboards_.handle(request);
                                         http::Reply reply;
                                         if (!response) {
                                           pause(kSlow, self->stop_.get_token());
                                           response = http::Response{504, {}, "too late"};
                                         }
                                         reply.response = *std::move(response);
                                         return reply;
                                       }));
  return out;
}

RayServer::~RayServer() { stop_.request_stop(); }

std::string RayServer::address() const { return fmt::format("127.0.0.1:{}", server_->port()); }

}  // namespace tpuslice::e2e
