// Health: named checks behind /healthz and /readyz, with the paths and the text of kube-apiserver's.
//
//   GET /readyz            "ok", or 500 with all checks
//   GET /readyz?verbose    all checks: "[+]webhook-certificate ok"
//   GET /readyz/watches    one check
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/http/transport.h"

namespace tpuslice {

struct HealthCheck {
  std::string name;               ///< Part of the path: "webhook-certificate".
  std::function<Status()> check;  ///< Thread-safe and fast.
  bool required = true;           ///< False: shown, but the endpoint is ok without it.
};

/// The checks of one endpoint.
struct HealthEndpoint {
  std::string path;  ///< "/readyz"
  std::vector<HealthCheck> checks;
};

/// 200, 500 with the reasons, or 404 with the paths that exist.
[[nodiscard]] http::Response answer_health(const std::vector<HealthEndpoint>& endpoints, std::string_view target);

}  // namespace tpuslice
