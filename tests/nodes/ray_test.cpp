// Ray in the pods of a cluster with real kubelets: the RayCluster of the MaxText tutorial, RayJobs of each submission
// mode, and a RayService through two upgrades. The manifests are tests/nodes/manifests/ray-*.yaml.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/types/json.h"
#include "tests/nodes/installed_cluster.h"

namespace tpuslice::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Several Ray nodes start on two cores.
constexpr Duration kLimit = seconds(300);
constexpr int kHosts = 4;  ///< Of the tutorial's slice.
constexpr const char* kTutorial = "maxtext-tpu-cluster";
/// In SidecarMode the job begins as soon as the head has started, and waits for the workers with the placement group.
constexpr const char* kCountChips =
    R"sh(python3 -c "import ray; from ray.util import placement_group; ray.init(); ray.get(placement_group([{'TPU': 4}] * 2).ready(), timeout=120); found = ray.cluster_resources()['TPU']; print('chips:', found); assert found == 8")sh";
constexpr const char* kFail = R"sh(python3 -c "raise SystemExit('no data set was found')")sh";

/// Two slices of two hosts: an upgrade of a RayService has two clusters.
std::vector<sim::NodePool> pools() {
  const auto slice = [](const std::string& name, const std::string& topology, int hosts) {
    sim::NodePool out{.name = name, .accelerator = "tpu-v6e-slice", .topology = topology};
    out.machine_type = "ct6e-standard-4t";
    out.hosts = hosts;
    out.chips_per_host = 4;
    out.memory = "256Gi";  // The tutorial's workers ask for 200G.
    return out;
  };
  sim::NodePool cpu{.name = "cpu"};
  cpu.hosts = 2;
  return {slice("v6e-16", "4x4", kHosts), slice("v6e-8a", "2x4", 2), slice("v6e-8b", "2x4", 2), cpu};
}

/// The file with a value for each ${NAME}.
std::string manifest(const std::string& name, const std::map<std::string, std::string>& values = {}) {
  const auto text = read_file(fmt::format("tests/nodes/manifests/ray-{}.yaml", name));
  EXPECT_TRUE(text.ok()) << text.error().message();
  std::string out = text.value_or("");
  for (const auto& [variable, value] : values) {
    const std::string reference = "${" + variable + "}";
    for (std::size_t at = 0; (at = out.find(reference, at)) != std::string::npos; at += value.size()) {
      out.replace(at, reference.size(), value);
    }
  }
  return out;
}

/// What tests/nodes/manifests/ray-maxtext.yaml prints; null without.
Json result_in(const std::string& output) {
  const std::string prefix = "RESULT ";
  for (const std::string& line : split(output, '\n')) {
    if (line.starts_with(prefix)) return parse_json(line.substr(prefix.size())).value_or(Json());
  }
  return Json();
}

/// What the client of the RayService has received.
struct Answers {
  std::vector<std::string> good;
  std::vector<std::string> failures;

  /// Whether this holds for the last ten, so that all replicas have probably answered.
  [[nodiscard]] bool lately(const std::function<bool(const std::string&)>& condition) const {
    constexpr std::ptrdiff_t kLast = 10;
    return std::ssize(good) >= kLast && std::all_of(good.end() - kLast, good.end(), condition);
  }
};

class Ray : public InstalledCluster {
 protected:
  static void SetUpTestSuite() { start({.pools = pools(), .images = {"python"}}); }

  void SetUp() override {
    InstalledCluster::SetUp();
    running_ = !IsSkipped() && !HasFatalFailure();
    last_ = clock_.now();
  }

  void TearDown() override {
    if (!running_) return;
    kubectl("delete rayjobs,rayservices,rayclusters --all --timeout=120s");
    kubectl("delete pods --all --now --timeout=60s");
    report("everything is deleted");
  }

  /// Prints the time since the last report.
  void report(const std::string& what) {
    const Instant now = clock_.now();
    fmt::print("{} after {:.0f} s\n", what, std::chrono::duration<double>(now - last_).count());
    std::fflush(stdout);
    last_ = now;
  }

  /// A field of objects; empty without.
  static std::string field(const std::string& objects, const std::string& path) {
    return try_kubectl(fmt::format("get {} -o jsonpath='{{{}}}'", objects, path)).value_or("");
  }

  static std::string names(const std::string& objects) { return field(objects, ".items[*].metadata.name"); }
  static std::string head_of(const std::string& cluster) {
    return names("pods -l ray.io/node-type=head,ray.io/cluster=" + cluster);
  }

  /// The ends of the logs of all containers, and of Ray's own logs in the heads.
  static std::string logs() {
    std::string out;
    for (const std::string& pod : split(names("pods"), ' ')) {
      const auto log = try_kubectl(fmt::format("logs {} --all-containers --prefix --tail=20", pod));
      out += fmt::format("--- {}\n{}\n", pod, log.ok() ? *log : log.error().message());
    }
    const std::string tail =
        "cd /tmp/ray/session_latest/logs && tail -n 20 dashboard.log raylet.err serve/*.log || true";
    for (const std::string& head : split(names("pods -l ray.io/node-type=head"), ' ')) {
      const auto log = try_kubectl(fmt::format("exec {} -c ray-head -- sh -c '{}'", head, tail));
      out += fmt::format("--- Ray in {}\n{}\n", head, log.ok() ? *log : log.error().message());
    }
    return out;
  }

  /// Whether `condition` becomes true; otherwise the failure has the status of the object and all logs.
  static bool wait(const std::string& what, const std::string& object, const std::function<bool()>& condition) {
    bool reached = false;
    expect_soon(
        what, [&] { return reached = condition(); }, kLimit);
    if (!reached) ADD_FAILURE() << object << ": " << field(object, ".status") << "\n" << logs();
    return reached;
  }
  static bool wait_for(const std::string& object, const std::string& path, const std::string& value) {
    return wait(fmt::format("{}: {} is {}", object, path, value), object, [&] { return field(object, path) == value; });
  }

  /// Runs a job on the cluster as the tutorial does. Errors: with its log.
  static Result<std::string> ray_job_submit(const std::string& cluster, const std::string& arguments) {
    return try_kubectl(
        fmt::format("exec {} -c ray-head -- timeout 300 ray job submit --address http://localhost:8265 {}",
                    head_of(cluster), arguments));
  }

  /// Runs a RayJob to its end.
  void run_job(const std::string& name, const std::string& mode, const std::string& entrypoint) {
    const std::string job = "rayjob/" + name;
    apply(manifest("job", {{"NAME", name}, {"MODE", mode}, {"ENTRYPOINT", entrypoint}}));
    if (mode == "InteractiveMode") submit_as_user(job, entrypoint);
    wait(job + " ends", job, [&] {
      const std::string status = field(job, ".status.jobDeploymentStatus");
      return status == "Complete" || status == "Failed";
    });
    report(job + " has ended");
  }

  void submit_as_user(const std::string& job, const std::string& entrypoint) {
    if (!wait_for(job, ".status.jobDeploymentStatus", "Waiting")) return;
    const auto submitted =
        ray_job_submit(field(job, ".status.rayClusterName"), "--submission-id by-hand --no-wait -- " + entrypoint);
    EXPECT_TRUE(submitted.ok()) << submitted.error().message();
    kubectl(fmt::format(R"(patch {} --type=merge -p '{{"spec": {{"jobId": "by-hand"}}}}')", job));
  }

  void expect_success(const std::string& name, const std::string& mode) {
    run_job(name, mode, kCountChips);
    const std::string job = "rayjob/" + name;
    EXPECT_EQ(field(job, ".status.jobDeploymentStatus"), "Complete") << field(job, ".status");
    EXPECT_EQ(field(job, ".status.jobStatus"), "SUCCEEDED") << field(job, ".status");
    wait("the slice is released", job, [] { return names("rayclusters").empty(); });
    report("the slice is released");
  }

  static Answers answers() {
    Answers out;
    for (const std::string& line : split(try_kubectl("logs client --tail=-1").value_or(""), '\n')) {
      const std::string prefix = "answer ";
      if (line.starts_with(prefix)) out.good.push_back(line.substr(prefix.size()));
      if (line.starts_with("failure")) out.failures.push_back(line);
    }
    return out;
  }

  /// Whether all answers are soon like this.
  static bool wait_for_answers(const std::string& what, const std::function<bool(const std::string&)>& condition) {
    return wait(what, "rayservice/llm", [&] { return answers().lately(condition); });
  }

  static std::string active_cluster() { return field("rayservice/llm", ".status.activeServiceStatus.rayClusterName"); }

  static void expect_no_failure_since(const Answers& before, const std::string& upgrade) {
    Answers now = answers();
    now.failures.erase(now.failures.begin(),
                       now.failures.begin() + std::min(std::ssize(before.failures), std::ssize(now.failures)));
    fmt::print("{}: {} requests answered, {} failed\n", upgrade, std::ssize(now.good) - std::ssize(before.good),
               now.failures.size());
    EXPECT_THAT(now.failures, IsEmpty()) << upgrade;
  }

 private:
  const RealClock clock_;
  Instant last_;
  bool running_ = false;  ///< The cluster.
};

TEST_F(Ray, TrainsOnAllHostsOfTheTutorialsCluster) {
  apply(manifest("maxtext"));
  ASSERT_TRUE(wait_for(fmt::format("raycluster/{}", kTutorial), ".status.state", "ready"));
  report("the RayCluster is ready");
  const auto output = ray_job_submit(kTutorial, "-- python3 /app/maxtext_ray_trainer.py");
  ASSERT_TRUE(output.ok()) << output.error().message() << "\n" << logs();
  report("JaxTrainer has trained");
  const Json hosts = result_in(*output);
  ASSERT_EQ(std::ssize(hosts), kHosts) << *output;

  std::vector<std::string> addresses;
  for (int id = 0; id < kHosts; ++id) {
    addresses.push_back(field(fmt::format("pods -l ray.io/replica-host-index={}", id), ".items[*].status.podIP"));
  }
  const Json& losses = array_at(hosts, {"0", "losses"});
  int id = 0;
  for (const Json& host : hosts) {
    SCOPED_TRACE(host.dump());
    EXPECT_EQ(int_at(host, {"worker_id"}, -1), id);
    EXPECT_EQ(string_at(host, {"host_name"}), fmt::format("tpu-group-0-{}", id));
    EXPECT_EQ(string_at(host, {"address"}), addresses[static_cast<std::size_t>(id)]);
    EXPECT_EQ(array_at(host, {"neighbors"}), Json(addresses)) << "the addresses of TPU_WORKER_HOSTNAMES";
    EXPECT_EQ(int_at(host, {"processes"}), kHosts);
    EXPECT_EQ(int_at(host, {"devices"}), kHosts);
    EXPECT_EQ(array_at(host, {"losses"}), losses) << "the hosts have trained one model";
    ++id;
  }
  ASSERT_FALSE(losses.empty());
  EXPECT_LT(losses.back().get<double>(), 0.1 * losses.front().get<double>());
}

TEST_F(Ray, JobSucceedsThatAKubernetesJobSubmits) { expect_success("by-job", "K8sJobMode"); }
TEST_F(Ray, JobSucceedsThatTheOperatorSubmits) { expect_success("by-http", "HTTPMode"); }
TEST_F(Ray, JobSucceedsThatAContainerOfTheHeadSubmits) { expect_success("by-sidecar", "SidecarMode"); }
TEST_F(Ray, JobSucceedsThatTheUserSubmits) { expect_success("by-user", "InteractiveMode"); }

TEST_F(Ray, FailedJobSaysWhy) {
  run_job("fails", "K8sJobMode", kFail);
  EXPECT_EQ(field("rayjob/fails", ".status.jobDeploymentStatus"), "Failed");
  EXPECT_EQ(field("rayjob/fails", ".status.jobStatus"), "FAILED");
  EXPECT_EQ(field("rayjob/fails", ".status.reason"), "AppFailed");
  EXPECT_THAT(field("rayjob/fails", ".status.message"), HasSubstr("no data set was found"));
}

TEST_F(Ray, JobOfAContainerOfTheHeadFailsBeforeTheWorkersAreReady) {
  run_job("fails-early", "SidecarMode", kFail);
  EXPECT_EQ(field("rayjob/fails-early", ".status.jobDeploymentStatus"), "Failed");
  EXPECT_EQ(field("rayjob/fails-early", ".status.reason"), "AppFailed");
  EXPECT_THAT(field("rayjob/fails-early", ".status.message"), HasSubstr("no data set was found"));
}

TEST_F(Ray, ServiceAnswersAllRequestsDuringTwoUpgrades) {
  apply(manifest("client"));
  apply(manifest("service", {{"WORD", "hello"}, {"RELEASE", "first"}}));
  ASSERT_TRUE(wait_for_answers("hello", [](const std::string& text) { return text.starts_with("hello from "); }));
  report("the RayService answers");
  ASSERT_TRUE(wait_for("rayservice/llm", ".status.numServeEndpoints", "3"));  // The head and both hosts.
  const std::string first = active_cluster();

  Answers before = answers();
  apply(manifest("service", {{"WORD", "good morning"}, {"RELEASE", "first"}}));
  ASSERT_TRUE(wait_for_answers("good morning from the same cluster",
                               [&](const std::string& text) { return text == "good morning from " + first; }));
  report("serveConfigV2 has changed");
  EXPECT_EQ(active_cluster(), first);
  expect_no_failure_since(before, "upgrade in place");

  before = answers();
  apply(manifest("service", {{"WORD", "good morning"}, {"RELEASE", "second"}}));
  ASSERT_TRUE(wait_for_answers("good morning from another cluster", [&](const std::string& text) {
    return text.starts_with("good morning from ") && !text.ends_with(first);
  }));
  report("rayClusterConfig has changed");
  EXPECT_NE(active_cluster(), first);
  ASSERT_TRUE(
      wait("the old cluster is deleted", "rayservice/llm", [&] { return names("rayclusters") == active_cluster(); }));
  ASSERT_TRUE(wait("the old pods are gone", "rayservice/llm",
                   [&] { return names("pods -l ray.io/cluster=" + first).empty(); }));
  report("the old cluster is gone");
  expect_no_failure_since(before, "upgrade to another cluster");
}

}  // namespace
}  // namespace tpuslice::testing
