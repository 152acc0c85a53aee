// Each way of docs/install.md on nodes: the operator is ready with the limits that are shipped, a slice of two hosts
// runs, and the commands of the page remove it while the slice runs on.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/quantity.h"
#include "api/types/yaml.h"
#include "tests/e2e/install/ways.h"
#include "tests/nodes/installed_cluster.h"
#include "tests/nodes/two_host_slices.h"
#include "tests/support/page_commands.h"

namespace tpuslice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kPage = "docs/install.md";
constexpr const char* kSystem = "tpu-slice-system";

/// Resources of the operator's container in deploy/operator/operator.yaml.
Json shipped_resources() {
  const auto documents = parse_yaml_documents(read_file("deploy/operator/operator.yaml").value_or(""));
  for (const YamlDocument& document : documents.ok() ? *documents : std::vector<YamlDocument>()) {
    if (string_at(document.value, {"kind"}) != "Deployment") continue;
    return object_at(document.value, {"spec", "template", "spec", "containers", "0", "resources"});
  }
  return Json::object();
}

/// A cluster of its own for each test, on whose nodes is the image.
class NodesInstall : public InstalledCluster, public ::testing::WithParamInterface<InstallWay> {
 protected:
  void SetUp() override {
    start({.pools = two_host_pools(1, 2)}, "");
    InstalledCluster::SetUp();
  }
  void TearDown() override { InstalledCluster::TearDownTestSuite(); }
  static void TearDownTestSuite() {}

  /// Output of a command of the page, as the administrator. Expects that it succeeds.
  static std::string run(const std::string& command) {
    const auto output = output_of(fmt::format(
        "export KUBECONFIG='{0}' PATH=\"$(dirname \"$(tests/helm/assets.sh)\"):$PATH\" HELM_CACHE_HOME='{1}' "
        "HELM_CONFIG_HOME='{1}' HELM_DATA_HOME='{1}'; {2}",
        cluster().kubeconfig(), cluster().plane().dir() + "/helm", command));
    EXPECT_TRUE(output.ok()) << command << ": " << output.error().message();
    return output.ok() ? *output : "";
  }
  static void run_section(const std::string& heading) {
    const std::vector<std::string> commands = commands_of_section(kPage, heading);
    ASSERT_FALSE(commands.empty()) << heading;
    for (const std::string& command : commands) {
      run(command);
      if (!HasFailure()) continue;
      FAIL() << try_kubectl("get pods -A -o wide").value_or("")
             << try_kubectl("-n tpu-slice-system logs job/tpu-slice-drain").value_or("");
    }
  }

  /// In the Deployment's pods, and in the cgroups of their containers.
  static void expect_shipped_resources() {
    const Json shipped = shipped_resources();
    const auto limit = Quantity::parse(string_at(shipped, {"limits", "memory"}));
    ASSERT_TRUE(limit.ok()) << limit.error().message();
    const auto pods = live_pods(cluster().client(), kSystem, "app.kubernetes.io/name=tpu-slice-operator");
    EXPECT_THAT(pods, Not(::testing::IsEmpty()));
    for (const Object& pod : pods) {
      EXPECT_EQ(object_at(pod.json(), {"spec", "containers", "0", "resources"}), shipped) << pod.name();
      const std::string id = string_at(pod.json(), {"status", "containerStatuses", "0", "containerID"});
      const auto found = output_of(fmt::format(
          "cat $(find /sys/fs/cgroup/memory -type d -name {})/memory.limit_in_bytes", id.substr(id.rfind('/') + 1)));
      EXPECT_EQ(found.value_or("none"), std::to_string(limit->value())) << pod.name();
    }
  }

  static std::vector<Object> slice() { return live_pods(cluster().client(), "default", pods_of_slice("train")); }
  static auto running_slice() { return running_pods(cluster().client(), "default", pods_of_slice("train")); }

  static void expect_removed() {
    for (const char* type :
         {"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
          "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
          "clusterroles", "clusterrolebindings", "roles -A", "rolebindings -A", "namespaces", "priorityclasses",
          "leases -A", "crds"}) {
      EXPECT_THAT(run(fmt::format("kubectl get {} -o name", type)),
                  AllOf(Not(HasSubstr("tpu-slice")), Not(HasSubstr("x-k8s.io")), Not(HasSubstr("ray.io"))))
          << type;
    }
  }
};

TEST_P(NodesInstall, RunsASliceAndIsRemoved) {
  const InstallWay& way = GetParam();
  const RealClock clock;
  const Instant begun = clock.now();
  const auto seconds = [&] { return std::chrono::duration<double>(clock.now() - begun).count(); };
  run(way.install);
  run("kubectl -n tpu-slice-system rollout status deployment/tpu-slice-operator --timeout=180s");
  expect_soon("pods are refused while the webhook is unavailable", [] {
    return kubectl(
               "get mutatingwebhookconfiguration tpu-slice-operator -o "
               "jsonpath='{.webhooks[0].failurePolicy}'") == "Fail";
  });
  ASSERT_FALSE(HasFailure());
  const double ready = seconds();
  ASSERT_NO_FATAL_FAILURE(expect_shipped_resources());

  // Indexed Jobs get identity in every way, JobSets where our controller serves them.
  const bool has_jobsets = std::ranges::find(way.kinds, "jobset") != way.kinds.end();
  apply(has_jobsets ? two_host_jobset("train") : two_host_job("train"));
  expect_soon("a slice of two hosts runs whole", [] { return running_slice().size() == 2; });
  const auto before = running_slice();
  ASSERT_THAT(before, SizeIs(2));
  int placed = 0;
  for (const Object& pod : slice()) {
    EXPECT_EQ(missing_identity(pod), "") << pod.name();
    if (!pod.annotation(tpu::kPlacedOn).empty()) ++placed;
  }
  EXPECT_EQ(placed, way.gated ? 1 : 0) << "host 0 names the nodes if the operator has placed the slice";
  const double ran = seconds();

  const bool helm_chart = way.install.starts_with("helm ");
  ASSERT_NO_FATAL_FAILURE(run_section(helm_chart ? "### Uninstall the chart" : "## Remove"));
  EXPECT_EQ(running_slice(), before) << "the removal replaced a pod";
  run(fmt::format("kubectl delete --timeout=120s -f {}/manifest.yaml", cluster().plane().dir()));
  expect_soon("the pods of the slice are gone", [] { return slice().empty(); });
  // What the page leaves to be deleted later: the policy of the drain, the CRDs, the namespace of the chart.
  run("kubectl delete --ignore-not-found -f deploy/drain/gate-policy.yaml");
  run("kubectl delete --ignore-not-found --timeout=120s -f deploy/crds");
  run("kubectl delete --ignore-not-found --timeout=120s namespace tpu-slice-system");
  expect_removed();
  fmt::print("{}: ready after {:.1f} s, a slice ran after {:.1f} s, removed after {:.1f} s\n", way.name, ready, ran,
             seconds());
}

INSTANTIATE_TEST_SUITE_P(Ways, NodesInstall, ::testing::ValuesIn(install_ways()), [](const auto& way) {
  std::string name = way.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace tpuslice::testing
