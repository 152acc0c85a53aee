// AttackPlane: a real API server, the operator as a process, and what an attack on it costs.
//
// The kinds' objects are checked three times: by the CRD, by the validating webhook and by the controller. allow_all()
// removes the first two, as for objects that were stored before the operator was installed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/http/testing/blocking_connection.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

/// What one attack cost the operator, and what it did to others.
struct AttackCost {
  double peak_mib = 0;     ///< Resident memory.
  double cpu_seconds = 0;  ///< Beyond that of the admitted pods.
  double median_ms = 0;  ///< Time in which the API server, which calls the webhook, admits a TPU pod of another tenant.
  double p99_ms = 0;
  double slowest_ms = 0;
};

struct AttackPlaneOptions {
  std::string program = {};                  ///< The operator; empty: of this build.
  std::vector<std::string> etcd_flags = {};  ///< Additional flags: {"--flag=value"}.
  std::vector<std::string> apiserver_flags = {};
};

/// A TPU pod of another tenant; its worker id is 0.
[[nodiscard]] Object legitimate_pod();

/// The value below which that share of `values` is; 0 without values.
[[nodiscard]] double percentile(std::vector<double> values, double share);

/// Used by one thread, but for client() and connect_to_webhook().
class AttackPlane {
 public:
  /// Errors: NotFound if the programs of the control plane are missing.
  static Result<std::unique_ptr<AttackPlane>> start(const AttackPlaneOptions& options = {});

  /// Runs `attack` while pods of another tenant are admitted, until the operator is idle.
  AttackCost measure(const std::function<void()>& attack);
  /// Waits, for a limited time, until the operator is idle but for the admission of pods.
  void wait_for_rest();
  /// Removes limits from the CRDs, the validating webhooks and the admission policy.
  Status allow_all();
  /// Deletes the objects of the tenant.
  void clean_up();

  /// Of the tenant, who may do everything but is no cluster administrator.
  [[nodiscard]] client::Client& client() { return *tenant_; }
  [[nodiscard]] http::Transport& transport() { return *transport_; }
  [[nodiscard]] OperatorProcess& op() { return *operator_; }
  /// A connection to the webhook of a client that is not the API server; the rest as in BlockingOptions.
  [[nodiscard]] Result<std::unique_ptr<http::BlockingConnection>> connect_to_webhook(
      const std::string& local_address = {}, int window = 0) const;
  /// Of the operator: webhook, health, metrics.
  [[nodiscard]] std::vector<int> ports() const { return {port_, operator_->health_port(), operator_->metrics_port()}; }
  [[nodiscard]] ControlPlane& plane() { return *plane_; }

 private:
  AttackPlane() = default;

  Status connect_tenant();
  std::vector<double> admit_pods(const std::stop_token& stop);

  const RealClock clock_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> tenant_;
  std::unique_ptr<OperatorProcess> operator_;
  std::string authority_;
  int port_ = 0;
  double cpu_per_pod_ = 0;  ///< Seconds, measured at the start.
};

}  // namespace tpuslice::testing
