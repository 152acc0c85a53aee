// The Helm chart in use, by the commands of docs/install.md: other values, the drain, and the removal of the operator
// while workloads run and wait.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "tests/e2e/docs/docs_plane.h"
#include "tests/support/live_pods.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kInstallPage = "docs/install.md";
constexpr const char* kChartTeam = "team-b";
const ObjectKey kDrainJob{kOperatorNamespace, "tpu-slice-drain"};

/// What the Deployment and the webhooks must have after a command of the page that has this part.
struct Effect {
  std::string part;
  std::string command;
  std::string pattern;
};

const std::vector<Effect>& effects() {
  static const std::string kDeployment = "kubectl -n tpu-slice-system get deployment tpu-slice-operator -o yaml";
  static const std::vector<Effect> kEffects = {
      {"--set image.repository=registry.example.com/tpu-slice-operator", kDeployment,
       "image: registry.example.com/tpu-slice-operator:[0-9.]+$"},
      {"--set 'controllers={slice}'", kDeployment, "--controllers=slice$"},
      {"--set 'controllers={-slice}'", kDeployment, "--controllers=-slice$"},
      {"--set webhook.certificateSecret=webhook-tls", kDeployment, "secretName: webhook-tls$"},
      {"inject-ca-from", "kubectl get mutatingwebhookconfiguration tpu-slice-operator -o yaml",
       "cert-manager.io/inject-ca-from: tpu-slice-system/webhook-tls$"},
  };
  return kEffects;
}

class ChartPages : public DocsPlane {
 protected:
  void install() {
    pages().run(fmt::format("kubectl create namespace {}", kChartTeam));
    const auto commands = commands_of_section(kInstallPage, "## Helm");
    ASSERT_THAT(commands, SizeIs(1));
    const CommandResult installed = pages().run(commands.front());
    ASSERT_EQ(installed.exit_code, 0) << installed.text;
    ASSERT_NO_FATAL_FAILURE(start_operator(kOperatorNamespace));
  }

  /// Two slices run, one has no nodes.
  void start_workloads() {
    apply_here(workload_named("raycluster", "cluster"));
    apply_here(workload_named("jobset", "running"));
    ASSERT_NO_FATAL_FAILURE(wait_running(2 * kHostsOfSlice));
    std::string waiting = workload_named("jobset", "waiting");
    RE2::GlobalReplace(&waiting, "tpu-v6e-slice", "tpu-v4-podslice");
    RE2::GlobalReplace(&waiting, "\\b4x4\\b", "2x2x4");
    apply_here(waiting);
    ASSERT_NO_FATAL_FAILURE(wait_until(fmt::format("[ $({} | wc -l) = {} ]", kGatedPods, kHostsOfSlice)));
  }

  /// As cert-manager would: the Secret, and the CA in the webhook configurations.
  void make_certificate() {
    const std::string folder = pages().directory() + "/certificate";
    const auto authority = make_webhook_certificate(folder);
    ASSERT_TRUE(authority.ok()) << authority.error().message();
    authority_ = *authority;
    expect_run(fmt::format("kubectl -n {0} create secret tls webhook-tls --cert={1}/tls.crt --key={1}/tls.key",
                           kOperatorNamespace, folder));
  }

  void inject_authority() {
    for (const char* kind : {"mutatingwebhookconfiguration", "validatingwebhookconfiguration"}) {
      expect_run(
          fmt::format("kubectl get {0} tpu-slice-operator -o json | "
                      "jq '.webhooks[].clientConfig.caBundle = \"{1}\"' | kubectl replace -f -",
                      kind, encode_base64(authority_)));
    }
  }

  /// Each command of the section with an operator that runs before and after it, as the Deployment says.
  void change_values() {
    const auto before = running_pods();
    for (const std::string& command : commands_of_section(kInstallPage, "### Other values")) {
      fmt::print("$ {}\n", command);
      stop_operator();
      restore_webhooks();
      const CommandResult upgraded = pages().run(command);
      ASSERT_EQ(upgraded.exit_code, 0) << command << "\n" << upgraded.text;
      const bool known = std::ranges::any_of(
          effects(), [&](const Effect& effect) { return command.find(effect.part) != std::string::npos; });
      EXPECT_TRUE(known) << command << ": not in effects()";
      for (const Effect& effect : effects()) {
        if (command.find(effect.part) == std::string::npos) continue;
        EXPECT_TRUE(RE2::PartialMatch(expect_run(effect.command), RE2("(?m)" + effect.pattern))) << command;
      }
      if (command.find("cert-manager") != std::string::npos) inject_authority();
      ASSERT_NO_FATAL_FAILURE(start_operator(kOperatorNamespace)) << command;
      EXPECT_EQ(running_pods(), before) << command;
    }
  }

  /// Runs what the container of the drain's Job would.
  void run_drain_job() {
    const auto job = client().get(kJobs, kDrainJob);
    ASSERT_TRUE(job.ok()) << job.error().message();
    const Json& pod = job->json()["spec"]["template"]["spec"];
    const auto kubeconfig =
        plane().service_account_kubeconfig({kOperatorNamespace, string_at(pod, {"serviceAccountName"})});
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    std::string arguments = "--kubeconfig=" + *kubeconfig;
    for (const Json& argument : pod["containers"][0]["args"]) {
      arguments += " '" + argument.get<std::string>() + "'";
    }
    const CommandResult drained = pages().run("tpu-slice-operator " + arguments);
    ASSERT_EQ(drained.exit_code, 0) << drained.text;
    EXPECT_THAT(drained.text, HasSubstr("nothing of tpu-slice-operator holds pods or objects any more"));
    expect_run(
        fmt::format("kubectl -n {} annotate pods -l app.kubernetes.io/name=tpu-slice-drain "
                    "sim.tpuslice.dev/complete-after=0s",
                    kOperatorNamespace));
  }

  void drain_and_uninstall() {
    const auto before = running_pods();
    stop_operator();
    restore_webhooks();
    for (const std::string& command : commands_of_section(kInstallPage, "### Uninstall the chart")) {
      fmt::print("$ {}\n", command);
      const CommandResult result = pages().run(command);
      ASSERT_EQ(result.exit_code, 0) << command << "\n" << result.text;
      if (command.find("drain.enabled") != std::string::npos) {
        ASSERT_NO_FATAL_FAILURE(run_drain_job());
      }
    }
    EXPECT_EQ(running_pods(), before) << "a pod was replaced";
    EXPECT_EQ(pages().run(kGatedPods).text, "");
  }

  /// A pod of a Job that has run on is replaced without the gate that the Job's template has.
  void lose_pod() {
    const std::string host = "batch.kubernetes.io/job-name=running-slice-0,batch.kubernetes.io/job-completion-index=1";
    EXPECT_EQ(pages().run("kubectl delete pod -l " + host).exit_code, 0);
    ASSERT_NO_FATAL_FAILURE(wait_running(2 * kHostsOfSlice));
    EXPECT_EQ(pages().run(kGatedPods).text, "");
  }

  void expect_removed() {
    EXPECT_THAT(expect_run("kubectl get crds -o name"), HasSubstr("jobsets.jobset.x-k8s.io")) << "the CRDs must stay";
    expect_run("kubectl delete -f deploy/drain/gate-policy.yaml");
    expect_run(
        fmt::format("kubectl delete namespace {} {} && kubectl delete crds --all", kChartTeam, kOperatorNamespace));
    for (const char* type :
         {"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "clusterroles", "clusterrolebindings",
          "validatingadmissionpolicies", "mutatingadmissionpolicies", "priorityclasses", "roles -A"}) {
      EXPECT_THAT(expect_run(fmt::format("kubectl get {} -o name", type)), Not(HasSubstr("tpu-slice"))) << type;
    }
  }

 private:
  static constexpr const char* kGatedPods =
      "kubectl get pods -o json | jq -r '.items[] | select(any(.spec.schedulingGates[]?; .name == "
      "\"tpuslice.dev/slice\")) "
      "| .metadata.name'";
  std::string authority_;
};

TEST_F(ChartPages, TheChartIsChangedDrainedAndUninstalledWhileWorkloadsRun) {
  ASSERT_NO_FATAL_FAILURE(start_pages(kChartTeam));
  ASSERT_NO_FATAL_FAILURE(install());
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  ASSERT_NO_FATAL_FAILURE(make_certificate());
  ASSERT_NO_FATAL_FAILURE(change_values());
  ASSERT_NO_FATAL_FAILURE(drain_and_uninstall());
  ASSERT_NO_FATAL_FAILURE(lose_pod());
  expect_removed();
}

}  // namespace
}  // namespace tpuslice::testing
