// The operator is installed in each way of docs/install.md, serves a workload of each kind, and is removed.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "tests/e2e/install/install_plane.h"
#include "tests/e2e/install/ways.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/support/eventually.h"
#include "tests/support/page_commands.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

bool is_running(const Object& pod) { return string_at(pod.json(), {"status", "phase"}) == "Running"; }

std::string worker_id(const Object& pod) {
  for (const Json& variable : pod.json()["spec"]["containers"][0].value("env", Json::array())) {
    if (string_at(variable, {"name"}) == "TPU_WORKER_ID") return "set";
  }
  return "";
}

class Install : public InstallPlane, public ::testing::WithParamInterface<InstallWay> {
 protected:
  /// Each slice runs in one pool, its pods know their host index, and the operator has placed it, if it does that.
  static void expect_slices(std::size_t slices) {
    std::map<std::string, std::set<std::string>> pools;
    std::size_t placed = 0;
    for (const Object& pod : tpu_pods()) {
      const std::string node = string_at(pod.json(), {"spec", "nodeName"});
      pools[pod.label(tpu::kSlice)].insert(node.substr(0, node.rfind('-')));
      EXPECT_EQ(worker_id(pod), "set") << pod.name();
      if (!pod.annotation(tpu::kPlacedOn).empty()) ++placed;
    }
    EXPECT_THAT(pools, SizeIs(slices));
    for (const auto& [slice, used] : pools) EXPECT_THAT(used, SizeIs(1)) << slice;
    EXPECT_EQ(placed, GetParam().gated ? slices : 0);
  }

  static void run_workloads(const std::vector<std::string>& kinds) {
    const std::size_t pods = kinds.size() * kHostsOfSlice;
    for (const std::string& kind : kinds) apply(workload_of(kind));
    const bool running = eventually(
        [&] {
          const auto found = tpu_pods();
          return found.size() == pods && std::ranges::all_of(found, is_running);
        },
        120s);
    EXPECT_TRUE(running) << expect_run("kubectl get pods -o wide");
    if (running) expect_slices(kinds.size());
    for (const std::string& kind : kinds) {
      const std::string file = fmt::format("{}/{}.yaml", plane().dir(), kind);
      ASSERT_TRUE(write_private_file(file, workload_of(kind)).ok());
      expect_run("kubectl delete --timeout=120s -f " + file);
    }
    EXPECT_TRUE(eventually([&] { return tpu_pods().empty(); })) << expect_run("kubectl get pods");
  }
};

TEST_P(Install, ServesWorkloadsAndIsRemoved) {
  const InstallWay& way = GetParam();
  expect_run(way.install);
  ASSERT_NO_FATAL_FAILURE(start_operator(kOperatorNamespace));
  run_workloads(way.kinds);
  EXPECT_EQ(forbidden_requests(), "") << read_file(operator_log()).value_or("").substr(0, 4000);
  stop_operator();

  expect_run(way.remove);
  if (way.install.starts_with("helm ")) {
    EXPECT_THAT(expect_run("kubectl get crds -o name"), HasSubstr("jobsets.jobset.x-k8s.io")) << "the CRDs must stay";
    expect_run("kubectl delete crds --all && kubectl delete namespace tpu-slice-system");
  }
  for (const char* type : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "clusterroles",
                           "clusterrolebindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
                           "namespaces", "priorityclasses", "roles -A", "rolebindings -A", "crds"}) {
    EXPECT_THAT(expect_run(fmt::format("kubectl get {} -o name", type)),
                AllOf(Not(HasSubstr("tpu-slice")), Not(HasSubstr("x-k8s.io")), Not(HasSubstr("ray.io"))))
        << type;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Install, ::testing::ValuesIn(install_ways()), [](const auto& way) {
  std::string name = way.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(InstallPage, HasTheCommandsThatTheTestsRun) {
  std::set<std::string> tested;
  for (const InstallWay& way : install_ways()) tested.insert(way.install);
  std::set<std::string> on_page;
  for (const PageCommand& command : commands_of_page("docs/install.md")) {
    on_page.insert(command.text);
    if (command.heading != "## Kustomize" && command.heading != "## Helm") continue;
    EXPECT_TRUE(tested.contains(command.text)) << command.where() << ": " << command.text << " is run by no test";
  }
  for (const std::string& command : tested) EXPECT_THAT(on_page, Contains(command));
}

}  // namespace
}  // namespace tpuslice::testing
