// Conversion between our requests and replies and those of Beast. Private to this folder.
#pragma once

#include <boost/beast/http.hpp>

#include "api/http/server/server.h"

namespace tpuslice::http {

using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;
using BeastResponse = boost::beast::http::response<boost::beast::http::string_body>;
using BeastHead = boost::beast::http::response<boost::beast::http::empty_body>;

[[nodiscard]] Request to_request(BeastRequest&& message);
/// `head_only` keeps the Content-Length of the body but not the body.
[[nodiscard]] BeastResponse to_message(Response&& response, bool keep_alive, bool head_only);
/// Status line and headers of a chunked body; the connection ends with it.
[[nodiscard]] BeastHead to_stream_head(const Response& response);
/// A reply of the server itself: plain text, never a detail.
[[nodiscard]] Response plain_reply(int status, std::string text);
/// The same, with the advice to send the request again in a second.
[[nodiscard]] Response busy_reply(int status, std::string text);
/// The HTTP status for a request that cannot be read; 0 if the connection was closed.
[[nodiscard]] int status_of_read_error(const boost::system::error_code& problem);

}  // namespace tpuslice::http
