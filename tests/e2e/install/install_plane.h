// InstallPlane: a real control plane on which the operator is installed by kubectl and Helm.
//
// The operator runs as a process beside the control plane, with the arguments, mounted files and ServiceAccount of the
// installed Deployment; only addresses are replaced by ports of 127.0.0.1. The pods of the Deployment do nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/control_plane.h"
#include "tests/support/process.h"

namespace tpuslice::testing {

inline constexpr const char* kOperatorNamespace = "tpu-slice-system";

struct CommandOutput {
  int exit_code = -1;
  std::string text;  ///< stdout and stderr.
};

/// Objects by kind, namespace and name.
using ObjectSet = std::map<std::string, Json>;
/// Errors: InvalidArgument if `yaml` cannot be parsed, or has an object twice.
[[nodiscard]] Result<ObjectSet> object_set(const std::string& yaml);
/// Paths at which the two differ; empty if they are equal.
[[nodiscard]] std::vector<std::string> differences(const ObjectSet& left, const ObjectSet& right);

/// The test program shares one control plane; every test leaves it as it was.
class InstallPlane : public ::testing::Test {
 protected:
  static constexpr int kPools = 8;

  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  void TearDown() override;

  /// The administrator's kubeconfig, and a path with Helm and the operator.
  [[nodiscard]] static std::vector<std::pair<std::string, std::string>> environment();
  /// By a shell in the source folder, with that environment.
  static CommandOutput run(const std::string& command);
  /// Expects that it succeeds.
  static std::string expect_run(const std::string& command);
  static void apply(const std::string& manifest);

  /// Directs the installed webhooks to the process, and starts it. Returns when it is ready. It serves metrics by HTTP,
  /// since most tests have no token, or as the Deployment says.
  void start_operator(const std::string& namespace_name, bool metrics_as_installed = false);
  /// Expects that it ends with status 0.
  void stop_operator();
  /// Directs the webhooks to the Service again, as an installer expects to find them.
  static void restore_webhooks();
  /// Requests that the API server has refused for lack of permissions, from the metrics.
  [[nodiscard]] std::string forbidden_requests();
  [[nodiscard]] const std::string& operator_log() const { return log_; }
  [[nodiscard]] int health_port() const { return health_port_; }
  [[nodiscard]] int metrics_port() const { return metrics_port_; }

  /// Pods of the namespace default with TPUs that are not terminating.
  [[nodiscard]] static std::vector<Object> tpu_pods();

  [[nodiscard]] static client::Client& client() { return plane().client(); }
  [[nodiscard]] static ControlPlane& plane() { return *shared_plane(); }

 private:
  static std::unique_ptr<ControlPlane>& shared_plane();

  std::unique_ptr<Process> operator_;
  std::string log_;
  int health_port_ = 0;
  int metrics_port_ = 0;
};

}  // namespace tpuslice::testing
