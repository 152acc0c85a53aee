// plain_get(): HTTP without TLS, by cpprestsdk's client, which shares no code with the servers of this program.
//
// For tests of these servers. A library of its own (tpuslice::http_plain), so that the operator does not carry it.
#pragma once

#include <string>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::http {

struct PlainResponse {
  int status = 0;
  std::string body;
};

/// GET of http://127.0.0.1:port/path over a new connection. Errors: Unavailable.
[[nodiscard]] Result<PlainResponse> plain_get(int port, const std::string& path, Duration limit);

}  // namespace tpuslice::http
