// Transport: how a request reaches the API server. The only seam between this program and the network.
//
// Three implementations: the network, the simulated cluster in the same process, and one that injects faults in front
// of either. A Transport sends; it does not log and does not interpret a body. The network sends a
// request again only if a kept connection was closed before any of the response arrived, or once after a 401 with a
// new token.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"

namespace tpuslice::http {

/// Header names compare without case; `find_header` does.
using Headers = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] const std::string* find_header(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target;  ///< Path and query, percent-encoded: "/api/v1/pods?limit=500".
  Headers headers;     ///< Content-Type and Accept; credentials are the Transport's.
  std::string body;
  /// Asked right before the request is written, each time. False: it is not sent, which is Cancelled. Empty: always
  /// true.
  std::function<bool()> may_send = {};
  std::size_t max_response = 0;  ///< Bytes of the response if the transport's limit is higher; 0: that limit.
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

/// The body of an open streaming response (a watch), pulled by its one reader.
class Stream {
 public:
  virtual ~Stream() = default;  ///< Closes the connection, promptly.
  [[nodiscard]] virtual int status() const = 0;
  [[nodiscard]] virtual const Headers& headers() const = 0;

  /// The next bytes of the body, decompressed; empty when nothing came within `wait` (0 polls).
  ///
  /// Errors: Cancelled after `stop`; Unavailable when the connection broke; `end_of_stream()` when the server ended the
  /// body as it should. After an error there is nothing more to read.
  [[nodiscard]] virtual Result<std::string> read(Duration wait, std::stop_token stop) = 0;
};

/// The error of a body that ended as it should.
[[nodiscard]] Error end_of_stream();
[[nodiscard]] bool is_end_of_stream(const Error& error);

/// Thread-safe. Every call has a deadline (relative: the longest the caller will wait).
class Transport {
 public:
  virtual ~Transport() = default;

  /// Sends `request` and reads the whole response, whatever its status.
  ///
  /// Errors: Timeout, Cancelled (promptly after `stop`), Unavailable. After any of them the server may or may not have
  /// acted. ResponseTooLong if the response is longer than a limit.
  [[nodiscard]] virtual Result<Response> call(const Request& request, Duration deadline, std::stop_token stop) = 0;

  /// Sends `request` and returns once the response's headers are there. `deadline` bounds only that.
  [[nodiscard]] virtual Result<std::unique_ptr<Stream>> open(const Request& request, Duration deadline,
                                                             std::stop_token stop) = 0;
};

}  // namespace tpuslice::http
