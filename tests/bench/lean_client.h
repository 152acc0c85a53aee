// The floor: how fast this control plane takes pods from somebody who has nothing else to do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/client/config.h"
#include "api/http/blocking_connection.h"

namespace tpuslice::bench {

inline constexpr int kInFlight = 16;  ///< Requests at a time; the operator's default, too.

/// Of the user that `config` is of. Errors: InvalidArgument.
[[nodiscard]] Result<http::BlockingOptions> connection_options(const client::ClientConfig& config);

/// Connections that send prepared bytes and read the status of the answer, one thread each. No JSON, no headers but the
/// necessary.
class LeanClient {
 public:
  /// Connects all of them and makes each say who it is. Errors: Unavailable, InvalidArgument.
  static Result<std::unique_ptr<LeanClient>> connect(const client::ClientConfig& config, int connections);

  /// POSTs each body to `path`; each connection takes the next one when it has an answer.
  /// Errors: the first refusal, with what the server said.
  Status post(const std::string& path, const std::vector<std::string>& bodies);
  /// DELETEs each of `paths`, in the same way.
  Status remove(const std::vector<std::string>& paths);

 private:
  LeanClient() = default;
  Status for_each(std::size_t count, const std::function<Status(http::BlockingConnection&, std::size_t)>& send);

  std::vector<std::unique_ptr<http::BlockingConnection>> connections_;
};

}  // namespace tpuslice::bench
