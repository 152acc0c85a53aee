// The webhook server in a child process, so that its CPU time is measured separately.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "api/base/result.h"

namespace tpuslice::bench {

/// Used by one thread.
class ServerProcess {
 public:
  /// Forks, so this process must not have other threads yet. The server uses the certificate in that directory.
  /// Errors: Unavailable.
  static Result<ServerProcess> start(const std::string& certificate_directory);
  ~ServerProcess();  ///< Stops it.
  ServerProcess(ServerProcess&& other) noexcept : child_(other.child_), socket_(other.socket_), port_(other.port_) {
    other.child_ = -1;
    other.socket_ = -1;
  }
  ServerProcess& operator=(ServerProcess&&) = delete;

  [[nodiscard]] pid_t pid() const { return child_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Makes the server read its certificate; returns when it is served. Errors: Unavailable.
  Status reload_certificates();

 private:
  ServerProcess(pid_t child, int socket) : child_(child), socket_(socket) {}

  pid_t child_;
  int socket_;
  std::uint16_t port_ = 0;
};

}  // namespace tpuslice::bench
