// Crowd: TCP connections to servers of this machine from many addresses, without a thread for each.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tpuslice::testing {

/// Used by one thread. All of 127.0.0.0/8 are addresses of the loopback device; those of crowds begin with 127.1.
class Crowd {
 public:
  Crowd() = default;
  ~Crowd() { close(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  /// Connects from the address with that number, from 1, and sends `bytes`. The kernel keeps at most `window` bytes of
  /// what the server sends; 0: as many as it wants. False if the server does not accept.
  bool connect(int port, int address, std::string_view bytes = {}, int window = 0) {
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (window > 0) ::setsockopt(client, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    const sockaddr_in own = loopback(0x7f010000U + static_cast<std::uint32_t>(address), 0);
    const sockaddr_in server = loopback(0x7f000001U, port);
    const bool connected = ::bind(client, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
                           ::connect(client, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0;
    if (!connected) {
      ::close(client);
      return false;
    }
    if (!bytes.empty()) static_cast<void>(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    clients_.push_back(client);
    return true;
  }
  /// `count` connections, from `addresses` addresses in turns.
  void connect(int port, int addresses, int count, std::string_view bytes, int window = 0) {
    for (int i = 0; i < count; ++i) connect(port, 1 + i % addresses, bytes, window);
  }

  /// Reads what has arrived, at most `bytes` of each connection, and forgets it.
  void read(std::size_t bytes) {
    std::array<char, 65536> buffer{};
    for (const int client : clients_) {
      static_cast<void>(::recv(client, buffer.data(), std::min(bytes, buffer.size()), MSG_DONTWAIT));
    }
  }
  /// Each connection sends that once more.
  void send(std::string_view bytes) {
    for (const int client : clients_) {
      static_cast<void>(::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
  }
  void close() {
    for (const int client : clients_) ::close(client);
    clients_.clear();
  }
  [[nodiscard]] std::size_t size() const { return clients_.size(); }

 private:
  static sockaddr_in loopback(std::uint32_t address, int port) {
    return {.sin_family = AF_INET,
            .sin_port = htons(static_cast<std::uint16_t>(port)),
            .sin_addr = {htonl(address)},
            .sin_zero = {}};
  }

  std::vector<int> clients_;
};

}  // namespace tpuslice::testing
