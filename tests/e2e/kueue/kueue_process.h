// KueueProcess: Kueue as a child process of a test, on a ControlPlane.
//
//   ASSIGN_OR_RETURN(const std::string kueue, kueue_directory());
//   options.crds = kueue_crds(kueue);                             // before the control plane starts
//   ASSIGN_OR_RETURN(const auto process, KueueProcess::start(*plane, kueue));
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/control_plane.h"
#include "tests/support/process.h"

namespace tpuslice::testing {

/// What tests/kueue/build.sh has built. Errors: NotFound with one line that says how to build it.
[[nodiscard]] Result<std::string> kueue_directory();

/// Files for ControlPlaneOptions::crds: Kueue's, and that of ProvisioningRequests.
[[nodiscard]] std::vector<std::string> kueue_crds(const std::string& kueue);

/// With the configuration that Kueue ships but for addresses, certificates and the integrations whose kinds are absent.
/// Killed when destroyed.
class KueueProcess {
 public:
  /// Returns when the API server calls Kueue's webhooks. The CRDs of its integrations exist.
  /// Errors: Unavailable or Timeout with the end of its log.
  static Result<std::unique_ptr<KueueProcess>> start(ControlPlane& plane, const std::string& kueue);

  [[nodiscard]] const std::string& log() const { return process_->log(); }
  [[nodiscard]] bool running() const { return process_->running(); }

 private:
  KueueProcess() = default;

  Status write_files(ControlPlane& plane);
  Status launch(const std::string& program);
  Status wait_ready();
  Status register_webhooks(client::Client& client, const std::string& manifest) const;
  Status wait_for_webhooks(client::Client& client) const;

  std::string dir_;  ///< Working directory: configuration and certificates.
  std::string log_;
  std::string kubeconfig_;
  std::string authority_;  ///< PEM; signed the certificate of the webhooks.
  int webhook_port_ = 0;
  int health_port_ = 0;
  std::unique_ptr<Process> process_;
};

}  // namespace tpuslice::testing
