// FaultTest: a test on the one real control plane that all tests of this program share.
//
// Its etcd is compacted every few seconds; its API server keeps an audit log of what the users operator-a and
// operator-b write. Whatever a test does to the control plane, the next one finds it running.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/client/client.h"
#include "api/http/transport.h"
#include "tests/e2e/runner/always.h"
#include "tests/support/control_plane.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {

/// Slices of 2x4 chips, on two hosts each, that the nodes have room for at a time.
inline constexpr int kSliceCapacity = 12;

class FaultTest : public ::testing::Test {
 protected:
  /// Skips where the programs of the control plane are missing.
  void SetUp() override;
  /// Holds the test to the safety law; keeps the logs of one that failed.
  void TearDown() override;

  [[nodiscard]] static ControlPlane& plane();
  [[nodiscard]] static client::Client& client() { return plane().client(); }
  /// For many operators in this process at a time.
  [[nodiscard]] static http::Transport& transport();
  /// No two live pods of RayClusters are the same head or worker.
  [[nodiscard]] e2e::Always& slices() { return *slices_; }
  /// Of a test that breaks the law itself.
  [[nodiscard]] std::unique_ptr<e2e::Always> take_slices() { return std::move(slices_); }
  /// The real program, watching all namespaces. `user` is operator-a or operator-b, who may do everything, or empty:
  /// the ServiceAccount of deploy/rbac.
  [[nodiscard]] static Result<std::unique_ptr<OperatorProcess>> start_operator(bool leader_elect,
                                                                               const std::string& user = {});
  /// What the API server received of operator-a or operator-b, leases left out: "<status> <verb> <resource>
  /// <namespace>/<name>".
  [[nodiscard]] static std::vector<std::string> writes_of(const std::string& user);

 private:
  std::unique_ptr<e2e::Always> slices_;
};

}  // namespace tpuslice::testing
