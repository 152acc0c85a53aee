// The commands of README.md and docs/simulator.md that use the simulated cluster.
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "tests/e2e/docs/page_runner.h"
#include "tests/support/control_plane_files.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kReadme = "README.md";
constexpr const char* kSimulatorPage = "docs/simulator.md";
constexpr const char* kSample = "deploy/samples/raycluster-maxtext-v6e-4x4.yaml";
constexpr const char* kDemo = "cmd/tpu-slice-sim/demo.sh build/dev/bin/tpu-slice-sim";

class SimulatorPages : public ::testing::Test {
 protected:
  SimulatorPages() {
    runner_ = std::make_unique<PageRunner>(
        PageRunnerOptions{.directory = make_temporary_directory("tpu-slice-docs").value(),
                          .environment = {{"PATH", path_with_programs()}, {"KUBECONFIG", "/dev/null"}}});
    runner_->in_background("tpu-slice-sim --serve", "simulated cluster at");
    runner_->in_background("tpu-slice-sim --no-operator --serve", "simulated cluster at");
  }
  ~SimulatorPages() override {
    if (HasFailure()) {
      fmt::print("logs: {}\n", runner_->directory());
      return;
    }
    std::error_code ignored;
    std::filesystem::remove_all(runner_->directory(), ignored);
  }

  void copy(const std::string& from, const std::string& to) {
    const auto text = read_file(from);
    ASSERT_TRUE(text.ok()) << text.error().message();
    ASSERT_TRUE(write_private_file(runner_->directory() + "/" + to, *text).ok());
  }

  std::unique_ptr<PageRunner> runner_;
};

TEST_F(SimulatorPages, TheReadmeCanBeFollowed) {
  // What `make demo` runs when everything is built.
  EXPECT_THAT(read_file("Makefile").value_or(""), HasSubstr("\t@" + std::string(kDemo) + "\n"));
  runner_->replace("^make demo$", kDemo);
  runner_->expect("make demo", "maxtext-tpu-cluster .*ready");
  runner_->replace("build/dev/bin/tpu-slice-sim", "tpu-slice-sim");
  runner_->replace("demo.sh tpu-slice-sim", "demo.sh $(command -v tpu-slice-sim)");
  runner_->replace("/tmp/sim.kubeconfig", runner_->directory() + "/sim.kubeconfig");
  runner_->expect("kubectl get nodes -L cloud.google.com/gke-nodepool", "v6e-4x4-a-0 +Ready.* v6e-4x4-a$");
  runner_->expect("kubectl get pods -o wide", "maxtext-tpu-cluster.* Running ");
  const std::string events = "kubectl events --for jobset/sax-model-server-set";
  runner_->before(events, events + " | grep SliceWaiting");
  runner_->expect(events, "SliceWaiting.*match(es)?, none is free");
  runner_->after("kubectl delete raycluster --all", "! kubectl get pods -o name | grep maxtext");
  runner_->expect("kubectl get rayjob,rayclusters,jobs", "rayjob.ray.io/train");
  runner_->expect("kubectl get lws,pods -o wide", "leaderworkerset.leaderworkerset.x-k8s.io/jetstream-pathways");
  runner_->run_section(kReadme, "## Try it");
  EXPECT_THAT(runner_->unused(), IsEmpty());
}

TEST_F(SimulatorPages, TheSimulatorsPageIsRight) {
  copy(kSample, "manifest.yaml");
  copy(kSample, "x.yaml");
  const auto pools = block_of_section(kSimulatorPage, "## Node pools", "yaml");
  ASSERT_TRUE(pools.ok()) << pools.error().message();
  ASSERT_TRUE(write_private_file(runner_->directory() + "/pools.yaml", *pools).ok());
  const auto port = free_port();
  ASSERT_TRUE(port.ok());
  runner_->replace("\\b9443\\b", std::to_string(*port));
  // Its other ports are those of a pod, and nothing else serves its webhook.
  runner_->replace("^tpu-slice-operator ",
                   "tpu-slice-operator --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=127.0.0.1:0 "
                   "--shutdown-delay=0 ");
  runner_->in_background("tpu-slice-operator ", "listening.*webhook");
  runner_->expect("tpu-slice-sim --then 'kubectl get pods' x.yaml", "maxtext-tpu-cluster.* Running ");
  runner_->expect("tpu-slice-sim --pools pools.yaml x.yaml", "v6e-4x4-a");
  runner_->after("tpu-slice-sim --serve --kubeconfig kc", "KUBECONFIG=kc kubectl get nodes");
  const std::string own = "tpu-slice-operator --kubeconfig okc --webhook-bind-address 127.0.0.1:9443";
  runner_->after(own, "KUBECONFIG=kc kubectl apply -f manifest.yaml");
  runner_->after(own,
                 "KUBECONFIG=kc kubectl wait --for=condition=RayClusterProvisioned raycluster/maxtext-tpu-cluster");
  runner_->replace("^kubectl tpu report -A -f x.tar.gz$",
                   "tpu-slice-sim --then 'kubectl tpu report -A -f x.tar.gz' x.yaml");
  runner_->expect("tpu-slice-sim --nodes nodes.json workloads/*.json", "1 slice|slice.* run");
  runner_->run_page(kSimulatorPage);
  EXPECT_THAT(runner_->unused(), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::testing
