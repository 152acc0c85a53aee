// Who may read the page's server: the browser of its user, and no page of another site. Pure.
//
// The server listens on loopback, where other users of the machine and every page in the browser can send requests. So
// the address that the program prints has a random path and, in its fragment, a token, which browsers send to no
// server. The page exchanges the token for a cookie of that path: a server on another port of this machine is sent
// neither.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/http/transport.h"

namespace tpuslice::plugin {

/// Random texts of one run of the server.
struct PageSecrets {
  std::string path;    ///< First part of all paths, without slashes.
  std::string token;   ///< In the fragment of the address.
  std::string cookie;  ///< Value of the cookie of a session.
};

/// Errors: Unavailable if the kernel has no random numbers.
[[nodiscard]] Result<PageSecrets> make_page_secrets();

/// The address to open in a browser.
[[nodiscard]] std::string page_url(std::uint16_t port, const PageSecrets& secrets);

/// A refusal if the request is not meant for this server, or is sent by a page of another origin:
///
/// - 421: its Host is not this server, as when another site's name resolves to loopback (DNS rebinding);
/// - 403: its Origin is another one, or `data` is asked for by another site (Sec-Fetch-Site).
[[nodiscard]] std::optional<http::Response> refuse_foreign(const http::Request& request, std::uint16_t port, bool data);

/// Whether the request has the cookie of a session.
[[nodiscard]] bool has_session(const http::Request& request, const PageSecrets& secrets);
/// Value of Set-Cookie for a session.
[[nodiscard]] std::string session_cookie(const PageSecrets& secrets);

/// Compares in a time that depends on the lengths alone.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b);

/// Adds what each response has: the policy of the page, no caching, no use by other origins.
void add_page_headers(http::Response& response);

/// A response in plain text.
[[nodiscard]] http::Response page_text(int status, std::string text);

}  // namespace tpuslice::plugin
