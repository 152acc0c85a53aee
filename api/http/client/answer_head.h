// read_head(): status and headers of the answer to a request. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/beast/http.hpp>

#include "api/base/strings.h"
#include "api/http/client/socket.h"
#include "api/http/transport.h"

namespace tpuslice::http {

inline constexpr std::uint32_t kMaxHead = 256U << 10U;  ///< Bytes of status line and headers.
inline constexpr int kMaxInterim = 16;                  ///< Interim answers to a request.

/// Whether a body with these headers is compressed with gzip.
[[nodiscard]] inline bool is_gzip(const Headers& headers) {
  const std::string* encoding = find_header(headers, "content-encoding");
  return encoding != nullptr && to_lower(*encoding) == "gzip";
}

/// Reads the head of an answer into `response` and `parser`, which then reads the body. Interim answers (1xx) are
/// skipped. Returns whether any byte of an answer came.
template <typename Body>
bool read_head(Socket& socket, boost::beast::flat_buffer& buffer, bool head_only, std::uint64_t max_body,
               std::optional<boost::beast::http::response_parser<Body>>& parser, Response& response,
               Socket::ErrorCode& problem) {
  bool answered = false;
  for (int interim = 0; interim <= kMaxInterim; ++interim) {
    parser.emplace();
    parser->header_limit(kMaxHead);
    parser->body_limit(max_body);
    parser->skip(head_only);
    problem = {};
    boost::beast::http::read_header(socket, buffer, *parser, problem);
    answered = answered || parser->got_some();
    if (problem) return answered;
    const auto& message = parser->get();
    if (message.result_int() / 100 == 1) continue;
    response.status = static_cast<int>(message.result_int());
    response.headers.clear();
    for (const auto& field : message) {
      response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    }
    return answered;
  }
  problem = boost::beast::http::error::header_limit;
  return answered;
}

}  // namespace tpuslice::http
