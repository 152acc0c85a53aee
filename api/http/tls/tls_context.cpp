#include "api/http/tls/tls_context.h"

#include "api/http/tls/openssl.h"
#include "api/http/url.h"

namespace tpuslice::http {
namespace {

std::vector<std::string> entries(X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0; at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));  // NOLINT: bytes are bytes
    OPENSSL_free(text);
  }
  return out;
}

}  // namespace

Status use_identity(SSL_CTX* context, const Identity& identity) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain, parse_certificates(identity.certificate_chain));
  ASSIGN_OR_RETURN(const KeyPtr key, parse_private_key(identity.private_key));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    return Error::invalid_argument("private key does not belong to the certificate: {}", openssl_error());
  }
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1 || SSL_CTX_clear_chain_certs(context) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return Error::invalid_argument("certificate is refused: {}", openssl_error());
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      return Error::invalid_argument("certificate {} of the chain is refused: {}", i + 1, openssl_error());
    }
  }
  return {};
}

Status trust_only(SSL_CTX* context, std::string_view pem) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> authorities, parse_certificates(pem));
  StorePtr store(X509_STORE_new());
  for (const X509Ptr& each : authorities) {
    if (X509_STORE_add_cert(store.get(), each.get()) != 1) {
      return Error::invalid_argument("certificate authority is refused: {}", openssl_error());
    }
  }
  // Every certificate of `pem` is an anchor, as in Go, also one that another authority has signed: a cluster's CA may
  // be an intermediate without its root.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  SSL_CTX_set_cert_store(context, store.release());
  return {};
}

Status require_modern_tls(SSL_CTX* context) {
  if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
    return Error::unavailable("TLS 1.2 cannot be required: {}", openssl_error());
  }
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  return {};
}

Status expect_host(SSL_CTX* context, const std::string& host) {
  X509_VERIFY_PARAM* param = SSL_CTX_get0_param(context);
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool address = is_ipv4(host) || is_ipv6(host);
  const int done = address ? X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str())
                           : X509_VERIFY_PARAM_set1_host(param, host.data(), host.size());
  if (done != 1) return Error::invalid_argument("\"{}\" is neither a host name nor an address", host);
  return {};
}

Status ask_for_client_certificate(SSL_CTX* context, std::string_view pem) {
  RETURN_IF_ERROR(trust_only(context, pem));
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> authorities, parse_certificates(pem));
  for (const X509Ptr& each : authorities) SSL_CTX_add_client_CA(context, each.get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // Sessions that carry a verified client may only be resumed in a context of the same meaning.
  constexpr std::string_view kSessions = "tpuslice";
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kSessions.data()),  // NOLINT
                                 static_cast<unsigned>(kSessions.size()));
  return {};
}

PeerSubject peer_subject(SSL* connection) {
  PeerSubject out;
  const X509Ptr certificate(SSL_get1_peer_certificate(connection));
  if (!certificate || SSL_get_verify_result(connection) != X509_V_OK) return out;
  out.verified = true;
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const std::vector<std::string> names = entries(subject, NID_commonName);
  if (!names.empty()) out.common_name = names.front();
  out.organizations = entries(subject, NID_organizationName);
  return out;
}

}  // namespace tpuslice::http
