// PluginPlane: a real control plane with the operator of deploy/install.yaml, on which `kubectl tpu` is run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/install/install_plane.h"

namespace tpuslice::testing {

/// Namespaces of teams are deleted after each test.
class PluginPlane : public InstallPlane {
 protected:
  static constexpr const char* kKubeconfigOfAdmin = "";

  void SetUp() override;
  void TearDown() override;

  void create_namespace(const std::string& name);
  static void apply_in(const std::string& namespace_name, const std::string& manifest);
  /// Waits until this many pods with TPUs run in the namespace.
  static void wait_running(const std::string& namespace_name, int pods);
  /// Expects that the shell command succeeds, repeated for up to two minutes.
  static void wait_until(const std::string& command);

  /// What `kubectl tpu ARGUMENTS` prints; with the kubeconfig of another user, if one is given.
  static CommandOutput tpu(const std::string& arguments, const std::string& kubeconfig = kKubeconfigOfAdmin);
  /// Expects that it ends with `exit_code`, and that its output matches each of `patterns` (RE2; '^' and '$' match at
  /// lines).
  static void expect_tpu(const std::string& arguments, int exit_code, const std::vector<std::string>& patterns);

 private:
  std::vector<std::string> namespaces_;
};

/// The pools of InstallPlane, "tpu-0" to "tpu-7", are of this shape.
[[nodiscard]] sim::NodePool pool_named(const std::string& name);

}  // namespace tpuslice::testing
