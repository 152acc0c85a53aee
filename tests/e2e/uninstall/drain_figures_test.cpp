// Time and requests that a drain takes: TPUSLICE_DRAIN_PODS gated pods (400), in slices of four.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/client/credentials.h"
#include "api/http/client/network_transport.h"
#include "api/types/yaml.h"
#include "controllers/runtime/parallel.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

int number_of_pods() {
  const char* text = std::getenv("TPUSLICE_DRAIN_PODS");
  return text == nullptr ? 400 : std::max(1, std::atoi(text));  // NOLINT: a wrong number is 1
}

Object gated_pod(int number) {
  const int slice = number / kHostsOfSlice;
  const Json gates = Json::array({{{"name", tpu::kSliceGate}}});
  return Object(Json{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", fmt::format("pod-{:05}", number)},
        {"namespace", "default"},
        {"labels", {{tpu::kSlice, fmt::format("slice-{}", slice)}}}}},
      {"spec", {{"schedulingGates", gates}, {"containers", Json::array({{{"name", "main"}, {"image", "example"}}})}}}});
}

/// The first entry of a drain's log with `message`, and of those the one about `what`, if it is not empty.
Result<Json> log_entry(const std::string& log, std::string_view message, std::string_view what = {}) {
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    auto entry = parse_json(line);
    if (!entry || string_at(*entry, {"msg"}) != message) continue;
    if (what.empty() || string_at(*entry, {"what"}) == what) return entry;
  }
  return Error::not_found("the log has no entry \"{}\"", message);
}

/// From the Lease to the end of the first round of patches.
Result<double> patch_seconds(const std::string& log) {
  ASSIGN_OR_RETURN(const Json begun, log_entry(log, "lease acquired"));
  ASSIGN_OR_RETURN(const Json ended, log_entry(log, "released", "gates of pods"));
  const auto from = parse_rfc3339(string_at(begun, {"ts"}));
  const auto to = parse_rfc3339(string_at(ended, {"ts"}));
  if (!from || !to) return Error::internal("the log has no time stamps");
  return std::chrono::duration<double>(*to - *from).count();
}

Result<double> requests_of(const std::string& log) {
  ASSIGN_OR_RETURN(const Json entry, log_entry(log, "drained"));
  ASSIGN_OR_RETURN(const auto samples, parse_metrics(string_at(entry, {"metrics"})));
  return sum_of(samples, "rest_client_requests_total");
}

/// An API server without controllers, the permissions and policies of deploy/, and gated pods.
class DrainFigures : public ::testing::Test {
 protected:
  void SetUp() override {
    auto started = ControlPlane::start({.controllers = false, .scheduler = false, .kwok = false});
    if (!started && started.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << started.error().message();
    ASSERT_TRUE(started.ok()) << started.error().message();
    plane_ = *std::move(started);
    const Status installed = install_operator(plane_->client());
    ASSERT_TRUE(installed.ok()) << installed.error().message();
  }

  void create_pods(int pods) {
    std::atomic<int> created = 0;
    runtime::ThreadPool threads(16);
    threads.run(static_cast<std::size_t>(pods), 16, [&](std::size_t number) {
      if (plane_->client().create(kPods, gated_pod(static_cast<int>(number)))) ++created;
    });
    ASSERT_EQ(created, pods);
  }

  /// The output of a drain, which must succeed.
  std::string drain(const std::string& kubeconfig) {
    const std::string log = plane_->dir() + "/drain.log";
    auto process = Process::start({.program = TPUSLICE_OPERATOR_PROGRAM,
                                   .args = {"--drain", "--log-level=debug", "--kubeconfig=" + kubeconfig,
                                            "--leader-election-namespace=tpu-slice-system"},
                                   .log = log});
    if (!process) return process.error().message();
    const auto exit_code = (*process)->wait(300s);
    std::string text = read_file(log).value_or("");
    EXPECT_EQ(exit_code, std::optional(0)) << text;
    return text;
  }

  std::unique_ptr<ControlPlane> plane_;
};

TEST_F(DrainFigures, OnePatchForEachPod) {
  const int pods = number_of_pods();
  ASSERT_NO_FATAL_FAILURE(create_pods(pods));
  const RealClock clock;
  const Instant begun = clock.now();
  const std::string text = drain(plane_->kubeconfig());
  const double seconds = std::chrono::duration<double>(clock.now() - begun).count();
  EXPECT_THAT(text, HasSubstr(fmt::format("gate removed from pods: {0} (default: {0}), of {1} slices", pods,
                                          (pods + kHostsOfSlice - 1) / kHostsOfSlice)));
  const auto patched = patch_seconds(text);
  const auto requests = requests_of(text);
  ASSERT_TRUE(patched.ok() && requests.ok()) << text;
  fmt::print("{} gated pods: patched after {:.1f} s, drained after {:.1f} s (at least 5 s); {} requests\n", pods,
             *patched, seconds, *requests);
  // Lists of 500, some of them again, and what does not depend on the number of pods.
  EXPECT_LE(*requests, pods + pods / 50 + 60);
}

// On GKE administrators are not in the group system:masters, so the admission policy forbids them to remove the gate.
TEST_F(DrainFigures, AnAdministratorWhomThePolicyRefusesMayDrain) {
  constexpr ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings",
                                   false};
  const auto kubeconfig = plane_->user_kubeconfig("administrator");
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  const Json binding = parse_yaml(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: administrator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: administrator}]
)")
                           .value();
  ASSERT_TRUE(plane_->client().create(kBindings, Object(binding)).ok());
  ASSERT_NO_FATAL_FAILURE(create_pods(8));

  // So that this test shows something: without a drain the policy refuses.
  const auto config = client::find_config(*kubeconfig, "");
  ASSERT_TRUE(config.ok());
  const RealClock clock;
  const auto transport = http::make_network_transport(client::transport_options(*config, clock).value());
  ASSERT_TRUE(transport.ok());
  client::Client user(**transport);
  std::string refusal;
  const bool refused = eventually([&] {  // API servers learn of the policy a moment after it was created.
    const auto patched = user.patch(kPods, {"default", "pod-00000"}, client::PatchType::kMerge,
                                    {{"spec", {{"schedulingGates", Json::array()}}}}, {.dry_run = true});
    refusal = patched ? "no error" : patched.error().message();
    return !patched && refusal.find("removed by the operator only") != std::string::npos;
  });
  ASSERT_TRUE(refused) << refusal;

  const std::string text = drain(*kubeconfig);
  EXPECT_THAT(text, HasSubstr("gate removed from pods: 8 (default: 8), of 2 slices"));
}

}  // namespace
}  // namespace tpuslice::testing
