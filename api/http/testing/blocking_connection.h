// BlockingConnection: one TLS connection, used by one thread, with as little around it as possible.
//
// For measuring the throughput and latency of a server. The program itself uses Transports. A library of
// its own (tpuslice::http_blocking), so that the operator does not carry it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/base/result.h"
#include "api/http/tls/identity.h"
#include "api/http/url.h"

namespace tpuslice::http {

struct BlockingOptions {
  BaseUrl server;
  std::string ca;                  ///< PEM; trusted, and nothing else.
  Identity identity;               ///< Empty: none is shown.
  std::string token;               ///< Sent as bearer token; empty: none.
  std::string local_address = {};  ///< Address of the client; empty: as the system chooses.
  int window = 0;                  ///< With `local_address`: bytes that the kernel keeps of what the server sends.
};

/// Errors of all calls: Unavailable, with the status and body of a refusal.
class BlockingConnection {
 public:
  /// Errors also: InvalidArgument for certificates that cannot be used.
  static Result<std::unique_ptr<BlockingConnection>> connect(const BlockingOptions& options);
  ~BlockingConnection();
  BlockingConnection(const BlockingConnection&) = delete;
  BlockingConnection& operator=(const BlockingConnection&) = delete;

  /// `body` is JSON. Of the answer only the status is looked at.
  Status post(const std::string& path, const std::string& body);
  Status get(const std::string& path);
  Status remove(const std::string& path);  ///< DELETE

  /// Sends the request of a watch and reads the head of the answer.
  Status open(const std::string& path, const std::string& accept = "application/json");
  /// The next bytes of its body, added to `out`; waits for them. False at its end.
  bool read(std::string& out);

  /// Sends them as they are, within TLS: for clients that send a part of a request, or send it slowly.
  Status send_bytes(std::string_view bytes);
  /// At most `limit` bytes of what the server has sent, as they are; waits for the first. Empty at the end.
  std::string receive_bytes(std::size_t limit);

  /// Takes at most so many bytes from the kernel, still encrypted, if they are there: for clients that read slowly, and
  /// do nothing else afterwards.
  void drop(std::size_t bytes);

  /// Ends a call of another thread.
  void shut_down();

 private:
  class Impl;
  explicit BlockingConnection(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace tpuslice::http
