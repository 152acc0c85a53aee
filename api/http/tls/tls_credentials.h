// Certificates made in memory: an authority and the leaves it signs. ECDSA P-256, everything PEM.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "api/http/tls/identity.h"

namespace tpuslice::http {

struct Validity {
  Timestamp not_before;
  Timestamp not_after;
};

struct CertificateRequest {
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};
  bool server = true;   ///< Extended key usage serverAuth.
  bool client = false;  ///< Extended key usage clientAuth.
};

/// A self-signed authority. Errors: InvalidArgument.
[[nodiscard]] Result<Identity> make_certificate_authority(std::string_view common_name, const Validity& validity);

/// A leaf signed by `authority`, its chain without the authority. Errors: InvalidArgument.
[[nodiscard]] Result<Identity> issue_certificate(const Identity& authority, const CertificateRequest& request,
                                                 const Validity& validity);

/// End of validity of the first certificate in `pem`. Errors: InvalidArgument.
[[nodiscard]] Result<Timestamp> certificate_not_after(std::string_view pem);

/// Checks that `identity` parses and its key belongs to its first certificate. Errors: InvalidArgument, naming the
/// part.
[[nodiscard]] Status check_identity(const Identity& identity);

/// Checks that `pem` holds at least one certificate, and returns how many. Errors: InvalidArgument.
[[nodiscard]] Result<int> count_certificates(std::string_view pem);

/// Checks that `leaf` was signed by one of `authorities` and is valid at `now` for `dns_name` (any name when empty).
/// Errors: InvalidArgument with OpenSSL's reason.
[[nodiscard]] Status verify_certificate(std::string_view leaf, std::string_view authorities, Timestamp now,
                                        std::string_view dns_name = {});

}  // namespace tpuslice::http
