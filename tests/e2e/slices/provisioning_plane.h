// ProvisionedSlices: a real control plane with scheduler and kwok, an autoscaler that serves ProvisioningRequests, the
// operator as it is shipped, and what tests of slices on nodes that were requested ask of them.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/e2e/slices/job_manifest.h"
#include "tests/support/autoscaler/autoscaler_thread.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {

class ProvisionedSlices : public ::testing::Test {
 protected:
  static constexpr int kHosts = 4;
  static constexpr const char* kWorkloads = "default";
  static constexpr const char* kOperator = "tpu-slice-system";
  static constexpr const char* kToleratesQueued =
      "[{key: cloud.google.com/gke-queued, operator: Exists, effect: NoSchedule}]";

  /// Starts the control plane, which the tests share; without its programs, they are skipped.
  static void SetUpTestSuite() {
    ControlPlaneOptions options;
    options.pools = {sim::NodePool{.name = "cpu"}};
    plane_ = ControlPlane::start(std::move(options));
    if (!plane_->ok()) return;
    const ResourceType definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                   "customresourcedefinitions", false};
    const auto created = client().create(definitions, Object(provisioning_request_crd()));
    ASSERT_TRUE(created.ok()) << created.error().message();
    ASSERT_TRUE(eventually([] { return client().list(kProvisioningRequests, {}, {}).ok(); }));
  }
  static void TearDownTestSuite() { plane_.reset(); }

  void SetUp() override {
    if (!*plane_ && plane_->error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane_->error().message();
    ASSERT_TRUE(plane_->ok()) << plane_->error().message();
  }
  /// Deletes workloads and TPU nodes.
  void TearDown() override {
    if (!plane_->ok()) return;
    if (operator_) {
      const auto forbidden = operator_->metric("rest_client_requests_total", {{"code", "403"}});
      EXPECT_EQ(forbidden.value_or(0), 0) << "the rights of deploy/rbac are not enough";
    }
    for (const Json& job : objects(kJobs, kWorkloads)) remove(kJobs, kWorkloads, job);
    for (const Json& service : objects(kServices, kWorkloads)) {
      if (string_at(service, {"metadata", "name"}) != "kubernetes") remove(kServices, kWorkloads, service);
    }
    EXPECT_TRUE(eventually([] { return objects(kPods, kWorkloads).empty(); })) << "pods are left";
    if (operator_) {
      expect_nothing_asked("after the workloads were deleted");
      EXPECT_TRUE(operator_->stop().ok());
    }
    if (autoscaler_) {
      EXPECT_TRUE(autoscaler_->remove_all().ok());
    }
    for (const Json& node : list_all(client(), kNodes).value_or({})) {
      if (!string_at(node, {"metadata", "name"}).starts_with("cpu")) remove(kNodes, "", node);
    }
    if (HasFailure()) {
      plane_->value()->keep_dir();
      fmt::print("logs: {}\n", plane_->value()->dir());
    }
  }

  static sim::NodePool a_pool(const std::string& name) {
    sim::NodePool pool{.name = name, .accelerator = "tpu-v6e-slice", .topology = "4x4"};
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = kHosts;
    pool.chips_per_host = 4;
    return pool;
  }

  /// An autoscaler with these groups, and the operator, which asks for nodes by requests of the class.
  void start(AutoscalerOptions options, const std::string& provisioning_class,
             const std::vector<std::string>& more_flags = {}) {
    options.provisioning_requests = true;
    options.request_retry = std::chrono::seconds(1);
    options.writers = 4;
    autoscaler_ = std::make_unique<AutoscalerThread>(client(), client(), std::move(options));
    const Status started = autoscaler_->start();
    ASSERT_TRUE(started.ok()) << started.error().message();
    const auto kubeconfig = install_operator(*plane_->value());
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();
    const int port = free_port().value();
    ASSERT_TRUE(register_webhook(client(), port).ok());
    OperatorProcessOptions process{
        .kubeconfig = *kubeconfig, .log = plane_->value()->dir() + "/operator.log", .webhook_port = port};
    process.flags = {"--scale-up=provisioning-request", "--provisioning-class=" + provisioning_class,
                     "--feature-gates=ProvisioningRequests=true"};
    process.flags.insert(process.flags.end(), more_flags.begin(), more_flags.end());
    auto op = OperatorProcess::start(std::move(process));
    ASSERT_TRUE(op.ok()) << op.error().message();
    operator_ = *std::move(op);
  }

  /// An Indexed Job of one slice, and its headless service.
  void create_job(const std::string& name, const std::string& tolerations = "[]") {
    create(kServices, service_of_job(name, kWorkloads));
    create(kJobs, job_of_slice(name, kWorkloads, {.hosts = kHosts, .tolerations = tolerations}));
  }
  void delete_job(const std::string& name) {
    const Status removed = client().remove(kJobs, {kWorkloads, name});
    EXPECT_TRUE(removed.ok()) << removed.error().message();
  }

  /// The pool in which all pods of the job run; empty if it is not so. Fails the test if they are of several pools.
  static std::string pool_of(const std::string& job) {
    std::set<std::string> pools;
    int running = 0;
    for (const Json& pod : pods_of(job)) {
      const std::string node = string_at(pod, {"spec", "nodeName"});
      if (!node.empty()) pools.insert(node.substr(0, node.rfind('-')));
      if (string_at(pod, {"status", "phase"}) == "Running") ++running;
    }
    EXPECT_LE(pools.size(), 1U) << job << " is split";
    return running == kHosts && pools.size() == 1 ? *pools.begin() : std::string();
  }
  /// Waits until the job runs whole in a pool, which is returned.
  static std::string expect_running(const std::string& job, Duration limit = std::chrono::seconds(90)) {
    std::string pool;
    EXPECT_TRUE(eventually([&] { return !(pool = pool_of(job)).empty(); }, limit))
        << job << " waits: " << waiting_reason(job);
    return pool;
  }
  static int bound_pods(const std::string& job) {
    int bound = 0;
    for (const Json& pod : pods_of(job)) bound += string_at(pod, {"spec", "nodeName"}).empty() ? 0 : 1;
    return bound;
  }

  static std::string waiting_reason(const std::string& job) {
    for (const Json& pod : pods_of(job)) {
      const std::string reason = string_at(pod, {"metadata", "annotations", tpu::kWaiting});
      if (!reason.empty()) return reason;
    }
    return {};
  }
  /// Waits until the waiting reason contains the text.
  static void expect_reason(const std::string& job, const std::string& text) {
    const auto found = [&] { return waiting_reason(job).find(text) != std::string::npos; };
    EXPECT_TRUE(eventually(found)) << job << " waits: " << waiting_reason(job) << "\nexpected: " << text;
    fmt::print("{} waits: {}\n", job, waiting_reason(job));
  }

  /// The operator's requests.
  static std::vector<Json> requests() { return objects(kProvisioningRequests, kOperator); }
  /// Waits until a request has the condition with this status.
  static void expect_condition(const std::string& type, const std::string& status) {
    const auto has = [&](const Json& request) {
      for (const Json& condition : array_at(request, {"status", "conditions"})) {
        if (string_at(condition, {"type"}) == type && string_at(condition, {"status"}) == status) return true;
      }
      return false;
    };
    EXPECT_TRUE(eventually([&] { return std::ranges::any_of(requests(), has); })) << type << " is not " << status;
  }
  /// Waits until there is no request and no template.
  static void expect_nothing_asked(const std::string& when) {
    const auto nothing = [] { return requests().empty() && objects(kPodTemplates, kOperator).empty(); };
    EXPECT_TRUE(eventually(nothing)) << when << ": " << requests().size() << " requests, "
                                     << objects(kPodTemplates, kOperator).size() << " templates";
  }

  [[nodiscard]] static client::Client& client() { return plane_->value()->client(); }
  [[nodiscard]] static ControlPlane& plane() { return *plane_->value(); }
  [[nodiscard]] AutoscalerThread& autoscaler() { return *autoscaler_; }
  [[nodiscard]] OperatorProcess& op() { return *operator_; }

 private:
  static std::vector<Json> objects(const ResourceType& type, const std::string& space, const std::string& labels = {}) {
    std::vector<Json> out;
    const auto list = client().list(type, {.namespace_name = space, .label_selector = labels}, {});
    EXPECT_TRUE(list.ok()) << list.error().message();
    if (!list) return out;
    for (const std::string& text : list->items) out.push_back(Json::parse(text));
    return out;
  }
  static std::vector<Json> pods_of(const std::string& job) {
    return objects(kPods, kWorkloads, "batch.kubernetes.io/job-name=" + job);
  }
  static void create(const ResourceType& type, const std::string& yaml) {
    const auto object = parse_yaml(yaml);
    ASSERT_TRUE(object.ok()) << object.error().message();
    const auto created = client().create(type, Object(*object));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }
  static void remove(const ResourceType& type, const std::string& space, const Json& object) {
    const Status removed = client().remove(type, {space, string_at(object, {"metadata", "name"})});
    EXPECT_TRUE(removed.ok() || removed.error().code() == ErrorCode::kNotFound) << removed.error().message();
  }

  inline static std::optional<Result<std::unique_ptr<ControlPlane>>> plane_;
  std::unique_ptr<AutoscalerThread> autoscaler_;
  std::unique_ptr<OperatorProcess> operator_;
};

}  // namespace tpuslice::testing
