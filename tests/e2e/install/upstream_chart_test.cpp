// docs/upgrade.md: upstream's controller is removed by Helm or kubectl while its definitions, and the objects, stay.
// The chart has the definition among its templates, as LeaderWorkerSet's charts 0.5.0 to 0.7.0.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "tests/e2e/install/install_plane.h"
#include "tests/e2e/install/ways.h"
#include "tests/support/eventually.h"
#include "tests/support/page_commands.h"

namespace tpuslice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kUpgradePage = "docs/upgrade.md";
constexpr const char* kKeepSection = "### Remove upstream's controller and keep the definitions";
constexpr const char* kDefinition = "leaderworkersets.leaderworkerset.x-k8s.io";

constexpr const char* kController = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: lws-controller-manager, namespace: lws-system}
spec:
  selector: {matchLabels: {app: lws}}
  template:
    metadata: {labels: {app: lws}}
    spec: {containers: [{name: manager, image: example}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lws-manager-role}
rules: []
)";

class UpstreamChart : public InstallPlane {
 protected:
  void SetUp() override {
    InstallPlane::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    make_chart(true);
    expect_run(fmt::format("helm install lws {} --namespace lws-system --create-namespace", chart()));
    expect_run(fmt::format("kubectl wait --for=condition=Established crd/{} --timeout=60s", kDefinition));
    apply(workload_of("leaderworkerset"));
  }
  void TearDown() override {
    if (!IsSkipped()) {
      run("helm uninstall lws --namespace lws-system");
      run(fmt::format("kubectl delete --ignore-not-found crd {}", kDefinition));
      run("kubectl delete --ignore-not-found deployment -n lws-system lws-controller-manager");
      run("kubectl delete --ignore-not-found clusterrole lws-manager-role");
      run("kubectl delete --ignore-not-found namespace lws-system");
    }
    InstallPlane::TearDown();
  }

  static std::string chart() { return plane().dir() + "/lws-chart"; }
  static void make_chart(bool has_definition) {
    expect_run(fmt::format("rm -rf {0} && mkdir -p {0}/templates", chart()));
    ASSERT_TRUE(write_private_file(chart() + "/Chart.yaml", "apiVersion: v2\nname: lws\nversion: 0.7.0\n").ok());
    ASSERT_TRUE(write_private_file(chart() + "/templates/manager.yaml", kController).ok());
    if (has_definition) {
      expect_run(fmt::format("cp deploy/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml {}/templates/", chart()));
    }
  }
  static std::string objects() { return run("kubectl get leaderworkersets -A -o name").text; }
};

TEST_F(UpstreamChart, IsRemovedByTheCommandsOfThePageWithoutItsDefinition) {
  const auto commands = commands_of_section(kUpgradePage, kKeepSection);
  ASSERT_THAT(commands, SizeIs(4));
  for (const std::string& command : commands) {
    expect_run(fmt::format("cd {} && {}", plane().dir(), command));
  }
  EXPECT_THAT(objects(), HasSubstr("leaderworkerset.leaderworkerset.x-k8s.io/")) << "the object must stay";
  EXPECT_THAT(expect_run("kubectl -n lws-system get deployments -o name"), Not(HasSubstr("lws-controller-manager")));
  EXPECT_THAT(expect_run("kubectl get clusterroles -o name"), Not(HasSubstr("lws-manager-role")));
  EXPECT_THAT(expect_run("helm list -A --short"), Not(HasSubstr("lws")));
}

/// The page says so.
TEST_F(UpstreamChart, LosesItsDefinitionByHelmUninstallAlthoughTheDefinitionIsAnnotated) {
  expect_run(fmt::format("kubectl annotate crd {} helm.sh/resource-policy=keep", kDefinition));
  expect_run("helm uninstall lws --namespace lws-system");
  EXPECT_TRUE(eventually([] { return run("kubectl get crds -o name").text.find(kDefinition) == std::string::npos; }));
}

TEST_F(UpstreamChart, KeepsItsAnnotatedDefinitionWhenItIsUpgradedToOneWithout) {
  expect_run(fmt::format("kubectl annotate crd {} helm.sh/resource-policy=keep", kDefinition));
  make_chart(false);
  expect_run(fmt::format("helm upgrade lws {} --namespace lws-system", chart()));
  EXPECT_THAT(objects(), HasSubstr("leaderworkerset.leaderworkerset.x-k8s.io/"));
}

}  // namespace
}  // namespace tpuslice::testing
