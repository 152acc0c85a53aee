// The floor: how fast this control plane takes pods from somebody who has nothing else to do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/client/config.h"

namespace tpuslice::bench {

class LeanConnection;

/// Connections that send prepared bytes and read the status of the answer, one thread each. No JSON, no headers but the
/// necessary.
class LeanClient {
 public:
  /// Connects all of them and makes each say who it is. Errors: Unavailable, InvalidArgument.
  static Result<std::unique_ptr<LeanClient>> connect(const client::ClientConfig& config, int connections);
  ~LeanClient();
  LeanClient(const LeanClient&) = delete;
  LeanClient& operator=(const LeanClient&) = delete;

  /// POSTs each body to `path`; each connection takes the next one when it has an answer.
  /// Errors: the first refusal, with what the server said.
  Status post(const std::string& path, const std::vector<std::string>& bodies);

 private:
  LeanClient() = default;

  std::vector<std::unique_ptr<LeanConnection>> connections_;
};

}  // namespace tpuslice::bench
