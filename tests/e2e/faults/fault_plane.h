// FaultTest: a test on a real control plane that all tests of this program share.
//
// Its etcd is compacted every few seconds; its API server keeps an audit log of the writes of the users operator-a and
// operator-b. SetUp() starts the API server again if a test left it down.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/client/client.h"
#include "api/http/transport.h"
#include "tests/e2e/runner/invariant_watch.h"
#include "tests/support/control_plane.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

/// Number of slices of 2x4 chips, with two hosts each, that the nodes have room for.
inline constexpr int kSliceCapacity = 12;

class FaultTest : public ::testing::Test {
 protected:
  /// Skips the test if programs of the control plane are missing.
  void SetUp() override;
  /// Checks the safety law; keeps the logs of a failed test.
  void TearDown() override;

  [[nodiscard]] static ControlPlane& plane();
  [[nodiscard]] static client::Client& client() { return plane().client(); }
  /// Allows many operators in this process.
  [[nodiscard]] static http::Transport& transport();
  /// Checks that no two live pods of RayClusters are the same head or worker.
  [[nodiscard]] e2e::InvariantWatch& pods() { return *pods_; }
  /// For a test that violates the invariant itself.
  [[nodiscard]] std::unique_ptr<e2e::InvariantWatch> take_pods() { return std::move(pods_); }
  /// The real program, watching all namespaces. `user` is operator-a or operator-b, cluster administrators, or empty:
  /// the ServiceAccount of deploy/rbac.
  [[nodiscard]] static Result<std::unique_ptr<OperatorProcess>> start_operator(bool leader_elect,
                                                                               const std::string& user = {});
  /// Writes of operator-a or operator-b except leases, from the audit log: "<status> <verb> <resource>
  /// <namespace>/<name>".
  [[nodiscard]] static std::vector<std::string> writes_of(const std::string& user);

 private:
  std::unique_ptr<e2e::InvariantWatch> pods_;
};

}  // namespace tpuslice::testing
