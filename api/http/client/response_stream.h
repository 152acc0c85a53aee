// ResponseStream: the body of a response that goes on, read by the thread that waits for it. Private to this folder.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/http/client/connection.h"
#include "api/http/client/failure.h"
#include "api/http/transport.h"

namespace tpuslice::http {

/// Has no thread and receives only in read(): bytes that are not read stay in the socket, so that TCP flow control
/// slows the server down.
class ResponseStream final : public Stream {
 public:
  /// `connector` is the one of `connection`, which is used for nothing else from here on. `what` begins the message of
  /// an error.
  ResponseStream(std::shared_ptr<const Connector> connector, std::unique_ptr<Connection> connection, std::string what);
  ~ResponseStream() override;
  ResponseStream(const ResponseStream&) = delete;
  ResponseStream& operator=(const ResponseStream&) = delete;

  /// Sends `call` and reads status and headers. First, and once; after a failure the stream cannot be used.
  std::optional<Failure> send(const Call& call);

  [[nodiscard]] int status() const override { return head_.status; }
  [[nodiscard]] const Headers& headers() const override { return head_.headers; }
  /// At most `options.stream_buffer` bytes, and all that have arrived up to there.
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override;

 private:
  struct Packing;
  class Body;

  /// What a read returns that got `problem` and no bytes.
  [[nodiscard]] Result<std::string> without_bytes(const Socket::ErrorCode& problem, const std::stop_token& stop) const;

  const std::shared_ptr<const Connector> connector_;
  const std::string what_;
  const std::unique_ptr<Connection> connection_;
  const RealClock clock_;
  Response head_;
  Instant heard_;  ///< When bytes last came.
  const std::unique_ptr<Body> body_;
};

}  // namespace tpuslice::http
