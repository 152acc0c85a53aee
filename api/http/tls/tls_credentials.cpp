#include "api/http/tls/tls_credentials.h"

#include <openssl/rand.h>

#include <array>
#include <ctime>

#include "api/http/tls/openssl.h"
#include "api/http/url.h"

namespace tpuslice::http {
namespace {

constexpr long kVersion3 = 2;

std::time_t unix_seconds(Timestamp time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Status set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error::unavailable("no random numbers: {}", openssl_error());
  }
  bytes[0] &= 0x7fU;  // A serial number is positive.
  bytes[0] |= 0x40U;  // All have one length.
  const std::unique_ptr<BIGNUM, OpensslFree<BN_free>> number(BN_bin2bn(bytes.data(), bytes.size(), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
  return {};
}

Status add_name(X509_NAME* name, const char* field, std::string_view value) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(value.data());  // NOLINT: OpenSSL wants unsigned bytes
  if (X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(value.size()), -1, 0) != 1) {
    return Error::invalid_argument("certificate subject {}=\"{}\": {}", field, value, openssl_error());
  }
  return {};
}

Status add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, OpensslFree<X509_EXTENSION_free>> extension(
      X509V3_EXT_nconf_nid(nullptr, &context, nid, value.c_str()));
  if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) {
    return Error::invalid_argument("certificate extension {} = \"{}\": {}", OBJ_nid2sn(nid), value, openssl_error());
  }
  return {};
}

/// "DNS:a,IP:10.0.0.1". Names come from flags and manifests, so nothing in them may start another entry.
Result<std::string> subject_alternative_names(const CertificateRequest& request) {
  std::string out;
  for (const std::string& name : request.dns_names) {
    if (name.empty() || name.find_first_of(",:\n ") != std::string::npos) {
      return Error::invalid_argument("certificate: \"{}\" is not a DNS name", name);
    }
    out += (out.empty() ? "DNS:" : ",DNS:") + name;
  }
  for (const std::string& address : request.ip_addresses) {
    if (!is_ipv4(address) && !is_ipv6(address)) {
      return Error::invalid_argument("certificate: \"{}\" is not an IP address", address);
    }
    out += (out.empty() ? "IP:" : ",IP:") + address;
  }
  return out;
}

struct Draft {
  X509Ptr certificate;
  KeyPtr key;
};

Result<Draft> draft(const Validity& validity) {
  if (validity.not_after <= validity.not_before) {
    return Error::invalid_argument("certificate would end at {}, before it starts at {}",
                                   format_rfc3339(validity.not_after), format_rfc3339(validity.not_before));
  }
  Draft out{X509Ptr(X509_new()), KeyPtr(EVP_EC_gen("P-256"))};
  if (!out.certificate || !out.key) return Error::unavailable("no key can be generated: {}", openssl_error());
  X509* certificate = out.certificate.get();
  X509_set_version(certificate, kVersion3);
  RETURN_IF_ERROR(set_serial(certificate));
  ASN1_TIME_set(X509_getm_notBefore(certificate), unix_seconds(validity.not_before));
  ASN1_TIME_set(X509_getm_notAfter(certificate), unix_seconds(validity.not_after));
  X509_set_pubkey(certificate, out.key.get());
  return out;
}

Result<Identity> sign(const Draft& draft, EVP_PKEY* with) {
  if (X509_sign(draft.certificate.get(), with, EVP_sha256()) == 0) {
    return Error::invalid_argument("certificate cannot be signed: {}", openssl_error());
  }
  return Identity{to_pem(draft.certificate.get()), to_pem(draft.key.get())};
}

Status add_leaf_extensions(X509* leaf, X509* issuer, const CertificateRequest& request) {
  ASSIGN_OR_RETURN(const std::string names, subject_alternative_names(request));
  RETURN_IF_ERROR(add_extension(leaf, issuer, NID_basic_constraints, "critical,CA:FALSE"));
  RETURN_IF_ERROR(add_extension(leaf, issuer, NID_key_usage, "critical,digitalSignature"));
  std::string usage = request.server ? "serverAuth" : "";
  if (request.client) usage += usage.empty() ? "clientAuth" : ",clientAuth";
  if (!usage.empty()) RETURN_IF_ERROR(add_extension(leaf, issuer, NID_ext_key_usage, usage));
  RETURN_IF_ERROR(add_extension(leaf, issuer, NID_subject_key_identifier, "hash"));
  RETURN_IF_ERROR(add_extension(leaf, issuer, NID_authority_key_identifier, "keyid"));
  if (!names.empty()) RETURN_IF_ERROR(add_extension(leaf, issuer, NID_subject_alt_name, names));
  return {};
}

}  // namespace

Result<Identity> make_certificate_authority(std::string_view common_name, const Validity& validity) {
  ASSIGN_OR_RETURN(const Draft unsigned_draft, draft(validity));
  X509* certificate = unsigned_draft.certificate.get();
  RETURN_IF_ERROR(add_name(X509_get_subject_name(certificate), "CN", common_name));
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  RETURN_IF_ERROR(add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE"));
  RETURN_IF_ERROR(add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign"));
  RETURN_IF_ERROR(add_extension(certificate, certificate, NID_subject_key_identifier, "hash"));
  return sign(unsigned_draft, unsigned_draft.key.get());
}

Result<Identity> issue_certificate(const Identity& authority, const CertificateRequest& request,
                                   const Validity& validity) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> issuers, parse_certificates(authority.certificate_chain));
  ASSIGN_OR_RETURN(const KeyPtr issuer_key, parse_private_key(authority.private_key));
  X509* issuer = issuers.front().get();
  if (X509_check_private_key(issuer, issuer_key.get()) != 1) {
    return Error::invalid_argument("certificate authority: key does not belong to it: {}", openssl_error());
  }
  ASSIGN_OR_RETURN(const Draft unsigned_draft, draft(validity));
  X509* leaf = unsigned_draft.certificate.get();
  X509_NAME* subject = X509_get_subject_name(leaf);
  for (const std::string& each : request.organizations) RETURN_IF_ERROR(add_name(subject, "O", each));
  if (!request.common_name.empty()) RETURN_IF_ERROR(add_name(subject, "CN", request.common_name));
  X509_set_issuer_name(leaf, X509_get_subject_name(issuer));
  RETURN_IF_ERROR(add_leaf_extensions(leaf, issuer, request));
  return sign(unsigned_draft, issuer_key.get());
}

Result<Timestamp> certificate_not_after(std::string_view pem) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain, parse_certificates(pem));
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(chain.front().get()), &time) != 1) {
    return Error::invalid_argument("certificate: notAfter cannot be parsed: {}", openssl_error());
  }
  return Timestamp(std::chrono::seconds(timegm(&time)));
}

Status check_identity(const Identity& identity) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain, parse_certificates(identity.certificate_chain));
  ASSIGN_OR_RETURN(const KeyPtr key, parse_private_key(identity.private_key));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    return Error::invalid_argument("private key does not belong to the certificate: {}", openssl_error());
  }
  return {};
}

Result<int> count_certificates(std::string_view pem) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain, parse_certificates(pem));
  return static_cast<int>(chain.size());
}

Status verify_certificate(std::string_view leaf, std::string_view authorities, Timestamp now,
                          std::string_view dns_name) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> chain, parse_certificates(leaf));
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> trusted, parse_certificates(authorities));
  const StorePtr store(X509_STORE_new());
  for (const X509Ptr& each : trusted) X509_STORE_add_cert(store.get(), each.get());
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> between(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(between.get(), chain[i].get());
  const std::unique_ptr<X509_STORE_CTX, OpensslFree<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), between.get());
  X509_VERIFY_PARAM* param = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(param, unix_seconds(now));
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (!dns_name.empty()) X509_VERIFY_PARAM_set1_host(param, dns_name.data(), dns_name.size());
  if (X509_verify_cert(context.get()) == 1) return {};
  return Error::invalid_argument("certificate: {}",
                                 X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get())));
}

}  // namespace tpuslice::http
