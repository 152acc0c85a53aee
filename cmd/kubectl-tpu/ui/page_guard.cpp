#include "cmd/kubectl-tpu/ui/page_guard.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/random_token.h"
#include "api/base/strings.h"

namespace tpuslice::plugin {
namespace {

constexpr std::string_view kCookie = "tpu-fleet";
/// Names of loopback that a browser resolves itself.
constexpr std::array<std::string_view, 2> kHosts = {"127.0.0.1", "localhost"};

/// No script or style but those of the page, no request but to its server; HTML is not made of texts.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// A random text that is valid in a URL and in a cookie.
Result<std::string> url_token() {
  ASSIGN_OR_RETURN(const std::string token, random_token());
  const auto bytes = decode_base64(token);
  if (!bytes || bytes->empty()) return Error::unavailable("there is no random text");
  return encode_base64_url(*bytes);
}

}  // namespace

Result<PageSecrets> make_page_secrets() {
  PageSecrets secrets;
  for (std::string* const secret : {&secrets.path, &secrets.token, &secrets.cookie}) {
    ASSIGN_OR_RETURN(*secret, url_token());
  }
  return secrets;
}

std::string page_url(std::uint16_t port, const PageSecrets& secrets) {
  return fmt::format("http://{}:{}/{}/#token={}", kHosts[0], port, secrets.path, secrets.token);
}

std::optional<http::Response> refuse_foreign(const http::Request& request, std::uint16_t port, bool data) {
  const std::string* const host = http::find_header(request.headers, "Host");
  const std::string* const origin = http::find_header(request.headers, "Origin");
  const std::string* const site = http::find_header(request.headers, "Sec-Fetch-Site");
  bool known = false;
  for (const std::string_view name : kHosts) known = known || (host && *host == fmt::format("{}:{}", name, port));
  if (!known) return page_text(421, "Host is not this server");
  if (origin && *origin != "http://" + *host) return page_text(403, "Origin is another one");
  if (data && site && *site != "same-origin" && *site != "none") return page_text(403, "the request is another site's");
  return std::nullopt;
}

bool has_session(const http::Request& request, const PageSecrets& secrets) {
  const std::string* const cookies = http::find_header(request.headers, "Cookie");
  if (!cookies) return false;
  bool found = false;
  for (const std::string& part : split(*cookies, ';')) {
    const std::string cookie = trimmed(part);
    found = equal_secrets(cookie, fmt::format("{}={}", kCookie, secrets.cookie)) || found;
  }
  return found;
}

std::string session_cookie(const PageSecrets& secrets) {
  return fmt::format("{}={}; Path=/{}/; HttpOnly; SameSite=Strict", kCookie, secrets.cookie, secrets.path);
}

bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

void add_page_headers(http::Response& response) {
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"Content-Security-Policy", kPolicy},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Referrer-Policy", "no-referrer"},
           {"Cross-Origin-Opener-Policy", "same-origin"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Cache-Control", "no-store"}}) {
    response.headers.emplace_back(name, value);
  }
}

http::Response page_text(int status, std::string text) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text) + "\n"};
}

}  // namespace tpuslice::plugin
