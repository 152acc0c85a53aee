// The operator's own pods lose processes, memory, disks, networks and nodes, and are upgraded, while a client goes on
// creating pods and JobSets: no pod is admitted without identity, and a slice that runs keeps its pods.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "tests/nodes/good_client.h"
#include "tests/nodes/installed_cluster.h"
#include "tests/nodes/two_host_slices.h"
#include "tests/support/error_matchers.h"
#include "webhook/certificates.h"
#include "webhook/webhook_configurations.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using PodMap = std::map<std::string, std::string>;

constexpr const char* kNamespace = "tpu-slice-system";
constexpr const char* kName = "tpu-slice-operator";
constexpr const char* kOperatorPods = "app.kubernetes.io/name=tpu-slice-operator";
/// A Lease that is not renewed expires after 15 s; the other replica tries every 2 s.
constexpr Duration kTakeoverLimit = 30s;
constexpr ResourceType kDeploymentType{"apps", "v1", "Deployment", "deployments"};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Each test begins with two ready replicas and a slice that runs.
class OperatorFaults : public InstalledCluster {
 protected:
  static void SetUpTestSuite() { start({.pools = two_host_pools(2, 3)}); }
  static void TearDownTestSuite() {
    client_.reset();
    InstalledCluster::TearDownTestSuite();
  }

  void SetUp() override {
    InstalledCluster::SetUp();
    if (IsSkipped() || HasFailure()) return;
    expect_soon("two replicas are ready", [] { return ready_replicas() == 2; });
    expect_soon("a replica leads", [] { return !holder().empty(); });
    ASSERT_FALSE(HasFailure());
    if (!client_) {
      ASSERT_NO_FATAL_FAILURE(start_workloads());
    }
    slice_ = slice_pods();
    ASSERT_THAT(slice_, SizeIs(2));
    begin_fault();
  }

  /// Time and answers count from here.
  void begin_fault() { begun_ = client_->now(); }
  [[nodiscard]] Duration since_begin() const { return client_->now() - begun_; }

  /// A new JobSet runs whole, pods are admitted without refusals, and nothing was lost. Returns the answers since
  /// begin_fault().
  GoodClient::Answers expect_recovery(const std::string& fault, Duration limit = 120s) {
    std::optional<Duration> run;
    expect_soon(
        "a JobSet that was created after the fault runs whole",
        [&] {
          run = client_->first_run_since(begun_);
          return run.has_value();
        },
        limit);
    expect_soon(
        "no pod is refused for 10 s",
        [] {
          const GoodClient::Answers last = client_->answers_since(client_->now() - 10s);
          return last.admitted > 0 && last.refused == 0;
        },
        limit);
    const GoodClient::Answers answers = client_->answers_since(begun_);
    fmt::print(
        "{}: {:.1f} s without admission, the last refusal after {:.1f} s; a new JobSet ran whole after {:.1f} s; "
        "{} pods admitted, {} refused {}\n",
        fault, seconds(answers.outage), seconds(answers.until_last_refusal), seconds(run.value_or(Duration())),
        answers.admitted, answers.refused, answers.first_refusal);
    std::fflush(stdout);
    EXPECT_EQ(answers.wrong, 0) << answers.first_wrong;
    EXPECT_EQ(slice_pods(), slice_) << "a pod of the slice that ran before was lost";
    return answers;
  }

  /// Another process than `before` holds the Lease.
  void expect_takeover(const std::string& before) {
    expect_soon(
        "another replica leads", [&] { return !holder().empty() && holder() != before; }, kTakeoverLimit);
    fmt::print("another replica leads after {:.1f} s\n", seconds(since_begin()));
  }

  static void expect_ready_nodes() {
    const Status ready = cluster().wait_until_ready(120s);
    EXPECT_TRUE(ready.ok()) << ready.error().message();
  }

  /// The object, or null.
  static Json read(const ResourceType& type, const ObjectKey& key) {
    const auto object = cluster().client().get(type, key);
    return object.ok() ? object->json() : Json();
  }
  static Json operator_pod(const std::string& name) { return read(kPods, {kNamespace, name}); }
  static PodMap operators() { return running_pods(cluster().client(), kNamespace, kOperatorPods); }
  static PodMap slice_pods() { return running_pods(cluster().client(), "default", pods_of_slice("train")); }
  static std::int64_t ready_replicas() {
    return int_at(read(kDeploymentType, {kNamespace, kName}), {"status", "readyReplicas"});
  }
  /// Holder of the Lease, "<pod>_<random>"; empty while it is released.
  static std::string holder() { return string_at(read(kLeases, {kNamespace, kName}), {"spec", "holderIdentity"}); }
  static std::string leader() {
    const std::string found = holder();
    return found.substr(0, found.rfind('_'));
  }
  static std::string node_of(const std::string& pod) { return string_at(operator_pod(pod), {"spec", "nodeName"}); }
  static std::string condition_of(const std::string& node, const std::string& type) {
    const Json object = read(kNodes, {"", node});
    for (const Json& condition : array_at(object, {"status", "conditions"})) {
      if (string_at(condition, {"type"}) == type) return string_at(condition, {"status"});
    }
    return "";
  }
  static std::int64_t restarts_of(const std::string& pod) {
    return int_at(operator_pod(pod), {"status", "containerStatuses", "0", "restartCount"});
  }
  static void wait_for_rollout() {
    kubectl(fmt::format("-n {} rollout status deployment/{} --timeout=180s", kNamespace, kName));
  }
  static void exhaust_memory(const std::string& pod);
  static void expect_restart_of_memory(const std::string& pod, std::int64_t restarts);
  static void replace_authority();

  static inline std::unique_ptr<GoodClient> client_;

 private:
  static void start_workloads();

  Instant begun_;
  PodMap slice_;
};

void OperatorFaults::start_workloads() {
  expect_soon("pods are refused while the webhook is unavailable", [] {
    return string_at(read(webhook::kMutatingConfigurations, {"", kName}), {"webhooks", "0", "failurePolicy"}) == "Fail";
  });
  apply(two_host_jobset("train"));
  expect_soon("the slice runs", [] { return slice_pods().size() == 2; });
  ASSERT_FALSE(HasFailure());
  client_ = std::make_unique<GoodClient>(cluster().client());
  expect_soon("the first JobSet of the client runs", [] { return client_->first_run_since({}).has_value(); });
}

/// Uses the memory of the operator's container up to its limit: by files of a tmpfs, whose writer is in its cgroup. The
/// kernel ends what has the most memory of its own, the operator, and then the writer.
void OperatorFaults::exhaust_memory(const std::string& pod) {
  const std::string id = string_at(operator_pod(pod), {"status", "containerStatuses", "0", "containerID"});
  const auto output =
      cluster()
          .node(node_of(pod))
          .run(fmt::format("group=$(find /sys/fs/cgroup/memory -type d -name {}); test -n \"$group\" || exit 1; "
                           "(echo 0 >$group/cgroup.procs; exec dd if=/dev/zero of=/run/fill bs=1M count=1024); "
                           "rm /run/fill",
                           id.substr(id.rfind('/') + 1)));
  EXPECT_TRUE(output.ok()) << pod << ": " << output.error().message();
}

void OperatorFaults::expect_restart_of_memory(const std::string& pod, std::int64_t restarts) {
  expect_soon("the container that was out of memory restarts", [&] { return restarts_of(pod) > restarts; });
  const Json state = operator_pod(pod);
  const Json& last = object_at(state, {"status", "containerStatuses", "0", "lastState", "terminated"});
  fmt::print("pod {}: {}\n", pod, last.dump());
  EXPECT_EQ(int_at(last, {"exitCode"}), 128 + SIGKILL);
}

/// Writes a new authority beside the old one, and a certificate of it, as an administrator may.
void OperatorFaults::replace_authority() {
  const ObjectKey key{kNamespace, "tpu-slice-webhook-cert"};
  webhook::CertificateBundle bundle = webhook::read_certificate_data(read(kSecrets, key));
  bundle.authority = {};
  bundle.leaf = {};
  const auto renewed = webhook::renew_certificates(bundle, {.namespace_name = kNamespace}, RealClock().wall());
  ASSERT_TRUE(renewed.ok()) << renewed.error().message();
  const auto written = cluster().client().patch(kSecrets, key, client::PatchType::kMerge,
                                                {{"data", webhook::certificate_data(*renewed)}});
  ASSERT_TRUE(written.ok()) << written.error().message();
}

TEST_F(OperatorFaults, TheLeaderIsKilled) {
  const std::string before = holder();
  const Status killed = cluster().kill_container({kNamespace, leader()}, "operator");
  ASSERT_TRUE(killed.ok()) << killed.error().message();
  expect_takeover(before);
  expect_recovery("SIGKILL of the leader");
}

TEST_F(OperatorFaults, TheLeaderIsOutOfMemory) {
  const std::string pod = leader();
  const std::int64_t restarts = restarts_of(pod);
  exhaust_memory(pod);
  expect_restart_of_memory(pod, restarts);
  expect_recovery("out of memory, the leader");
}

TEST_F(OperatorFaults, AllReplicasAreOutOfMemory) {
  std::map<std::string, std::int64_t> restarts;
  for (const auto& [pod, uid] : operators()) restarts[pod] = restarts_of(pod);
  ASSERT_THAT(restarts, SizeIs(2));
  begin_fault();
  for (const auto& [pod, count] : restarts) exhaust_memory(pod);
  for (const auto& [pod, count] : restarts) expect_restart_of_memory(pod, count);
  expect_recovery("out of memory, both replicas");
}

/// With this limit no container starts, so the rollout stops before the replicas that serve.
TEST_F(OperatorFaults, ARolloutHasTooLittleMemory) {
  const PodMap before = operators();
  kubectl(
      fmt::format("-n {} set resources deployment/{} --limits=memory=4Mi --requests=memory=4Mi", kNamespace, kName));
  const auto rollout = try_kubectl(fmt::format("-n {} rollout status deployment/{} --timeout=30s", kNamespace, kName));
  EXPECT_THAT(rollout, IsError(ErrorCode::kNotFound, HasSubstr("timed out"))) << "a container starts with 4 MiB";
  EXPECT_EQ(expect_recovery("a rollout with 4 MiB").refused, 0);
  fmt::print("{}\n", kubectl(fmt::format("-n {} get pods", kNamespace)));
  kubectl(fmt::format("-n {} rollout undo deployment/{}", kNamespace, kName));
  wait_for_rollout();
  expect_soon("the pods are those from before", [&] { return operators() == before; });
}

TEST_F(OperatorFaults, TheNetworkOfTheLeaderIsCut) {
  constexpr Duration kCut = 20s;
  const std::string before = holder();
  RealNode& node = cluster().node(node_of(leader()));
  begin_fault();
  EXPECT_TRUE(node.set_network(false).ok());
  expect_takeover(before);
  tpuslice::pause(std::max<Duration>(kCut - since_begin(), 0s), {});
  EXPECT_TRUE(node.set_network(true).ok());
  expect_recovery("network of the leader cut for 20 s");
  expect_ready_nodes();
}

TEST_F(OperatorFaults, TheNodeOfTheLeaderIsLost) {
  const std::string before = holder();
  RealNode& node = cluster().node(node_of(leader()));
  begin_fault();
  node.kill();
  expect_takeover(before);
  expect_recovery("node of the leader lost", 180s);
  const Status booted = node.boot();
  EXPECT_TRUE(booted.ok()) << booted.error().message();
  expect_ready_nodes();
  expect_soon(
      "two replicas are ready again", [] { return ready_replicas() == 2; }, 120s);
}

/// The processes on the node go on; after a while its pods do not count as ready.
TEST_F(OperatorFaults, TheKubeletOfTheLeaderHangs) {
  const std::string name = node_of(leader());
  const Instant stopped = client_->now();
  ASSERT_TRUE(cluster().node(name).signal("kubelet", SIGSTOP).ok());
  expect_soon(
      "the node is not Ready", [&] { return condition_of(name, "Ready") == "Unknown"; }, 90s);
  begin_fault();
  expect_recovery("kubelet of the leader hangs, from when its node is not Ready");
  EXPECT_TRUE(cluster().node(name).signal("kubelet", SIGCONT).ok());
  expect_ready_nodes();
  const GoodClient::Answers answers = client_->answers_since(stopped);
  EXPECT_EQ(answers.refused, 0) << answers.first_refusal;
  EXPECT_EQ(answers.wrong, 0) << answers.first_wrong;
}

TEST_F(OperatorFaults, TheOperatorIsUpgraded) {
  const PodMap before = operators();
  kubectl(fmt::format("-n {} rollout restart deployment/{}", kNamespace, kName));
  wait_for_rollout();
  const GoodClient::Answers answers = expect_recovery("rolling upgrade");
  EXPECT_EQ(answers.refused, 0) << answers.first_refusal;
  for (const auto& [pod, uid] : operators()) EXPECT_FALSE(before.contains(pod)) << pod;
}

TEST_F(OperatorFaults, TheApiServerIsRestarted) {
  const PodMap before = operators();
  cluster().plane().kill_apiserver();
  tpuslice::pause(5s, {});
  const Status started = cluster().plane().start_apiserver();
  ASSERT_TRUE(started.ok()) << started.error().message();
  expect_recovery("API server killed, started again after 5 s");
  EXPECT_EQ(operators(), before) << "a process of the operator ended";
}

TEST_F(OperatorFaults, TheCertificatesAreReplaced) {
  const ObjectKey secret{kNamespace, "tpu-slice-webhook-cert"};
  const auto authorities = [] {
    return string_at(read(webhook::kMutatingConfigurations, {"", kName}),
                     {"webhooks", "0", "clientConfig", "caBundle"});
  };
  const PodMap before = operators();
  kubectl(fmt::format("-n {} delete secret {}", kNamespace, secret.name));
  expect_soon("the Secret is restored", [&] { return read(kSecrets, secret).is_object(); });
  fmt::print("the deleted Secret was restored after {:.1f} s\n", seconds(since_begin()));

  const std::string old = authorities();
  ASSERT_NO_FATAL_FAILURE(replace_authority());
  expect_soon("the new authority is in the webhook configuration", [&] { return authorities() != old; });
  const GoodClient::Answers answers = expect_recovery("certificates replaced");
  EXPECT_EQ(answers.refused, 0) << answers.first_refusal;
  EXPECT_EQ(operators(), before) << "a process of the operator ended";
}

/// Nodes with a disk of their own, which is small.
class OperatorDisk : public OperatorFaults {
 protected:
  static void SetUpTestSuite() { start({.pools = two_host_pools(2, 3), .disk = "512m"}); }
};

TEST_F(OperatorDisk, TheDiskOfTheLeaderIsFull) {
  const std::string name = node_of(leader());
  RealNode& node = cluster().node(name);
  const Instant begun = client_->now();
  const auto filled =
      node.run("fallocate -l $(($(df --output=avail --block-size=1 /var/lib | tail -n 1) - 10000000)) /var/lib/fill");
  ASSERT_TRUE(filled.ok()) << filled.error().message();
  expect_soon(
      "the kubelet notices", [&] { return condition_of(name, "DiskPressure") == "True"; }, 120s);
  begin_fault();
  expect_recovery("disk of the leader full, from when the kubelet has noticed");
  fmt::print("{}\n", kubectl(fmt::format("-n {} get pods -o wide", kNamespace)));
  expect_soon(
      "two replicas are ready", [] { return ready_replicas() == 2; }, 120s);
  const auto freed = node.run("rm /var/lib/fill");
  EXPECT_TRUE(freed.ok()) << freed.error().message();
  expect_ready_nodes();
  const GoodClient::Answers answers = client_->answers_since(begun);
  EXPECT_EQ(answers.wrong, 0) << answers.first_wrong;
}

}  // namespace
}  // namespace tpuslice::testing
