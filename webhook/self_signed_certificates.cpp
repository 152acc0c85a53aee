#include <chrono>
#include <utility>

#include "api/http/tls/tls_credentials.h"
#include "webhook/certificates.h"

namespace tpuslice::webhook {
namespace {

constexpr Duration kSelfSignedLifetime = std::chrono::hours(24 * 365);
constexpr Duration kSelfSignedRenewBefore = std::chrono::hours(24 * 90);

class SelfSignedCertificates final : public CertificateSource {
 public:
  SelfSignedCertificates(std::vector<std::string> dns_names, const Clock& clock)
      : dns_names_(std::move(dns_names)), clock_(clock) {}

  Result<http::Identity> step(std::stop_token) override {
    const Timestamp now = clock_.wall();
    if (now < renew_at_) return identity_;
    const http::Validity validity{now - std::chrono::hours(1), now + kSelfSignedLifetime};
    ASSIGN_OR_RETURN(const http::Identity authority,
                     http::make_certificate_authority("tpu-slice-self-signed", validity));
    http::CertificateRequest request;
    request.common_name = dns_names_.front();
    request.dns_names = dns_names_;
    ASSIGN_OR_RETURN(identity_, http::issue_certificate(authority, request, validity));
    renew_at_ = validity.not_after - kSelfSignedRenewBefore;
    return identity_;
  }
  [[nodiscard]] Duration interval() const override { return std::chrono::hours(1); }

 private:
  const std::vector<std::string> dns_names_;
  const Clock& clock_;
  http::Identity identity_;
  Timestamp renew_at_ = Timestamp::min();
};

}  // namespace

std::unique_ptr<CertificateSource> self_signed_certificates(std::vector<std::string> dns_names, const Clock& clock) {
  return std::make_unique<SelfSignedCertificates>(std::move(dns_names), clock);
}

void measure_certificate(Metrics& metrics, const std::string& server, const http::Identity& identity) {
  const auto end = http::certificate_not_after(identity.certificate_chain);
  if (!end) return;
  metrics
      .gauge("tpuslice_certificate_expiry_timestamp_seconds", "When the certificate that is served expires.",
             {{"server", server}})
      .set(std::chrono::duration<double>(end->time_since_epoch()).count());
}

}  // namespace tpuslice::webhook
