// The CONNECT request to a proxy. Private to this folder.
#pragma once

#include <string>

#include "api/http/url.h"

namespace tpuslice::http {

/// The header of our name at the proxy, with its line end; empty for a proxy without a user.
[[nodiscard]] std::string proxy_authorization(const BaseUrl& proxy);

/// A request for a tunnel to `server`.
[[nodiscard]] std::string tunnel_request(const BaseUrl& server, const BaseUrl& proxy);

}  // namespace tpuslice::http
