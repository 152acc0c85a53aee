// plain_get(): HTTP without TLS, by a client that shares no code with the servers of this program.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::testing {

struct PlainResponse {
  int status = 0;
  std::string body;
};

/// GET of http://127.0.0.1:port/path over a new connection. Errors: Unavailable.
[[nodiscard]] Result<PlainResponse> plain_get(int port, const std::string& path, Duration limit);

}  // namespace tpuslice::testing
