#include "tests/bench/admission/server_process.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "webhook/webhook_server.h"

namespace tpuslice::bench {
namespace {

/// Certificates are read from files, so that the server sends no requests.
class NoApi final : public http::Transport {
 public:
  Result<http::Response> call(const http::Request&, Duration, std::stop_token) override { return unavailable(); }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return unavailable();
  }

 private:
  static Error unavailable() { return Error::unavailable("no API server"); }
};

template <typename T>
bool send_value(int socket, const T& value) {
  return ::send(socket, &value, sizeof(value), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(value));
}

template <typename T>
bool receive_value(int socket, T& value) {
  return ::recv(socket, &value, sizeof(value), MSG_WAITALL) == static_cast<ssize_t>(sizeof(value));
}

/// The child: sends its port, then reads its certificates for each byte received, until the parent closes the socket.
int serve(int socket, const std::string& certificate_directory) {
  const RealClock clock;
  Metrics metrics;
  NoApi api;
  client::Client client(api);
  webhook::WebhookServerOptions options;
  options.certificate_directory = certificate_directory;
  const auto server = webhook::WebhookServer::start(options, client, client, clock, metrics, {});
  if (!server.ok() || !send_value(socket, (*server)->port())) return EXIT_FAILURE;
  for (char request = 0; receive_value(socket, request);) {
    (*server)->step({});
    if (!send_value(socket, request)) break;
  }
  (*server)->stop();
  return EXIT_SUCCESS;
}

}  // namespace

Result<ServerProcess> ServerProcess::start(const std::string& certificate_directory) {
  int sockets[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Error::unavailable("socketpair failed");
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(sockets[0]);
    std::_Exit(serve(sockets[1], certificate_directory));
  }
  ::close(sockets[1]);
  ServerProcess server(child, sockets[0]);
  if (child < 0 || !receive_value(server.socket_, server.port_))
    return Error::unavailable("the webhook server did not start");
  return server;
}

ServerProcess::~ServerProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

Status ServerProcess::reload_certificates() {
  char request = 'c';
  if (!send_value(socket_, request) || !receive_value(socket_, request))
    return Error::unavailable("the webhook server has exited");
  return {};
}

}  // namespace tpuslice::bench
