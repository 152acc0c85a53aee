// deploy/rbac against the requests that the controllers make: each runs as a process with a ServiceAccount of its own,
// which has the permissions of its files only. The API server's audit log shows what each has requested.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/pause.h"
#include "api/types/yaml.h"
#include "tests/e2e/install/expected_grants.h"
#include "tests/e2e/install/install_plane.h"
#include "tests/e2e/install/used_rules.h"
#include "tests/e2e/install/ways.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tests/support/eventually.h"
#include "tests/support/live_pods.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr ResourceType kJobSetType{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};
constexpr const char* kAuditPolicy = R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, userGroups: ["system:serviceaccounts:tpu-slice-system"]}
  - {level: None}
)";

std::vector<Json> objects_of_file(const std::string& file) {
  std::vector<Json> objects;
  const auto text = read_file(fmt::format("deploy/rbac/{}.yaml", file));
  const auto documents = parse_yaml_documents(text.ok() ? *text : "");
  if (documents) {
    for (const YamlDocument& document : *documents) objects.push_back(document.value);
  }
  EXPECT_FALSE(objects.empty()) << file;
  return objects;
}

class Permissions : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(write_private_file(policy_file(), kAuditPolicy).ok());
    sim::NodePool pool;
    pool.accelerator = "tpu-v6e-slice";
    pool.topology = "4x4";
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = 4;
    pool.chips_per_host = 4;
    ControlPlaneOptions options;
    for (int i = 0; i < kPools; ++i) {
      pool.name = fmt::format("tpu-{}", i);
      options.pools.push_back(pool);
    }
    sim::NodePool single = pool;
    single.name = "tpu-single-host";
    single.topology = "2x2";
    single.hosts = 1;
    options.pools.push_back(single);
    sim::NodePool cpu;
    cpu.name = "cpu";
    cpu.hosts = 3;
    options.pools.push_back(cpu);
    for (const char* crd : {"disaggregatedset.x-k8s.io_disaggregatedsets", "jobset.x-k8s.io_jobsets",
                            "leaderworkerset.x-k8s.io_leaderworkersets", "ray.io_rayclusters", "ray.io_raycronjobs",
                            "ray.io_rayjobs", "ray.io_rayservices"}) {
      options.crds.push_back(fmt::format("deploy/crds/{}.yaml", crd));
    }
    options.apiserver_flags = {"--audit-policy-file=" + policy_file(), "--audit-log-path=" + audit_log()};
    auto started = ControlPlane::start(std::move(options));
    if (!started && started.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << started.error().message();
    ASSERT_TRUE(started.ok()) << started.error().message();
    plane_ = *std::move(started);
    expect_run("kubectl apply --server-side -f deploy/operator/namespace.yaml -f deploy/operator/scouts.yaml");
    apply(roles());
    for (const auto& [controller, files] : files_of_controllers()) {
      ASSERT_NO_FATAL_FAILURE(start_controller(controller)) << controller;
    }
  }

  void TearDown() override {
    processes_.clear();
    if (HasFailure() && plane_) {
      plane_->keep_dir();
      fmt::print("logs: {}, audit log: {}\n", plane_->dir(), audit_log());
      return;
    }
    plane_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string expect_run(const std::string& command) {
    const std::string log = fmt::format("{}/command-{}.log", plane_->dir(), number_++);
    auto process = Process::start(
        {.program = "/bin/sh", .args = {"-c", command}, .log = log, .env = {{"KUBECONFIG", plane_->kubeconfig()}}});
    EXPECT_TRUE(process.ok());
    if (!process) return "";
    const auto exit_code = (*process)->wait(120s);
    std::string text = read_file(log).value_or("");
    EXPECT_EQ(exit_code, std::optional(0)) << command << "\n" << text;
    return text;
  }

  void apply(const std::string& manifest) {
    const std::string path = fmt::format("{}/manifest-{}.yaml", plane_->dir(), number_++);
    ASSERT_TRUE(write_private_file(path, manifest).ok());
    expect_run("kubectl apply --server-side -f " + path);
  }

  /// deploy/rbac, with each file bound to the ServiceAccounts of the controllers that need it.
  static std::string roles() {
    std::map<std::string, Json> subjects;  // Of a file.
    std::string manifest;
    for (const auto& [controller, files] : files_of_controllers()) {
      const Json account = {{"kind", "ServiceAccount"}, {"name", controller}, {"namespace", kOperatorNamespace}};
      for (const std::string& file : files) subjects[file].push_back(account);
      manifest += to_yaml({{"apiVersion", "v1"},
                           {"kind", "ServiceAccount"},
                           {"metadata", {{"name", controller}, {"namespace", kOperatorNamespace}}}}) +
                  "\n---\n";
    }
    for (const auto& [file, accounts] : subjects) {
      for (Json object : objects_of_file(file)) {
        if (object.contains("subjects")) object["subjects"] = accounts;
        manifest += to_yaml(object) + "\n---\n";
      }
    }
    return manifest;
  }

  void start_controller(const std::string& controller) {
    const auto kubeconfig = plane_->service_account_kubeconfig({kOperatorNamespace, controller});
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    OperatorProcessOptions options{.kubeconfig = *kubeconfig,
                                   .log = fmt::format("{}/{}.log", plane_->dir(), controller),
                                   .leader_elect = controller == "slice",
                                   .flags = {"--controllers=" + controller}};
    options.webhook_port = free_port().value_or(0);
    if (controller == "slice") {
      ASSERT_TRUE(register_webhook(plane_->client(), options.webhook_port).ok());
      options.flags.emplace_back("--scale-up=scout");
      options.flags.emplace_back("--feature-gates=SlicePreemption=true");
      options.flags.emplace_back("--max-preemptions-per-hour=1");
      options.metrics_secure = true;
      options.wait_ready = false;
    } else {
      options.webhook_cert_dir = fmt::format("{}/{}-tls", plane_->dir(), controller);
      ASSERT_TRUE(make_webhook_certificate(options.webhook_cert_dir).ok());
    }
    auto process = OperatorProcess::start(std::move(options));
    ASSERT_TRUE(process.ok()) << process.error().message();
    processes_[controller] = *std::move(process);
    ASSERT_TRUE(processes_[controller]->wait_ready(30s).ok());
  }

  std::vector<Object> tpu_pods() { return live_pods(plane_->client(), "default", std::string(tpu::kSlice)); }

  [[nodiscard]] bool job_is_suspended(const std::string& name) {
    const auto job = plane_->client().get(kJobs, {"default", name});
    return job.ok() && job->json()["spec"].value("suspend", false);
  }

  [[nodiscard]] bool wait_running(std::size_t pods) {
    return eventually(
        [&] {
          const auto all = tpu_pods();
          return pods == static_cast<std::size_t>(std::ranges::count_if(all, [](const Object& pod) {
                   return string_at(pod.json(), {"status", "phase"}) == "Running";
                 }));
        },
        120s);
  }

  [[nodiscard]] std::string policy_file() const { return folder_ + "/policy.yaml"; }
  [[nodiscard]] std::string audit_log() const { return folder_ + "/audit.log"; }

  static constexpr int kPools = 7;
  std::unique_ptr<ControlPlane> plane_;
  std::map<std::string, std::unique_ptr<OperatorProcess>> processes_;
  const std::string folder_ = fmt::format("{}tpu-slice-audit-{}", ::testing::TempDir(), getpid());
  int number_ = 0;
};

constexpr const char* kMoreWorkloads = R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: with-children}
spec:
  rayVersion: 2.60.0
  enableInTreeAutoscaling: true
  authOptions: {mode: token}
  headGroupSpec:
    enableIngress: true
    rayStartParams: {}
    template: {spec: {containers: [{name: head, image: example, resources: {limits: {cpu: "1", memory: 1Gi}}}]}}
---
apiVersion: ray.io/v1
kind: RayCronJob
metadata: {name: nightly}
spec:
  schedule: 30 2 * * *
  suspend: true
  jobTemplate: {entrypoint: python run.py, clusterSelector: {ray.io/cluster: with-children}}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: with-claim}
spec:
  suspend: true
  volumeClaimPolicies:
    - templates:
        - metadata: {name: data}
          spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  replicatedJobs:
    - name: main
      template:
        spec:
          template:
            metadata: {annotations: {sim.tpuslice.dev/complete-after: 1s}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: example, volumeMounts: [{name: data, mountPath: /data}]}]
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: failing}
spec:
  ttlSecondsAfterFinished: 0
  failurePolicy: {maxRestarts: 1}
  replicatedJobs:
    - name: main
      template:
        spec:
          backoffLimit: 0
          template:
            metadata: {annotations: {sim.tpuslice.dev/fail-after: 5s}}
            spec: {restartPolicy: Never, containers: [{name: main, image: example}]}
    - name: slice
      template:
        spec:
          template:
            metadata: {annotations: {tpuslice.dev/teardown-grace-period-seconds: "1"}}
            spec:
              restartPolicy: Never
              nodeSelector:
                cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
                cloud.google.com/gke-tpu-topology: 2x2
              containers: [{name: main, image: example, resources: {limits: {google.com/tpu: 4}}}]
)";

constexpr const char* kRoles = R"(
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: roles}
spec:
  roles:
    - name: prefill
      spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: main, image: example}]}}}}
    - name: decode
      scaling: {mode: External}
      spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: main, image: example}]}}}}
)";

TEST_F(Permissions, EachControllerUsesThoseOfItsFile) {
  const std::vector<std::string> kinds = {"raycluster",      "rayjob", "rayservice", "jobset",
                                          "leaderworkerset", "job",    "statefulset"};
  for (const std::string& kind : kinds) apply(workload_of(kind));
  apply(kMoreWorkloads);
  apply(kRoles);
  ASSERT_TRUE(wait_running(kinds.size() * kHostsOfSlice)) << expect_run("kubectl get pods -o wide");

  // A host is lost: the slice ends, its group or replica is created again. A slice without nodes asks for some.
  expect_run("kubectl delete pod --wait=false of-lws-0-1");
  apply(jobset_manifest("waiting", true));
  expect_run("kubectl patch jobset waiting --type=merge -p '{\"spec\":{\"suspend\":false}}'");
  expect_run("kubectl patch jobset with-claim --type=merge -p '{\"spec\":{\"suspend\":false}}'");
  EXPECT_TRUE(eventually([&] {
    return !plane_->client().list(kPods, {.namespace_name = kOperatorNamespace}, {})->items.empty();
  })) << "no scout pod";
  ASSERT_TRUE(wait_running(kinds.size() * kHostsOfSlice)) << expect_run("kubectl get pods -o wide");
  // A replica is removed; a JobSet that has run is suspended and resumed.
  expect_run(
      "kubectl patch raycluster of-raycluster --type=json -p "
      "'[{\"op\": \"replace\", \"path\": \"/spec/workerGroupSpecs/0/replicas\", \"value\": 0}]'");
  expect_run("kubectl patch jobset of-jobset --type=merge -p '{\"spec\":{\"suspend\":true}}'");
  EXPECT_TRUE(eventually([&] { return job_is_suspended("of-jobset-slice-0"); }));
  expect_run("kubectl patch jobset of-jobset --type=merge -p '{\"spec\":{\"suspend\":false}}'");
  EXPECT_TRUE(eventually([&] { return !job_is_suspended("of-jobset-slice-0"); }));
  expect_run("kubectl patch lws of-lws --type=merge -p '{\"spec\":{\"replicas\":2}}'");
  expect_run("kubectl scale dsrs/roles-decode --replicas=2");
  expect_run(
      fmt::format("curl -sk -o /dev/null -H \"Authorization: Bearer $(kubectl -n {} create token slice)\" "
                  "https://127.0.0.1:{}/metrics",
                  kOperatorNamespace, processes_["slice"]->metrics_port()));
  EXPECT_TRUE(eventually([&] { return !plane_->client().get(kJobSetType, {"default", "failing"}).ok(); }));
  expect_run(
      "kubectl delete raycronjobs,rayclusters,rayjobs,rayservices,jobsets,disaggregatedsets,lws --all --timeout=100s");
  tpuslice::pause(3s, {});
  for (auto& [controller, process] : processes_) {
    const Status stopped = process->stop();
    EXPECT_TRUE(stopped.ok()) << controller << ": " << stopped.error().message();
  }

  const auto requests = read_audit_log(audit_log(), kOperatorNamespace);
  ASSERT_TRUE(requests.ok()) << requests.error().message();
  std::set<std::string> refused;
  for (const AuditedRequest& request : *requests) {
    if (request.code == 403) refused.insert(request.to_string());
  }
  EXPECT_THAT(refused, IsEmpty());

  std::set<std::string> unused;
  std::size_t used = 0;
  for (const auto& [controller, files] : files_of_controllers()) {
    for (const std::string& file : files) {
      for (const Grant& grant : grants_of(file, objects_of_file(file))) {
        const bool uses = std::ranges::any_of(*requests, [&](const AuditedRequest& request) {
          const auto own = files_of_controllers().find(request.user);
          return own != files_of_controllers().end() && std::ranges::count(own->second, file) > 0 &&
                 grant.allows(request);
        });
        used += uses ? 1 : 0;
        if (!uses && !may_be_unused(grant)) unused.insert(grant.to_string());
      }
    }
  }
  EXPECT_THAT(unused, IsEmpty()) << "no controller uses them: remove them, or give the reason here";
  fmt::print("{} requests; {} grants used\n", requests->size(), used);
}

}  // namespace
}  // namespace tpuslice::testing
