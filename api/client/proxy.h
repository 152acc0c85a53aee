// The proxy that the environment names, by the rules of Go's net/http.
#pragma once

#include <string>

#include "api/client/config.h"

namespace tpuslice::client {

/// The proxy for requests to `server` ("https://host:port"): HTTPS_PROXY, or HTTP_PROXY for http, in upper or lower
/// case, unless NO_PROXY excludes the host. Empty: connect directly; so are localhost and loopback addresses.
///
/// NO_PROXY is a comma-separated list of "*" (all), addresses, networks ("10.0.0.0/8"), and domains: "example.com" with
/// its subdomains, ".example.com" or "*.example.com" only those. An address or domain may have a port.
/// Source: golang.org/x/net/http/httpproxy.
[[nodiscard]] std::string proxy_from_environment(const std::string& server, const ConfigSources& sources);

}  // namespace tpuslice::client
