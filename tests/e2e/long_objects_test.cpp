// An API server without WatchList, as before Kubernetes 1.34, and a Job whose JSON has 8.5 MiB: `<` takes one byte in
// etcd and six in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/random.h"
#include "api/client/credentials.h"
#include "api/http/client/network_transport.h"
#include "api/types/yaml.h"
#include "controllers/runtime/watch/watch_machine.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};

/// A suspended Job of the JobSet controller's label, with our gate in its pod template.
Object job_with(const std::string& name, std::size_t bytes_of_environment) {
  Json job = parse_yaml(fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {}, namespace: default, labels: {{jobset.sigs.k8s.io/jobset-name: any}}}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      schedulingGates: [{{name: {}}}]
      containers: [{{name: main, image: example, env: [{{name: TEXT}}]}}]
)",
                                    name, tpu::kSliceGate))
                 .value();
  job["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] = std::string(bytes_of_environment, '<');
  return Object(std::move(job));
}

constexpr std::size_t kMaxText = 1'420'000;

class LongObjects : public ::testing::Test {
 protected:
  void SetUp() override {
    ControlPlaneOptions options{.controllers = false, .scheduler = false, .kwok = false};
    options.apiserver_flags = {"--feature-gates=WatchList=false"};
    auto plane = ControlPlane::start(options);
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = std::move(*plane);
    const auto streamed = plane_->client().watch(kJobs, {.send_initial_events = true});
    ASSERT_FALSE(streamed.ok()) << "so that lists are read page by page";
  }
  void TearDown() override {
    if (HasFailure() && plane_) plane_->keep_dir();
  }
  void create(const Object& job) {
    const auto created = plane_->client().create(kJobs, job);
    ASSERT_TRUE(created.ok()) << created.error().message();
  }
  bool has_gate(const std::string& job) {
    const auto found = plane_->client().get(kJobs, {"default", job});
    return !found || array_at(found->json(), {"spec", "template", "spec", "schedulingGates"}).size() > 0;
  }

  std::unique_ptr<ControlPlane> plane_;
};

/// Regression: the operator was never ready, and no TPU pod of the cluster was admitted; the drain failed.
TEST_F(LongObjects, StopNeitherTheOperatorNorTheDrain) {
  const auto kubeconfig = install_operator(*plane_);
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
  create(job_with("long", kMaxText));
  create(job_with("usual", 10));
  auto started = OperatorProcess::start({.kubeconfig = *kubeconfig, .log = plane_->dir() + "/operator.log"});
  ASSERT_TRUE(started.ok()) << started.error().message();
  OperatorProcess& op = **started;
  const Json jobset = parse_yaml(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: other, namespace: default}
spec:
  replicatedJobs:
    - name: slice
      template:
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example}]}}}
)")
                          .value();
  const auto created = plane_->client().create(kJobSets, Object(jobset));
  ASSERT_TRUE(created.ok()) << created.error().message();
  EXPECT_TRUE(eventually([&] { return plane_->client().get(kJobs, {"default", "other-slice-0"}).ok(); }));
  EXPECT_GT(op.metric("tpuslice_watch_lists_total", {{"resource", "jobs.batch"}}).value_or(0), 0);
  ASSERT_TRUE(op.stop().ok());

  const std::string log = plane_->dir() + "/drain.log";
  auto drain = Process::start(
      {.program = TPUSLICE_OPERATOR_PROGRAM,
       .args = {"--drain", "--kubeconfig=" + plane_->kubeconfig(), "--leader-election-namespace=tpu-slice-system"},
       .log = log});
  ASSERT_TRUE(drain.ok()) << drain.error().message();
  EXPECT_EQ((*drain)->wait(120s), std::optional(0)) << read_file(log).value_or("");
  EXPECT_FALSE(has_gate("long"));
  EXPECT_FALSE(has_gate("usual"));
}

TEST_F(LongObjects, AreQuarantinedByNameIfTheTransportAcceptsLess) {
  create(job_with("a", 10));
  create(job_with("long", kMaxText));
  create(job_with("z", 10));
  const RealClock clock;
  auto transport_options = client::transport_options(plane_->config(), clock);
  ASSERT_TRUE(transport_options.ok());
  transport_options->max_response = 1U << 20U;
  const auto transport = http::make_network_transport(*transport_options);
  ASSERT_TRUE(transport.ok()) << transport.error().message();
  client::Client limited(**transport);
  Random random(1);
  Metrics metrics;
  runtime::JobStore store(kJobs);
  const KeptKeys annotations;
  runtime::WatchMachine machine(kJobs, {}, std::make_unique<runtime::StoreSink<JobView>>(store, annotations), {},
                                {limited, clock, random, metrics, Logger()});
  std::vector<std::string> quarantined;
  machine.on_quarantine([&](const runtime::QuarantinedObject& object) {
    quarantined.push_back(object.key.to_string());
    return true;
  });
  EXPECT_TRUE(eventually([&] {
    machine.step(clock.now(), Duration::zero(), {});
    return machine.synced();
  }));
  EXPECT_THAT(quarantined, ElementsAre("default/long"));
  EXPECT_NE(store.get({"default", "a"}), nullptr);
  EXPECT_NE(store.get({"default", "z"}), nullptr);
}

}  // namespace
}  // namespace tpuslice::testing
