// The webhook's server in a process of its own, so that its CPU time is apart from that of who asks it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "api/base/result.h"

namespace tpuslice::bench {

/// Used by one thread.
class ServerProcess {
 public:
  /// Forks: before this process has a second thread. The server has the certificate of that directory.
  /// Errors: Unavailable.
  static Result<ServerProcess> start(const std::string& certificate_directory);
  ~ServerProcess();  ///< Ends it.
  ServerProcess(ServerProcess&& other) noexcept : child_(other.child_), socket_(other.socket_), port_(other.port_) {
    other.child_ = -1;
    other.socket_ = -1;
  }
  ServerProcess& operator=(ServerProcess&&) = delete;

  [[nodiscard]] pid_t pid() const { return child_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// It looks at its certificates now, and has taken them when this returns. Errors: Unavailable.
  Status look_at_certificates();

 private:
  ServerProcess(pid_t child, int socket) : child_(child), socket_(socket) {}

  pid_t child_;
  int socket_;
  std::uint16_t port_ = 0;
};

}  // namespace tpuslice::bench
