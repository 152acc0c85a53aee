// LeanClient: the client of the floor, which sends prepared requests and does nothing else.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/client/config.h"
#include "api/http/testing/blocking_connection.h"

namespace tpuslice::bench {

inline constexpr int kInFlight = 16;  ///< Requests in flight, as the operator's default.

/// For the user of `config`. Errors: InvalidArgument.
[[nodiscard]] Result<http::BlockingOptions> connection_options(const client::ClientConfig& config);

/// Connections with one thread each. They read only the status of a reply and send only necessary headers.
class LeanClient {
 public:
  /// Opens all connections and sends one request on each. Errors: Unavailable, InvalidArgument.
  static Result<std::unique_ptr<LeanClient>> connect(const client::ClientConfig& config, int connections);

  /// POSTs each body to `path`; a connection sends the next body when it has a reply.
  /// Errors: the first error, with the reply.
  Status post(const std::string& path, const std::vector<std::string>& bodies);
  /// DELETEs each of `paths` likewise.
  Status remove(const std::vector<std::string>& paths);

 private:
  LeanClient() = default;
  Status for_each(std::size_t count, const std::function<Status(http::BlockingConnection&, std::size_t)>& send);

  std::vector<std::unique_ptr<http::BlockingConnection>> connections_;
};

}  // namespace tpuslice::bench
