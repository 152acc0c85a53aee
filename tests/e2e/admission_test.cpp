// Pods that the real controllers make, admitted by the real API server through our webhook.
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/base/metrics.h"
#include "api/http/io_threads.h"
#include "api/http/server.h"
#include "api/http/tls_credentials.h"
#include "api/types/yaml.h"
#include "tests/support/eventually.h"
#include "tests/support/operator_process.h"
#include "tests/unit/tpu/pods.h"
#include "webhook/webhook_server.h"

namespace tpuslice::testing {
namespace {

using tpu::testing::env_value;
using tpu::testing::RayPod;

constexpr ResourceType kJobs{"batch", "v1", "Job", "jobs"};
constexpr ResourceType kStatefulSets{"apps", "v1", "StatefulSet", "statefulsets"};
constexpr ResourceType kMutatingConfigurations{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                               "mutatingwebhookconfigurations", false};

/// API server and controllers; no pod runs. The webhook is served by this process.
class Admission : public ::testing::Test {
 protected:
  void SetUp() override {
    auto plane = ControlPlane::start({.scheduler = false, .kwok = false});
    if (!plane && plane.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane.error().message();
    ASSERT_TRUE(plane.ok()) << plane.error().message();
    plane_ = std::move(*plane);
    const Status installed = install_operator(plane_->client());
    ASSERT_TRUE(installed.ok()) << installed.error().message();
    webhook::WebhookServerOptions options;
    options.namespace_name = "tpu-slice-system";
    auto server = webhook::WebhookServer::start(options, plane_->client(), clock_, metrics_, {});
    ASSERT_TRUE(server.ok()) << server.error().message();
    server_ = std::move(*server);
    const Status registered = register_webhook(plane_->client(), server_->port());
    ASSERT_TRUE(registered.ok()) << registered.error().message();
    server_->step({});
    ASSERT_TRUE(server_->ready());
    // The API server takes a moment to see the configuration.
    ASSERT_TRUE(eventually([&] { return is_admitted(); }));
  }
  void TearDown() override {
    if (HasFailure() && plane_) plane_->keep_dir();
  }

  bool is_admitted() {
    const auto probe =
        plane_->client().create(kPods, Object(runnable(RayPod{.group = "probe"}.json())), {.dry_run = true});
    return probe.ok() && env_value(probe->json(), "TPU_WORKER_ID") == "0";
  }

  /// A pod that the API server takes: its containers have images. Without the token, whose volume has a random name.
  static Json runnable(Json pod) {
    pod["spec"]["automountServiceAccountToken"] = false;
    for (const char* list : {"containers", "initContainers"}) {
      if (!pod["spec"].contains(list)) continue;
      for (Json& container : pod["spec"][list]) container["image"] = "i";
    }
    return pod;
  }

  void create(const ResourceType& type, const std::string& yaml) {
    const auto object = parse_yaml(yaml);
    ASSERT_TRUE(object.ok()) << object.error().message();
    const auto created = plane_->client().create(type, Object(*object));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }

  /// The `count` pods with that label, by hostname.
  std::map<std::string, Json> pods_of(const std::string& label, std::size_t count) {
    std::map<std::string, Json> pods;
    const bool there = eventually([&] {
      pods.clear();
      const auto list = plane_->client().list(kPods, {.namespace_name = "default", .label_selector = label}, {});
      if (!list) return false;
      for (const std::string& text : list->items) {
        const Json pod = Json::parse(text);
        pods[string_at(pod, {"spec", "hostname"})] = pod;
      }
      return pods.size() == count;
    });
    EXPECT_TRUE(there) << pods.size() << " pods of " << label;
    return pods;
  }

  const std::shared_ptr<http::IoThreads> io_ = http::start_io();
  RealClock clock_;
  Metrics metrics_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<webhook::WebhookServer> server_;
};

constexpr const char* kTemplateSpec = R"(
      nodeSelector:
        cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
        cloud.google.com/gke-tpu-topology: 2x4
      containers:
        - name: main
          image: i
          env: [{name: WHO, value: worker $(TPU_WORKER_ID)}]
          resources: {limits: {google.com/tpu: 4}}
)";

std::string job(const std::string& name, const std::string& labels) {
  return fmt::format(R"(
apiVersion: batch/v1
kind: Job
metadata: {{name: {}, namespace: default}}
spec:
  completionMode: Indexed
  parallelism: 2
  completions: 2
  template:
    metadata:
      labels: {{{}}}
    spec:
      restartPolicy: Never
      subdomain: svc{})",
                     name, labels, kTemplateSpec);
}

std::string stateful_set(const std::string& name, int replicas, int start, const std::string& labels,
                         const std::string& annotations) {
  return fmt::format(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: {}, namespace: default}}
spec:
  replicas: {}
  serviceName: svc
  podManagementPolicy: Parallel
  ordinals: {{start: {}}}
  selector: {{matchLabels: {{set: {}}}}}
  template:
    metadata:
      labels: {{set: {}{}}}
      annotations: {{{}}}
    spec:{})",
                     name, replicas, start, name, name, labels, annotations, kTemplateSpec);
}

TEST_F(Admission, GivesThePodsOfAllFiveOwnersTheirIdentity) {
  create(kJobs, job("train", "app: train"));
  create(kJobs, job("js-w-1",
                    "jobset.sigs.k8s.io/jobset-name: js, jobset.sigs.k8s.io/jobset-uid: u, "
                    "jobset.sigs.k8s.io/replicatedjob-name: w, jobset.sigs.k8s.io/replicatedjob-replicas: \"2\", "
                    "jobset.sigs.k8s.io/job-index: \"1\""));
  create(kStatefulSets, stateful_set("serve", 4, 0, "", ""));
  const std::string size = "leaderworkerset.sigs.k8s.io/size: \"2\"";
  create(
      kStatefulSets,
      stateful_set("lws", 1, 0,
                   ", leaderworkerset.sigs.k8s.io/name: lws, leaderworkerset.sigs.k8s.io/worker-index: \"0\"", size));
  create(kStatefulSets, stateful_set("lws-0", 1, 1, ", leaderworkerset.sigs.k8s.io/name: lws",
                                     size + ", leaderworkerset.sigs.k8s.io/leader-name: lws-0, "
                                            "leaderworkerset.sigs.k8s.io/leader-requests-tpus: \"true\""));
  for (int host = 0; host < 2; ++host) {
    const Json pod = runnable(RayPod{.topology = "2x4", .replica = 1, .host = host}.json());
    Json named = pod;
    named["metadata"]["name"] = fmt::format("ray-{}", host);
    const auto created = plane_->client().create(kPods, Object(named));
    ASSERT_TRUE(created.ok()) << created.error().message();
  }

  struct Expected {
    const char* selector;
    std::size_t count;
    std::map<std::string, std::pair<std::string, std::string>> pods;  ///< Hostname: worker id, hosts of its slice.
  };
  const std::string train = "train-0.svc,train-1.svc";
  const std::string in_js = "js-w-1-0.svc,js-w-1-1.svc";
  const std::string lws = "lws-0.svc,lws-0-1.svc";
  const std::string ray = "g-1-0.rc-headless,g-1-1.rc-headless";
  const std::vector<Expected> all = {
      {"app=train", 2, {{"train-0", {"0", train}}, {"train-1", {"1", train}}}},
      {"jobset.sigs.k8s.io/jobset-name=js", 2, {{"js-w-1-0", {"0", in_js}}, {"js-w-1-1", {"1", in_js}}}},
      {"set=serve",
       4,
       {{"serve-0", {"0", "serve-0.svc,serve-1.svc"}},
        {"serve-1", {"1", "serve-0.svc,serve-1.svc"}},
        {"serve-2", {"0", "serve-2.svc,serve-3.svc"}},
        {"serve-3", {"1", "serve-2.svc,serve-3.svc"}}}},
      {"leaderworkerset.sigs.k8s.io/name=lws", 2, {{"lws-0", {"0", lws}}, {"lws-0-1", {"1", lws}}}},
      {"ray.io/cluster=rc", 2, {{"g-1-0", {"0", ray}}, {"g-1-1", {"1", ray}}}},
  };
  std::set<std::string> slices;
  for (const Expected& expected : all) {
    SCOPED_TRACE(expected.selector);
    const auto pods = pods_of(expected.selector, expected.count);
    for (const auto& [hostname, answer] : expected.pods) {
      ASSERT_TRUE(pods.contains(hostname)) << hostname;
      const Json& pod = pods.at(hostname);
      EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), answer.first) << hostname;
      EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES"), answer.second) << hostname;
      slices.insert(string_at(pod, {"metadata", "labels", "tpuslice.dev/slice"}));
      EXPECT_TRUE(pod["spec"]["affinity"].contains("podAffinity")) << hostname;
    }
  }
  EXPECT_EQ(slices.size(), 6U) << "one key for each slice";
  const Json multislice = pods_of("jobset.sigs.k8s.io/jobset-name=js", 2).at("js-w-1-0");
  EXPECT_EQ(env_value(multislice, "MEGASCALE_NUM_SLICES"), "2");
  EXPECT_EQ(env_value(multislice, "MEGASCALE_COORDINATOR_ADDRESS"), "js-w-0-0.svc");
  EXPECT_EQ(env_value(pods_of("set=lws-0", 1).begin()->second, "TPU_PROCESS_ADDRESSES"),
            "lws-0.svc:8476,lws-0-1.svc:8476");
  // Before the user's, or $(TPU_WORKER_ID) would stay as it is.
  EXPECT_EQ(string_at(multislice, {"spec", "containers", "0", "env", "0", "name"}), "TPU_WORKER_ID");
}

/// A webhook of somebody else that puts a container before all others, and a variable into each.
class Injector {
 public:
  Injector(client::Client& client, const std::string& name) {
    const Timestamp now = RealClock().wall();
    const http::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(1)};
    const http::Identity authority = *http::make_certificate_authority(name, validity);
    http::ServerOptions options;
    options.tls = *http::issue_certificate(authority, {.common_name = name, .ip_addresses = {"127.0.0.1"}}, validity);
    server_ = *http::Server::start(std::move(options), [this, name](const http::Request& request, const http::Peer&) {
      ++calls_;
      return answer(name, Json::parse(request.body)["request"]);
    });
    const Json configuration = {
        {"apiVersion", "admissionregistration.k8s.io/v1"},
        {"kind", "MutatingWebhookConfiguration"},
        {"metadata", {{"name", name}}},
        {"webhooks", Json::array({{{"name", name + ".example.com"},
                                   {"admissionReviewVersions", {"v1"}},
                                   {"sideEffects", "None"},
                                   {"clientConfig",
                                    {{"url", fmt::format("https://127.0.0.1:{}/", server_->port())},
                                     {"caBundle", encode_base64(authority.certificate_chain)}}},
                                   {"rules", Json::array({{{"apiGroups", {""}},
                                                           {"apiVersions", {"v1"}},
                                                           {"resources", {"pods"}},
                                                           {"operations", {"CREATE"}}}})}}})}};
    const auto created = client.create(kMutatingConfigurations, Object(configuration));
    EXPECT_TRUE(created.ok()) << created.error().message();
  }

  [[nodiscard]] int calls() const { return calls_; }

 private:
  static http::Reply answer(const std::string& name, const Json& request) {
    Json patch = Json::array();
    const Json& containers = request["object"]["spec"]["containers"];
    for (std::size_t index = 0; index < containers.size(); ++index) {
      const std::string env = fmt::format("/spec/containers/{}/env", index);
      if (!containers[index].contains("env")) patch.push_back({{"op", "add"}, {"path", env}, {"value", Json::array()}});
      patch.push_back({{"op", "add"}, {"path", env + "/-"}, {"value", {{"name", name}, {"value", "was here"}}}});
    }
    patch.push_back({{"op", "add"}, {"path", "/spec/containers/0"}, {"value", {{"name", name}, {"image", "sidecar"}}}});
    const Json review = {{"apiVersion", "admission.k8s.io/v1"},
                         {"kind", "AdmissionReview"},
                         {"response",
                          {{"uid", request["uid"]},
                           {"allowed", true},
                           {"patchType", "JSONPatch"},
                           {"patch", encode_base64(patch.dump())}}}};
    return {.response = {200, {{"Content-Type", "application/json"}}, review.dump()}};
  }

  std::atomic<int> calls_ = 0;
  std::unique_ptr<http::Server> server_;
};

// The API server calls webhooks in the order of their configurations' names, and ours again after the last one.
TEST_F(Admission, IsNotDisturbedByInjectorsBeforeAndAfterIt) {
  const Injector before(plane_->client(), "a-injector");
  const Injector after(plane_->client(), "z-injector");
  ASSERT_TRUE(eventually([&] {
    is_admitted();
    return before.calls() > 0 && after.calls() > 0;
  }));
  create(kJobs, job("train", "app: train"));
  const auto pods = pods_of("app=train", 2);
  for (int index = 0; index < 2; ++index) {
    const Json& pod = pods.at(fmt::format("train-{}", index));
    std::vector<std::string> names;
    for (const Json& container : pod["spec"]["containers"]) names.push_back(container["name"]);
    EXPECT_THAT(names, ::testing::ElementsAre("z-injector", "a-injector", "main"));
    EXPECT_EQ(env_value(pod, "TPU_WORKER_ID", 2), std::to_string(index));
    EXPECT_EQ(env_value(pod, "TPU_WORKER_HOSTNAMES", 2), "train-0.svc,train-1.svc");
    EXPECT_EQ(env_value(pod, "TPU_WORKER_ID", 1), "<absent>");
    std::map<std::string, int> times;
    for (const Json& variable : pod["spec"]["containers"][2]["env"]) ++times[variable["name"]];
    for (const auto& [name, count] : times) EXPECT_EQ(count, 1) << name;
    EXPECT_EQ(times["a-injector"] + times["z-injector"], 2);
    EXPECT_EQ(pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].size(), 1U);
  }
}

TEST_F(Admission, AnswersADryRunAsItAnswersTheCreation) {
  const Json pod = runnable(RayPod{.topology = "2x4", .replica = 3, .host = 1}.json());
  const auto dry = plane_->client().create(kPods, Object(pod), {.dry_run = true});
  ASSERT_TRUE(dry.ok()) << dry.error().message();
  const auto real = plane_->client().create(kPods, Object(pod));
  ASSERT_TRUE(real.ok()) << real.error().message();
  EXPECT_EQ(dry->json()["spec"], real->json()["spec"]);
  EXPECT_EQ(dry->json()["metadata"]["labels"], real->json()["metadata"]["labels"]);
}

/// Dry-run creations of TPU pods at a fixed rate from several threads, until it ends.
class Load {
 public:
  static constexpr int kThreads = 8;
  static constexpr int kPerSecond = 200;

  Load(client::Client& client, const Json& pod) {
    for (int thread = 0; thread < kThreads; ++thread) {
      threads_.emplace_back([this, &client, pod](const std::stop_token& stop) { run(client, pod, stop); });
    }
  }
  void stop() { threads_.clear(); }
  [[nodiscard]] int admitted() const { return admitted_; }
  [[nodiscard]] int failed() const { return failed_; }

 private:
  void run(client::Client& client, const Json& pod, const std::stop_token& stop) {
    const RealClock clock;
    constexpr Duration kGap = std::chrono::microseconds(1'000'000) * kThreads / kPerSecond;
    Instant next = clock.now();
    while (!stop.stop_requested()) {
      const auto created = client.create(kPods, Object(pod), {.dry_run = true});
      const bool right = created.ok() && env_value(created->json(), "TPU_WORKER_ID") == "0";
      ++(right ? admitted_ : failed_);
      next += kGap;
      const Instant now = clock.now();
      if (next > now) runtime::pause(next - now, stop);
    }
  }

  std::atomic<int> admitted_ = 0;
  std::atomic<int> failed_ = 0;
  std::vector<std::jthread> threads_;
};

// failurePolicy is Fail, so an admission that the API server could not ask for is a failed creation.
TEST_F(Admission, LosesNoneWhileItsCertificatesAreRenewedUnderLoad) {
  const ObjectKey key{"tpu-slice-system", "tpu-slice-webhook-cert"};
  const auto break_member = [&](const char* member) {
    const auto broken = plane_->client().patch(kSecrets, key, client::PatchType::kMerge,
                                               {{"data", {{member, encode_base64("broken")}}}});
    ASSERT_TRUE(broken.ok()) << broken.error().message();
  };
  const auto served = [&] { return plane_->client().get(kSecrets, key)->json()["data"]; };
  Load load(plane_->client(), runnable(RayPod{}.json()));
  const RealClock clock;
  const Instant begin = clock.now();
  const auto reach = [&](int count) {
    ASSERT_TRUE(eventually([&] { return load.admitted() + load.failed() >= count; }));
  };
  reach(200);
  Json data = served();
  for (int round = 0; round < 5; ++round) {
    break_member("tls.key");
    server_->step({});
    EXPECT_NE(served()["tls.crt"], data["tls.crt"]) << "a new leaf";
    reach(load.admitted() + load.failed() + 200);
    break_member("ca.key");
    server_->step({});
    EXPECT_NE(served()["ca.crt"], data["ca.crt"]) << "a new authority beside the old one";
    data = served();
    reach(load.admitted() + load.failed() + 200);
  }
  const Status removed = plane_->client().remove(kSecrets, key);
  ASSERT_TRUE(removed.ok()) << removed.error().message();
  server_->step({});
  reach(load.admitted() + load.failed() + 200);
  const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
  load.stop();
  EXPECT_EQ(load.failed(), 0);
  GTEST_LOG_(INFO) << load.admitted() << " admitted and " << load.failed() << " failed in " << seconds << " s ("
                   << static_cast<int>(load.admitted() / seconds) << " per second), 10 renewals";
}

}  // namespace
}  // namespace tpuslice::testing
