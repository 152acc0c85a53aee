// UninstallPlane: a real control plane with the operator, and the commands of docs/install.md.
//
// The operator runs as a process beside the control plane. Its Deployment is created, too, so that the commands find
// it; the pods do nothing. Likewise the test runs the drain beside the pod of its Job, and ends that pod as the drain
// has ended.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

inline constexpr const char* kInstallPage = "docs/install.md";

struct CommandOutput {
  int exit_code = -1;
  std::string text;  ///< stdout and stderr.
};

/// Whether the pod has the operator's scheduling gate.
[[nodiscard]] bool has_gate(const Object& pod);

class UninstallPlane : public ::testing::Test {
 protected:
  static constexpr int kKinds = 5;
  static constexpr int kPools = kKinds;

  void SetUp() override;
  void TearDown() override;

  /// With the administrator's kubeconfig, in the source folder.
  CommandOutput run(const std::string& command);
  /// Expects that it succeeds.
  std::string expect_run(const std::string& command);
  void apply(const std::string& manifest);
  /// Runs a command of the page, and what the cluster's nodes would do.
  void run_from_page(const std::string& command);
  /// The commands of the section's first block that can be run, each with run_from_page().
  void run_section(const std::string& heading);
  /// With the ServiceAccount and webhook configurations that are installed.
  void start_operator();
  /// `tpu-slice-operator` with these flags.
  CommandOutput run_operator(std::vector<std::string> flags, const std::string& kubeconfig);
  /// Further empty pools of one slice.
  void add_pools(int count);

  /// Slices of every kind named "first-<kind>" that run in all pools, others named "second-<kind>" that wait, and the
  /// suspended JobSet "paused".
  void start_workloads();

  /// Pods of the namespace default with TPUs that are not terminating.
  [[nodiscard]] std::vector<Object> tpu_pods();
  /// Those of the workload with this name.
  [[nodiscard]] std::vector<Object> tpu_pods_of(const std::string& workload);
  /// Name to uid and number of restarts.
  [[nodiscard]] std::map<std::string, std::string> running_pods();
  /// Each slice that runs completely, with the pools of its nodes.
  [[nodiscard]] std::map<std::string, std::set<std::string>> pools_of_slices();
  /// Waits until so many of them run.
  [[nodiscard]] bool wait_running(int pods);

  [[nodiscard]] client::Client& client() { return plane_->client(); }
  [[nodiscard]] OperatorProcess& op() { return *operator_; }
  [[nodiscard]] const std::string& drain_output() const { return drain_output_; }
  [[nodiscard]] std::string admin() const { return plane_->kubeconfig(); }

 private:
  /// Runs what the Job's container would.
  void run_drain_job();

  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<OperatorProcess> operator_;
  std::string drain_output_;
  int commands_ = 0;
  int pools_ = 0;
};

}  // namespace tpuslice::testing
