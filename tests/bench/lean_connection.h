// LeanConnection: one TLS connection to the API server, used by one thread, with as little around it as possible.
#pragma once

#include <string>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "api/client/config.h"
#include "api/http/url.h"

namespace tpuslice::bench {

/// Errors of all calls, the constructor among them: an exception; what the server refuses is a Status.
class LeanConnection {
 public:
  LeanConnection(const client::ClientConfig& config, const http::BaseUrl& server);

  Status post(const std::string& path, const std::string& body);
  Status get(const std::string& path);

  /// Sends the request of a watch.
  Status open(const std::string& path);
  /// The next bytes of its body, added to `out`; waits for them. False at its end.
  bool read(std::string& out);
  /// Ends a read() of another thread.
  void shut_down();

 private:
  Status exchange(const std::string& head, const std::string& body);

  boost::asio::io_context io_;
  boost::asio::ssl::context context_;
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_;
  boost::beast::flat_buffer buffer_;
  boost::beast::http::response_parser<boost::beast::http::buffer_body> watch_;
  std::string common_;
  std::string message_;
};

}  // namespace tpuslice::bench
