// The threads that cpprestsdk works on, and what it changes of the process.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tpuslice::http {

/// The threads that do cpprestsdk's I/O; process-wide by its nature. Every transport holds a share, and the last share
/// stops and joins them. Never let go of the last one on such a thread.
class IoThreads {
 public:
  virtual ~IoThreads() = default;
};

/// Starts them, or joins in. A program calls this before it has other threads, since it sets SSL_CERT_FILE and
/// SSL_CERT_DIR to nothing (cpprestsdk would read the system's CAs, which we never trust, at every connection: 25 ms).
/// It also ignores SIGPIPE, which OpenSSL would raise for a closed connection.
[[nodiscard]] std::shared_ptr<IoThreads> start_io();

/// The environment ("NAME=value") as it was before start_io() changed it, and `added`, of which the last of a name
/// counts: what child processes are to have.
[[nodiscard]] std::vector<std::string> environment_for_children(
    const std::vector<std::pair<std::string, std::string>>& added = {});

}  // namespace tpuslice::http
