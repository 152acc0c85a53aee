// The operator is removed by the commands of docs/install.md while workloads of every kind run and wait.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/uninstall/uninstall_plane.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/support/page_commands.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string scheduled_reason(const Object& pod) {
  for (const Json& condition : array_at(pod.json(), {"status", "conditions"})) {
    if (string_at(condition, {"type"}) == "PodScheduled") return string_at(condition, {"reason"});
  }
  return "";
}

using Uninstall = UninstallPlane;

TEST_F(Uninstall, LetsWorkloadsRunOnAndStart) {
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  const auto before = running_pods();
  ASSERT_THAT(before, SizeIs(kKinds * kHostsOfSlice));

  // The operator still runs; a dry run may be made at any time.
  const CommandOutput dry =
      run_operator({"--drain", "--dry-run", "--leader-election-namespace=tpu-slice-system"}, admin());
  EXPECT_THAT(dry.text, AllOf(HasSubstr("dry run: nothing was changed"),
                              HasSubstr("gate removed from pods: 20 (default: 20), of 5 slices"),
                              HasSubstr("gate removed from pod templates: 1 (default: 1)"),
                              HasSubstr("job default/first-jobset-slice-0: runs, so the gate")));
  EXPECT_EQ(dry.exit_code, 1) << dry.text;

  ASSERT_NO_FATAL_FAILURE(run_section("## Remove"));
  fmt::print("{}", drain_output());
  EXPECT_THAT(drain_output(), AllOf(HasSubstr("MutatingWebhookConfiguration tpu-slice-operator"),
                                    HasSubstr("gate removed from pods: 20 (default: 20), of 5 slices"),
                                    HasSubstr("nothing of tpu-slice-operator holds pods or objects any more")));

  EXPECT_EQ(running_pods(), before) << "a pod was replaced or restarted";
  for (const Object& pod : tpu_pods()) EXPECT_FALSE(has_gate(pod)) << pod.name();
  const bool considered = eventually([&] {
    const auto pods = tpu_pods();
    return std::ranges::none_of(pods, [](const Object& pod) { return scheduled_reason(pod) == "SchedulingGated"; });
  });
  EXPECT_TRUE(considered) << "kube-scheduler does not consider some pods";
  for (const char* left : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "clusterroles",
                           "clusterrolebindings", "validatingadmissionpolicies", "namespaces", "priorityclasses"}) {
    EXPECT_THAT(expect_run(fmt::format("kubectl get {} -o name", left)), Not(HasSubstr("tpu-slice"))) << left;
  }

  // One that replaces a pod of a running Job has no gate, although the Job's template has it.
  const std::string lost =
      "batch.kubernetes.io/job-name=first-jobset-slice-0,batch.kubernetes.io/job-completion-index=1";
  expect_run("kubectl delete pod -l " + lost);
  // As a JobSet controller does.
  expect_run("kubectl patch job paused-slice-0 --type=merge -p '{\"spec\":{\"suspend\":false}}'");
  add_pools(kKinds + 1);
  EXPECT_TRUE(wait_running((2 * kKinds + 1) * kHostsOfSlice)) << expect_run("kubectl get pods -o wide");
  EXPECT_THAT(expect_run("kubectl get pod -o jsonpath='{.items[*].status.phase}' -l " + lost), StartsWith("Running"));
  for (const auto& [slice, pools] : pools_of_slices()) EXPECT_THAT(pools, SizeIs(1)) << slice;

  // New pods with TPUs are admitted, and run. This one is in no slice, so it would have taken a node of one.
  add_pools(1);
  apply(single_pod_manifest("new"));
  expect_run("kubectl wait --for=condition=Ready pod/new --timeout=60s");
}

TEST_F(Uninstall, IsRefusedWhileAnOperatorRuns) {
  // Its pods, which do nothing here.
  const auto commands = commands_of_section(kInstallPage, "## Remove", 1);
  ASSERT_THAT(commands, SizeIs(1));
  const CommandOutput output = run(commands.front());
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.text, AllOf(HasSubstr("runs the operator; stop the operator first: kubectl -n tpu-slice-system "
                                           "scale deployment/tpu-slice-operator --replicas=0"),
                                 Not(HasSubstr("gate removed"))));
  EXPECT_THAT(expect_run("kubectl get mutatingwebhookconfigurations -o name"), HasSubstr("tpu-slice-operator"));
}

}  // namespace
}  // namespace tpuslice::testing
