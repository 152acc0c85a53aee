// InstalledCluster: fixture of the tests on real kubelets, a NodeCluster with the operator as users install it.
//
//   class Slices : public InstalledCluster {
//    protected:
//     static void SetUpTestSuite() { start({.pools = pools(), .images = {"python"}}); }
//   };
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/nodes/node_cluster.h"

namespace tpuslice::testing {

/// One cluster for all tests of a suite, whose directory is kept if one of them fails. Tests are skipped outside of
/// run.sh.
class InstalledCluster : public ::testing::Test {
 protected:
  /// Starts the cluster and installs the operator of this build on its nodes without TPUs. The options have such a
  /// pool, "cpu". `install`: arguments of kubectl; if empty, the nodes have its image only.
  static void start(NodeClusterOptions options,
                    const std::string& install = "apply --server-side -f deploy/install.yaml");
  static void TearDownTestSuite();
  void SetUp() override;

  static NodeCluster& cluster() { return **cluster_; }
  /// Output of kubectl as the administrator. Errors: as output_of().
  static Result<std::string> try_kubectl(const std::string& arguments);
  /// Expects that it succeeds.
  static std::string kubectl(const std::string& arguments);
  static void apply(const std::string& manifest);
  /// Expects `condition` within `limit`; otherwise pods, events and the last lines of the operator's log are in the
  /// failure.
  static void expect_soon(const std::string& what, const std::function<bool()>& condition,
                          Duration limit = std::chrono::seconds(60));

 private:
  static void install(const std::string& command);

  static inline Result<std::unique_ptr<NodeCluster>> cluster_ = Error::not_found("not started");
};

}  // namespace tpuslice::testing
