// Certificates of the webhook: from files that somebody else renews, or made, kept and renewed by the replicas.
//
// A source is asked again and again by step(); it answers with what to serve now. No source has a thread or waits.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/client/client.h"
#include "api/http/identity.h"

namespace tpuslice::webhook {

/// Used from one thread at a time.
class CertificateSource {
 public:
  virtual ~CertificateSource() = default;
  /// What the server shows from now on.
  [[nodiscard]] virtual Result<http::Identity> step(std::stop_token stop) = 0;
  /// How long after a successful step the next one is due.
  [[nodiscard]] virtual Duration interval() const = 0;
};

/// tls.crt and tls.key of a directory, as cert-manager's or any other Secret volume has them; read anew each time.
/// Errors: InvalidArgument for files that are missing, are no certificate and key, or do not belong together (seen for
/// a moment while a volume is being replaced).
[[nodiscard]] std::unique_ptr<CertificateSource> certificates_from_files(std::string directory);

struct SelfManagedOptions {
  std::string namespace_name;                        ///< Of the Secret and the Service.
  std::string service = "tpu-slice-webhook";         ///< Whose DNS names the certificate is for.
  std::string secret = "tpu-slice-webhook-cert";     ///< Shared by all replicas.
  std::string configuration = "tpu-slice-operator";  ///< Name of both webhook configurations.
  Duration authority_lifetime = std::chrono::hours(24 * 3650);
  Duration lifetime = std::chrono::hours(24 * 365);
  Duration renew_before = std::chrono::hours(24 * 90);  ///< Less than this left: renewed.
  Duration check = std::chrono::minutes(1);             ///< Between looks at the Secret and the configurations.
};

/// What the Secret holds.
struct CertificateBundle {
  std::string authorities;   ///< PEM; the one that signs first, then the one before it, as long as it may be in use.
  http::Identity authority;  ///< That signs.
  http::Identity leaf;
  friend bool operator==(const CertificateBundle&, const CertificateBundle&) = default;
};

/// Names that the API server may call the webhook by.
[[nodiscard]] std::vector<std::string> webhook_dns_names(const SelfManagedOptions& options);

/// `bundle` with whatever is missing, broken, of another name or about to expire made new; `bundle` itself if nothing
/// is. A new authority does not replace the old one in `authorities`, so replicas may change over one by one.
[[nodiscard]] Result<CertificateBundle> renew_certificates(const std::optional<CertificateBundle>& bundle,
                                                           const SelfManagedOptions& options, Timestamp now);

/// The Secret's data, and back; nothing for data that lacks a part or is no base64.
[[nodiscard]] Json certificate_data(const CertificateBundle& bundle);
[[nodiscard]] std::optional<CertificateBundle> read_certificate_data(const Json& secret);

/// One step: read the Secret, renew what is due, put back what somebody deleted (the write is preconditioned: replicas that do the same lose and read),
/// bring caBundle of both webhook configurations up to date, and only then show the leaf. A configuration that does not
/// exist is not ours to make.
/// Errors: those of the API server; Conflict when another replica was first.
[[nodiscard]] std::unique_ptr<CertificateSource> self_managed_certificates(SelfManagedOptions options,
                                                                           client::Reader& reader,
                                                                           client::Writer& writer, const Clock& clock);

}  // namespace tpuslice::webhook
