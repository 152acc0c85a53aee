// RayServer: the dashboards of all Ray clusters of a scenario, on a port of 127.0.0.1.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "api/http/server/server.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"

namespace tpuslice::e2e {

class RayServer {
 public:
  /// Errors: as http::Server::start.
  static Result<std::unique_ptr<RayServer>> start();
  ~RayServer();

  [[nodiscard]] std::string address() const;
  [[nodiscard]] sim::RayDashboards& dashboards() { return dashboards_; }

 private:
  RayServer() = default;

  const RealClock clock_;
  sim::RayDashboards dashboards_{clock_};
  std::stop_source stop_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tpuslice::e2e
