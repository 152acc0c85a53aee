#include "api/http/server/messages.h"

#include <algorithm>
#include <array>

namespace tpuslice::http {
namespace {

namespace beast = boost::beast;

/// Headers that describe the connection or the framing: ours to set, not a handler's.
bool is_framing(std::string_view name) {
  constexpr std::array<std::string_view, 4> kFraming = {"connection", "content-length", "keep-alive",
                                                        "transfer-encoding"};
  return std::any_of(kFraming.begin(), kFraming.end(), [name](std::string_view each) {
    return beast::iequals(beast::string_view(name.data(), name.size()), beast::string_view(each.data(), each.size()));
  });
}

/// A line break in a value would start another header.
bool is_plain(std::string_view value) { return value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos; }

template <typename Message>
void copy_head(const Response& response, Message& message) {
  message.version(11);
  message.result(static_cast<unsigned>(response.status));
  for (const auto& [name, value] : response.headers) {
    if (!is_framing(name) && is_plain(name) && is_plain(value)) message.insert(name, value);
  }
}

}  // namespace

Request to_request(BeastRequest&& message) {
  Request out;
  out.method = std::string(message.method_string());
  out.target = std::string(message.target());
  for (const auto& field : message) out.headers.emplace_back(field.name_string(), field.value());
  out.body = std::move(message.body());
  return out;
}

BeastResponse to_message(Response&& response, bool keep_alive, bool head_only) {
  BeastResponse out;
  copy_head(response, out);
  out.keep_alive(keep_alive);
  const bool bodiless = response.status / 100 == 1 || response.status == 204 || response.status == 304;
  if (bodiless) return out;
  out.content_length(response.body.size());
  if (!head_only) out.body() = std::move(response.body);
  return out;
}

BeastHead to_stream_head(const Response& response) {
  BeastHead out;
  copy_head(response, out);
  out.keep_alive(false);
  out.chunked(true);
  return out;
}

Response plain_reply(int status, std::string text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text) + "\n"};
}

Response busy_reply(int status, std::string text) {
  Response reply = plain_reply(status, std::move(text));
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

int status_of_read_error(const boost::system::error_code& problem) {
  namespace http = beast::http;
  if (problem == http::error::body_limit) return 413;
  if (problem == http::error::header_limit || problem == http::error::buffer_overflow) return 431;
  if (problem == http::error::end_of_stream || problem == http::error::partial_message) return 0;
  return problem.category() == http::make_error_code(http::error::bad_method).category() ? 400 : 0;
}

}  // namespace tpuslice::http
