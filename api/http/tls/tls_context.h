// What both sides of a TLS connection set up in an SSL_CTX. Private to this folder.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/http/tls/identity.h"

namespace tpuslice::http {

/// Presents `identity`. Errors: InvalidArgument, also when key and certificate do not belong together.
Status use_identity(SSL_CTX* context, const Identity& identity);
/// Trusts the certificates in `pem`, roots and intermediates alike, and nothing else. Errors: InvalidArgument.
Status trust_only(SSL_CTX* context, std::string_view pem);
/// TLS 1.2 or newer, no renegotiation, no compression.
Status require_modern_tls(SSL_CTX* context);
/// Checks the peer's certificate for `host` (a name or an address) by its subject alternative names alone.
Status expect_host(SSL_CTX* context, const std::string& host);
/// Asks clients for a certificate signed by `pem`; clients without one are let in. Errors: InvalidArgument.
Status ask_for_client_certificate(SSL_CTX* context, std::string_view pem);

/// The subject of the certificate of the other side; empty without one that was verified.
struct PeerSubject {
  bool verified = false;
  std::string common_name;
  std::vector<std::string> organizations;
};
[[nodiscard]] PeerSubject peer_subject(SSL* connection);

}  // namespace tpuslice::http
