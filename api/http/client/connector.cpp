#include "api/http/client/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "api/http/tls/tls_context.h"

namespace tpuslice::http {

Status configure_tls(SSL_CTX* context, const Connector& connector) {
  RETURN_IF_ERROR(require_modern_tls(context));
  if (!connector.options.insecure_skip_verify) {
    if (Status trusted = trust_only(context, connector.options.ca); !trusted) return trusted.error().within("CA");
    RETURN_IF_ERROR(expect_host(context, connector.expected_host));
  }
  if (!connector.identity) return {};
  const Status used = use_identity(context, *connector.identity);
  return used ? used : Status(used.error().within("client certificate"));
}

void set_socket_options(int fd, const TransportOptions& options) {
  const auto set = [fd](int level, int name, std::int64_t value) {
    const int number = static_cast<int>(value);
    setsockopt(fd, level, name, &number, sizeof number);
  };
  const auto seconds = [](Duration time) { return std::chrono::ceil<std::chrono::seconds>(time).count(); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, seconds(options.keepalive_idle));
  set(IPPROTO_TCP, TCP_KEEPINTVL, seconds(options.keepalive_interval));
  set(IPPROTO_TCP, TCP_KEEPCNT, options.keepalive_probes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, std::chrono::ceil<std::chrono::milliseconds>(options.user_timeout).count());
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

Error refused_certificate(std::string_view what, std::string_view why, const Connector& connector) {
  return Error::unavailable("{}: the server's certificate is refused: {} (expected {})", what, why,
                            connector.expected_host);
}

}  // namespace tpuslice::http
