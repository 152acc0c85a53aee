#include "api/http/client/tunnel.h"

#include "api/base/base64.h"

namespace tpuslice::http {

std::string proxy_authorization(const BaseUrl& proxy) {
  if (proxy.user.empty()) return {};
  return fmt::format("Proxy-Authorization: Basic {}\r\n", encode_base64(proxy.user + ":" + proxy.password));
}

std::string tunnel_request(const BaseUrl& server, const BaseUrl& proxy) {
  return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n{1}\r\n", server.authority(), proxy_authorization(proxy));
}

}  // namespace tpuslice::http
