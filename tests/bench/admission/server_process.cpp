#include "tests/bench/admission/server_process.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "webhook/webhook_server.h"

namespace tpuslice::bench {
namespace {

/// Certificates come from files: nothing is asked of an API server.
class NoApi final : public http::Transport {
 public:
  Result<http::Response> call(const http::Request&, Duration, std::stop_token) override { return none(); }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return none();
  }

 private:
  static Error none() { return Error::unavailable("there is no API server"); }
};

template <typename T>
bool put(int socket, const T& value) {
  return ::send(socket, &value, sizeof(value), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(value));
}

template <typename T>
bool take(int socket, T& value) {
  return ::recv(socket, &value, sizeof(value), MSG_WAITALL) == static_cast<ssize_t>(sizeof(value));
}

/// The child: says its port, then looks at its certificates whenever it is told, until nobody is there to tell.
int serve(int socket, const std::string& certificate_directory) {
  const RealClock clock;
  Metrics metrics;
  NoApi api;
  client::Client client(api);
  webhook::WebhookServerOptions options;
  options.certificate_directory = certificate_directory;
  const auto server = webhook::WebhookServer::start(options, client, clock, metrics, {});
  if (!server.ok() || !put(socket, (*server)->port())) return EXIT_FAILURE;
  for (char told = 0; take(socket, told);) {
    (*server)->step({});
    if (!put(socket, told)) break;
  }
  (*server)->stop();
  return EXIT_SUCCESS;
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const std::string& certificate_directory) {
  int sockets[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Error::unavailable("no pair of sockets");
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(sockets[0]);
    std::_Exit(serve(sockets[1], certificate_directory));
  }
  ::close(sockets[1]);
  ServerProcess server(child, sockets[0]);
  if (child < 0 || !take(server.socket_, server.port_)) return Error::unavailable("the server does not start");
  return server;
}

ServerProcess::~ServerProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

Status ServerProcess::look_at_certificates() {
  char told = 'c';
  if (!put(socket_, told) || !take(socket_, told)) return Error::unavailable("the server is gone");
  return {};
}

}  // namespace tpuslice::bench
