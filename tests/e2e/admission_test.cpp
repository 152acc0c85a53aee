// Pods that the real controllers make, admitted by the real API server through our webhook.
#include <atomic>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/http/server/server.h"
#include "tests/e2e/admission_fixture.h"
#include "tests/support/loopback_identity.h"

namespace tpuslice::testing {
namespace {

using tpu::testing::env_value;
using tpu::testing::RayPod;

constexpr ResourceType kStatefulSets{"apps", "v1", "StatefulSet", "statefulsets"};
constexpr ResourceType kMutatingConfigurations{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                               "mutatingwebhookconfigurations", false};

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

TEST_F(Admission, IdentifiesPodsOfAllFiveKinds) {
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

TEST_F(Admission, RefusesJobSetsAndLeaderWorkerSetsWithoutCompleteSlices) {
  constexpr ResourceType kJobSets{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};
  constexpr ResourceType kSets{"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"};
  const std::string pod = std::string("{spec: ") +
                          "{restartPolicy: Always, nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, "
                          "cloud.google.com/gke-tpu-topology: 4x4}, containers: [{name: w, image: i, "
                          "resources: {limits: {google.com/tpu: 4}}}]}}";
  std::string job_pod = pod;
  job_pod.replace(job_pod.find("Always"), 6, "Never");
  const auto jobset = parse_yaml(
      "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js, namespace: default}, spec: "
      "{replicatedJobs: [{name: w, template: {spec: {parallelism: 3, completions: 3, template: " +
      job_pod + "}}}]}}");
  const auto set = parse_yaml(
      "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: lws, namespace: default}, "
      "spec: {replicas: 1, leaderWorkerTemplate: {size: 3, workerTemplate: " +
      pod + "}}}");
  ASSERT_TRUE(jobset.ok() && set.ok());
  const auto refusal = [&](const ResourceType& type, const Json& object) {
    std::string message;
    // Until the API server serves the kind.
    EXPECT_TRUE(eventually([&] {
      const auto created = plane_->client().create(type, Object(object), {.dry_run = true});
      message = created ? "accepted" : created.error().message();
      return created.ok() || created.error().code() != ErrorCode::kNotFound;
    }));
    return message;
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal(kJobSets, *jobset),
              HasSubstr("spec.replicatedJobs[0].template.spec.parallelism: Invalid value: 3: topology 4x4 of "
                        "tpu-v6e-slice has 16 chips; with 4 chips per host that is 4 hosts, set parallelism"));
  EXPECT_THAT(refusal(kSets, *set), HasSubstr("spec.leaderWorkerTemplate.size: Invalid value: 3: topology 4x4 of "
                                              "tpu-v6e-slice has 16 chips; with 4 chips per host that is 4 hosts"));
  Json right = *jobset;
  for (const char* field : {"parallelism", "completions"}) {
    right["spec"]["replicatedJobs"][0]["template"]["spec"][field] = 4;
  }
  EXPECT_EQ(refusal(kJobSets, right), "accepted");
  right = *set;
  right["spec"]["leaderWorkerTemplate"]["size"] = 4;
  EXPECT_EQ(refusal(kSets, right), "accepted");
}

/// Another webhook, which adds a first container, and a variable to each container.
class Injector {
 public:
  Injector(client::Client& client, const std::string& name) {
    const LoopbackIdentity identity = *make_loopback_identity(name);
    http::ServerOptions options;
    options.tls = identity.leaf;
    server_ =
        *http::Server::start(std::move(options), clock_, [this, name](const http::Request& request, const http::Peer&) {
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
                                     {"caBundle", encode_base64(identity.authority)}}},
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
  const RealClock clock_;
  std::unique_ptr<http::Server> server_;
};

// The API server calls webhooks in the order of their configurations' names, and ours again after the last one.
TEST_F(Admission, WorksWithOtherWebhooksBeforeAndAfterIt) {
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

TEST_F(Admission, TreatsADryRunLikeACreation) {
  const Json pod = runnable(RayPod{.topology = "2x4", .replica = 3, .host = 1}.json());
  const auto dry = plane_->client().create(kPods, Object(pod), {.dry_run = true});
  ASSERT_TRUE(dry.ok()) << dry.error().message();
  const auto real = plane_->client().create(kPods, Object(pod));
  ASSERT_TRUE(real.ok()) << real.error().message();
  EXPECT_EQ(env_value(dry->json(), "TPU_WORKER_ID"), "1");
  EXPECT_EQ(dry->json()["spec"], real->json()["spec"]);
  EXPECT_EQ(dry->json()["metadata"]["labels"], real->json()["metadata"]["labels"]);
}

}  // namespace
}  // namespace tpuslice::testing
