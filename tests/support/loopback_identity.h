// LoopbackIdentity: a certificate for a TLS server on 127.0.0.1, and its authority.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/http/tls/tls_credentials.h"

namespace tpuslice::testing {

struct LoopbackIdentity {
  std::string authority;  ///< PEM.
  http::Identity leaf;
};

/// Creates an authority and a leaf for 127.0.0.1, both with the common name `name` and valid for a day.
/// Errors: InvalidArgument.
[[nodiscard]] inline Result<LoopbackIdentity> make_loopback_identity(std::string_view name) {
  const Timestamp now = RealClock().wall();
  const http::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(24)};
  ASSIGN_OR_RETURN(const http::Identity authority, http::make_certificate_authority(name, validity));
  const http::CertificateRequest request = {.common_name = std::string(name), .ip_addresses = {"127.0.0.1"}};
  ASSIGN_OR_RETURN(http::Identity leaf, http::issue_certificate(authority, request, validity));
  return LoopbackIdentity{authority.certificate_chain, std::move(leaf)};
}

}  // namespace tpuslice::testing
