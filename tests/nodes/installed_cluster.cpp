#include "tests/nodes/installed_cluster.h"

#include <fmt/format.h>

#include "api/base/file.h"
#include "tests/nodes/install.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {

void InstalledCluster::start(NodeClusterOptions options, const std::string& install_command) {
  cluster_ = NodeCluster::start(std::move(options));
  if (!cluster_.ok()) return;
  fmt::print("the nodes are ready after {:.1f} s\n", std::chrono::duration<double>(cluster().start_time()).count());
  install(install_command);
}

void InstalledCluster::install(const std::string& command) {
  const Status installed = install_on_nodes(cluster(), TPUSLICE_OPERATOR_PROGRAM, command);
  ASSERT_TRUE(installed.ok()) << installed.error().message();
}

void InstalledCluster::TearDownTestSuite() {
  if (cluster_.ok() && ::testing::UnitTest::GetInstance()->current_test_suite()->Failed()) cluster().keep_dir();
  cluster_ = Error::not_found("ended");
}

void InstalledCluster::SetUp() {
  if (!cluster_ && cluster_.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << cluster_.error().message();
  ASSERT_TRUE(cluster_.ok()) << cluster_.error().message();
}

Result<std::string> InstalledCluster::try_kubectl(const std::string& arguments) {
  return run_kubectl(cluster(), arguments);
}

std::string InstalledCluster::kubectl(const std::string& arguments) {
  const auto output = try_kubectl(arguments);
  EXPECT_TRUE(output.ok()) << "kubectl " << arguments << ": " << output.error().message();
  return output.ok() ? *output : "";
}

void InstalledCluster::apply(const std::string& manifest) {
  const std::string path = cluster().plane().dir() + "/manifest.yaml";
  EXPECT_TRUE(write_private_file(path, manifest).ok());
  kubectl("apply --server-side -f " + path);
}

void InstalledCluster::expect_soon(const std::string& what, const std::function<bool()>& condition, Duration limit) {
  if (eventually(condition, limit)) return;
  ADD_FAILURE() << what << ": not within " << std::chrono::duration<double>(limit).count() << " s\n"
                << kubectl("get jobsets,jobs,pods -A -o wide") << kubectl("get events -A --sort-by=.lastTimestamp")
                << kubectl("-n tpu-slice-system logs deployment/tpu-slice-operator --all-pods --tail=30");
}

}  // namespace tpuslice::testing
