// The pure part of self-managed certificates.
#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/http/tls/tls_credentials.h"
#include "webhook/certificates.h"

namespace tpuslice::webhook {
namespace {

/// How far the clock of a replica that issues a certificate may be ahead of those that verify it.
constexpr Duration kClockSkew = std::chrono::hours(24);
constexpr std::string_view kCertificateEnd = "-----END CERTIFICATE-----";

/// The first certificate of a PEM text, empty if there is none.
std::string first_certificate(const std::string& pem) {
  const std::size_t end = pem.find(kCertificateEnd);
  return end == std::string::npos ? std::string() : pem.substr(0, end + kCertificateEnd.size()) + "\n";
}

bool lasts_until(std::string_view certificate, Timestamp then) {
  const auto end = http::certificate_not_after(certificate);
  return end.ok() && *end > then;
}

/// The authority must outlive every leaf that it signs before its own renewal.
bool is_authority_valid(const CertificateBundle& bundle, const SelfManagedOptions& options, Timestamp now) {
  return http::check_identity(bundle.authority).ok() &&
         lasts_until(bundle.authority.certificate_chain, now + options.lifetime);
}

bool is_leaf_valid(const CertificateBundle& bundle, const SelfManagedOptions& options, Timestamp now) {
  if (!http::check_identity(bundle.leaf).ok()) return false;
  if (!lasts_until(bundle.leaf.certificate_chain, now + options.renew_before)) return false;
  for (const std::string& name : webhook_dns_names(options)) {
    if (!http::verify_certificate(bundle.leaf.certificate_chain, bundle.authorities, now, name).ok()) return false;
  }
  return true;
}

Result<http::Identity> issue_leaf(const http::Identity& authority, const SelfManagedOptions& options, Timestamp now) {
  http::CertificateRequest request;
  request.dns_names = webhook_dns_names(options);
  request.common_name = request.dns_names.front();
  request.ip_addresses = {"127.0.0.1"};
  return http::issue_certificate(authority, request, {now - kClockSkew, now + options.lifetime});
}

std::string decoded_member(const Json& secret, std::string_view key) {
  return decode_base64(string_at(secret, {"data", key})).value_or(std::string());
}

}  // namespace

std::vector<std::string> service_dns_names(const std::string& service, const std::string& namespace_name) {
  const std::string in_namespace = fmt::format("{}.{}", service, namespace_name);
  return {service, in_namespace, in_namespace + ".svc", in_namespace + ".svc.cluster.local"};
}

std::vector<std::string> webhook_dns_names(const SelfManagedOptions& options) {
  // Common names have at most 64 characters, so the shortest name comes first.
  std::vector<std::string> names = service_dns_names(options.service, options.namespace_name);
  names.emplace_back("localhost");
  if (options.metrics_service.empty()) return names;
  for (std::string& name : service_dns_names(options.metrics_service, options.namespace_name)) {
    names.push_back(std::move(name));
  }
  return names;
}

Result<CertificateBundle> renew_certificates(const std::optional<CertificateBundle>& bundle,
                                             const SelfManagedOptions& options, Timestamp now) {
  CertificateBundle renewed = bundle.value_or(CertificateBundle());
  if (!is_authority_valid(renewed, options, now)) {
    ASSIGN_OR_RETURN(renewed.authority,
                     http::make_certificate_authority("tpu-slice-operator-ca",
                                                      {now - kClockSkew, now + options.authority_lifetime}));
    const std::string previous = first_certificate(renewed.authorities);
    renewed.authorities = renewed.authority.certificate_chain;
    if (lasts_until(previous, now)) renewed.authorities += previous;
  }
  if (!is_leaf_valid(renewed, options, now)) {
    ASSIGN_OR_RETURN(renewed.leaf, issue_leaf(renewed.authority, options, now));
  }
  return renewed;
}

Json certificate_data(const CertificateBundle& bundle) {
  return {{"ca.crt", encode_base64(bundle.authorities)},
          {"ca.key", encode_base64(bundle.authority.private_key)},
          {"tls.crt", encode_base64(bundle.leaf.certificate_chain)},
          {"tls.key", encode_base64(bundle.leaf.private_key)}};
}

CertificateBundle read_certificate_data(const Json& secret) {
  const std::string authorities = decoded_member(secret, "ca.crt");
  return {authorities,
          {first_certificate(authorities), decoded_member(secret, "ca.key")},
          {decoded_member(secret, "tls.crt"), decoded_member(secret, "tls.key")}};
}

}  // namespace tpuslice::webhook
