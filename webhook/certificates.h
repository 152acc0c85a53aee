// Certificates of the webhook: read from files, or issued, stored and renewed by the replicas.
//
// The server calls step() of a source repeatedly; it returns the certificate to serve. No source has a thread or waits.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/metrics.h"
#include "api/client/client.h"
#include "api/http/tls/identity.h"
#include "webhook/webhook_configurations.h"

namespace tpuslice::webhook {

/// Not thread-safe.
class CertificateSource {
 public:
  virtual ~CertificateSource() = default;
  /// The certificate to serve from now on.
  [[nodiscard]] virtual Result<http::Identity> step(std::stop_token stop) = 0;
  /// How long after a successful step the next one is due.
  [[nodiscard]] virtual Duration interval() const = 0;
  /// PEM: what clients trust, so that they can verify the certificate of the last step. Empty if that is not known.
  [[nodiscard]] virtual std::string authorities() const { return {}; }
};

/// tls.crt and tls.key of a directory, such as a Secret volume of cert-manager; read at each step.
/// Errors: NotFound for missing files; InvalidArgument for files that are not a certificate and its key (they may not
/// match while the volume is being updated).
[[nodiscard]] std::unique_ptr<CertificateSource> certificates_from_files(std::string directory);

/// A certificate for `dns_names` in memory, signed by an authority that is thrown away: clients cannot verify it, but
/// the connection is encrypted. Renewed long before it expires.
[[nodiscard]] std::unique_ptr<CertificateSource> self_signed_certificates(std::vector<std::string> dns_names,
                                                                          const Clock& clock);

/// Sets the metric of when the certificate of `server` ("webhook", "metrics") expires.
void measure_certificate(Metrics& metrics, const std::string& server, const http::Identity& identity);

struct SelfManagedOptions {
  std::string namespace_name;                     ///< Namespace of the Secret and the Service.
  std::string service = "tpu-slice-webhook";      ///< The certificate is for its DNS names.
  std::string metrics_service = {};               ///< The certificate is also for those of this Service, if set.
  std::string secret = "tpu-slice-webhook-cert";  ///< Shared by all replicas.
  std::string configuration = std::string(kConfigurationName);  ///< Name of both webhook configurations.
  Duration authority_lifetime = std::chrono::hours(24 * 3650);
  Duration lifetime = std::chrono::hours(24 * 365);
  Duration renew_before = std::chrono::hours(24 * 90);  ///< Renewed when it expires within this time.
  Duration check = std::chrono::seconds(5);  ///< Interval between checks of the Secret and the configurations.
};

/// The contents of the Secret.
struct CertificateBundle {
  std::string authorities;   ///< PEM; the signing one, then the previous one until it expires.
  http::Identity authority;  ///< The signing one.
  http::Identity leaf;
  friend bool operator==(const CertificateBundle&, const CertificateBundle&) = default;
};

/// The names of a Service.
[[nodiscard]] std::vector<std::string> service_dns_names(const std::string& service, const std::string& namespace_name);

/// Names by which the API server may call the webhook, and Prometheus the metrics server.
[[nodiscard]] std::vector<std::string> webhook_dns_names(const SelfManagedOptions& options);

/// `bundle` with new parts for those that are missing, invalid, for other names or about to expire. A new authority is
/// added to `authorities` beside the old one, so that replicas can change over one by one.
[[nodiscard]] Result<CertificateBundle> renew_certificates(const std::optional<CertificateBundle>& bundle,
                                                           const SelfManagedOptions& options, Timestamp now);

/// The Secret's data, and back; parts that are missing or malformed base64 are empty.
[[nodiscard]] Json certificate_data(const CertificateBundle& bundle);
[[nodiscard]] CertificateBundle read_certificate_data(const Json& secret);

/// A step reads the configurations and the Secret, renews what is due, writes the Secret if it changed or was deleted,
/// updates caBundle of both webhook configurations, and returns the leaf once a whole step has found it trusted. All
/// writes have preconditions: of several replicas one succeeds, the others read its result. A Secret without a usable
/// authority gets back the one that this replica serves, so that the others stay trusted. Missing configurations are
/// not created. Errors: those of the API server; Conflict if another replica was faster.
[[nodiscard]] std::unique_ptr<CertificateSource> self_managed_certificates(SelfManagedOptions options,
                                                                           client::Reader& reader,
                                                                           client::Writer& writer, const Clock& clock);

}  // namespace tpuslice::webhook
