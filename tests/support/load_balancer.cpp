#include "tests/support/load_balancer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace tpuslice::testing {
namespace {

constexpr int kPollMilliseconds = 100;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// -1 if the port refuses connections.
int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;  // NOLINT
  close(fd);
  return -1;
}

/// Moves what has arrived; false at the end of the connection.
bool forward(int from, int to) {
  std::array<char, 16384> buffer{};
  const ssize_t size = recv(from, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  ssize_t sent = 0;
  while (sent < size) {
    const ssize_t part = send(to, buffer.data() + sent, static_cast<std::size_t>(size - sent), MSG_NOSIGNAL);
    if (part <= 0) return false;
    sent += part;
  }
  return true;
}

}  // namespace

struct LoadBalancer::Connection {
  Connection(int client, int server)
      : thread([this, client, server](const std::stop_token& stop) {
          std::array<pollfd, 2> both = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
          bool open = true;
          while (open && !stop.stop_requested()) {
            if (poll(both.data(), both.size(), kPollMilliseconds) <= 0) continue;
            if (both[0].revents != 0) open = forward(client, server);
            if (open && both[1].revents != 0) open = forward(server, client);
          }
          close(client);
          close(server);
          done = true;
        }) {}

  std::atomic<bool> done = false;
  std::jthread thread;
};

Result<std::unique_ptr<LoadBalancer>> LoadBalancer::start(int network) {
  std::unique_ptr<LoadBalancer> out(new LoadBalancer());
  Status status;
  // A socket stays in the namespace of the thread that makes it.
  std::thread([&] { status = out->listen_in(network); }).join();
  if (!status) return status.error();
  out->acceptor_ = std::jthread([self = out.get()](const std::stop_token& stop) { self->accept(stop); });
  return out;
}

Status LoadBalancer::listen_in(int network) {
  if (network >= 0 && setns(network, CLONE_NEWNET) != 0) {
    return Error::unavailable("load balancer: network namespace: {}", std::strerror(errno));
  }
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT
  if (bind(listener_, generic, length) != 0 || listen(listener_, SOMAXCONN) != 0 ||
      getsockname(listener_, generic, &length) != 0) {
    return Error::unavailable("load balancer: {}", std::strerror(errno));
  }
  port_ = ntohs(address.sin_port);
  return {};
}

LoadBalancer::~LoadBalancer() {
  if (acceptor_.joinable()) {
    acceptor_.request_stop();
    acceptor_.join();
  }
  if (listener_ >= 0) close(listener_);
}

void LoadBalancer::set_backends(std::vector<int> ports) {
  const MutexLock lock(mutex_);
  backends_ = std::move(ports);
}

int LoadBalancer::next_backend() {
  const MutexLock lock(mutex_);
  return backends_.empty() ? 0 : backends_[turn_++ % backends_.size()];
}

void LoadBalancer::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    connections_.remove_if([](const auto& connection) { return connection->done.load(); });
    pollfd waiting{listener_, POLLIN, 0};
    if (poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0) continue;
    const int backend = next_backend();
    const int server = backend == 0 ? -1 : connect_to(backend);
    if (server < 0) {
      close(client);
    } else {
      connections_.push_back(std::make_unique<Connection>(client, server));
    }
  }
  connections_.clear();
}

}  // namespace tpuslice::testing
