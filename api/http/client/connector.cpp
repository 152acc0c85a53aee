#include "api/http/client/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <utility>

#include "api/http/tls/tls_context.h"

namespace tpuslice::http {
namespace {

/// Verifies as OpenSSL does, and keeps the reason of a failure.
int verify_and_note(X509_STORE_CTX* context, void* connector) {
  const int ok = X509_verify_cert(context);
  if (ok == 1) return ok;
  auto* self = static_cast<Connector*>(connector);
  const MutexLock lock(self->mutex);
  self->refused = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
  return ok;
}

}  // namespace

std::string Connector::take_refused() {
  const MutexLock lock(mutex);
  return std::exchange(refused, {});
}

Status configure_tls(SSL_CTX* context, Connector& connector) {
  RETURN_IF_ERROR(require_modern_tls(context));
  if (!connector.options.insecure_skip_verify) {
    if (Status trusted = trust_only(context, connector.options.ca); !trusted) return trusted.error().within("CA");
    RETURN_IF_ERROR(expect_host(context, connector.expected_host));
    SSL_CTX_set_cert_verify_callback(context, &verify_and_note, &connector);
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
