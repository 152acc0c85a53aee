#include "controllers/raycluster/pods/pod_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/json_text.h"
#include "tests/support/error_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json head_of(const Json& json, const Options& options = {}) {
  const Object cluster(json);
  const Result<Object> pod = build_head_pod(RayClusterSpec::read(cluster), options);
  EXPECT_TRUE(pod.ok()) << pod.error().message();
  return pod->json();
}

Result<Object> try_worker(const Json& json, WorkerIndex index, const Options& options = {}) {
  const Object cluster(json);
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  return build_worker_pod(spec, spec.groups[0], index, options);
}

Json worker_of(const Json& json, WorkerIndex index, const Options& options = {}) {
  const Result<Object> pod = try_worker(json, index, options);
  EXPECT_TRUE(pod.ok()) << pod.error().message();
  return pod->json();
}

std::vector<std::string> names(const Json& array) {
  std::vector<std::string> out;
  for (const Json& item : array) out.push_back(item["name"].get<std::string>());
  return out;
}

std::string env(const Json& container, std::string_view name) {
  for (const Json& variable : container["env"]) {
    if (variable["name"] == name) return variable.value("value", variable.dump());
  }
  return "(absent)";
}

TEST(HeadPod, CarriesTheLabelsAndTheOwnerOfItsCluster) {
  const Json pod = head_of(tutorial_cluster());
  EXPECT_EQ(pod["metadata"]["labels"], Json({{"ray.io/is-ray-node", "yes"},
                                             {"ray.io/cluster", "maxtext-tpu-cluster"},
                                             {"ray.io/node-type", "head"},
                                             {"ray.io/group", "headgroup"},
                                             {"ray.io/identifier", "maxtext-tpu-cluster-head"},
                                             {"app.kubernetes.io/name", "kuberay"},
                                             {"app.kubernetes.io/created-by", "kuberay-operator"}}));
  EXPECT_EQ(pod["metadata"]["namespace"], "default");
  const Json& owner = pod["metadata"]["ownerReferences"][0];
  EXPECT_EQ(owner["kind"], "RayCluster");
  EXPECT_EQ(owner["controller"], true);
  EXPECT_EQ(owner["uid"], tutorial_cluster()["metadata"]["uid"]);
  EXPECT_EQ(pod["metadata"]["annotations"]["gke-gcsfuse/volumes"], "true");
}

TEST(HeadPod, WithTpusIsASliceOfASingleHost) {
  Json cluster = tutorial_cluster();
  Json& head = cluster["spec"]["headGroupSpec"]["template"]["spec"];
  head["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"},
                          {"cloud.google.com/gke-tpu-topology", "2x4"}};
  head["containers"][0]["resources"]["limits"]["google.com/tpu"] = "8";
  const Json pod = head_of(cluster, {.mutation = {.kinds = own_kinds()}});
  EXPECT_EQ(env(pod["spec"]["containers"][0], "TPU_WORKER_ID"), "0");
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/slice-hosts"], "1");
  EXPECT_FALSE(pod["spec"].contains("hostname"));
}

TEST(HeadPod, HasItsEnvironmentInOrder) {
  const Json container = head_of(tutorial_cluster())["spec"]["containers"][0];
  EXPECT_THAT(names(container["env"]),
              ElementsAre("RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE", "RAY_CLOUD_INSTANCE_ID", "RAY_NODE_TYPE_NAME",
                          "KUBERAY_GEN_RAY_START_CMD", "RAY_PORT", "RAY_ADDRESS", "RAY_USAGE_STATS_KUBERAY_IN_USE",
                          "RAY_USAGE_STATS_EXTRA_TAGS", "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE"));
  EXPECT_EQ(env(container, "RAY_ADDRESS"), "127.0.0.1:6379");
  EXPECT_EQ("ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; " + env(container, "KUBERAY_GEN_RAY_START_CMD"),
            container["args"][0].get<std::string>());
}

TEST(HeadPod, ExposesMetricsOnce) {
  Json cluster = tutorial_cluster();
  EXPECT_THAT(names(head_of(cluster)["spec"]["containers"][0]["ports"]),
              ElementsAre("gcs-server", "dashboard", "client", "metrics"));
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"] =
      Json::array({{{"name", "metrics"}, {"containerPort", 9000}}});
  EXPECT_EQ(head_of(cluster)["spec"]["containers"][0]["ports"].size(), 1U);
}

TEST(HeadPod, MountsSharedMemoryAsLargeAsItsMemory) {
  const Json pod = head_of(a_cluster("c", {}));
  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["volumes"],
            Json::parse(R"([{"name": "shared-mem", "emptyDir": {"medium": "Memory", "sizeLimit": "4Gi"}}])"));
  EXPECT_EQ(spec["containers"][0]["volumeMounts"], Json::parse(R"([{"name": "shared-mem", "mountPath": "/dev/shm"}])"));
}

TEST(HeadPod, KeepsTheUsersOwnSharedMemory) {
  EXPECT_THAT(names(head_of(tutorial_cluster())["spec"]["volumes"]), Not(Contains("shared-mem")));
  Json cluster = a_cluster("c", {});
  cluster["spec"]["headGroupSpec"]["rayStartParams"]["plasma-directory"] = "/mnt";
  EXPECT_FALSE(head_of(cluster)["spec"].contains("volumes"));
}

TEST(HeadPod, IsProbedByCommandsBeforeRay253AndOverHttpSince) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["rayVersion"] = "2.52.9";
  Json container = head_of(cluster)["spec"]["containers"][0];
  EXPECT_EQ(
      container["livenessProbe"]["exec"]["command"][2],
      "wget --tries 1 -T 2 -q -O- http://localhost:52365/api/local_raylet_healthz | grep success && wget --tries 1 "
      "-T 10 -q -O- http://localhost:8265/api/gcs_healthz | grep success");
  EXPECT_EQ(container["livenessProbe"]["failureThreshold"], 120);
  EXPECT_EQ(container["readinessProbe"]["timeoutSeconds"], 5);
  cluster["spec"]["rayVersion"] = "2.53.0";
  container = head_of(cluster)["spec"]["containers"][0];
  EXPECT_EQ(container["readinessProbe"]["httpGet"], Json({{"path", "/api/healthz"}, {"port", 52365}}));
}

TEST(HeadPod, KeepsTheUsersProbes) {
  Json cluster = tutorial_cluster();
  Json& container = cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0];
  container["livenessProbe"] = {{"tcpSocket", {{"port", 1}}}};
  const Json built = head_of(cluster)["spec"]["containers"][0];
  EXPECT_EQ(built["livenessProbe"], container["livenessProbe"]);
  EXPECT_TRUE(built.contains("readinessProbe"));
}

TEST(Pods, KeepTheirCommandIfTheClusterHasTheAnnotation) {
  for (const char* value : {"true", "True", "tRuE"}) {
    Json cluster = tutorial_cluster();
    cluster["metadata"]["annotations"]["ray.io/overwrite-container-cmd"] = value;
    for (Json* group : {&cluster["spec"]["headGroupSpec"], &cluster["spec"]["workerGroupSpecs"][0]}) {
      (*group)["template"]["spec"]["containers"][0]["command"] = {"sleep"};
    }
    for (const Json& pod : {head_of(cluster), worker_of(cluster, {0, 2})}) {
      EXPECT_EQ(pod["metadata"]["annotations"]["ray.io/overwrite-container-cmd"], "true");
      EXPECT_EQ(pod["spec"]["containers"][0]["command"], Json({"sleep"}));
      EXPECT_THAT(env(pod["spec"]["containers"][0], "KUBERAY_GEN_RAY_START_CMD"), HasSubstr("ray start"));
    }
    cluster["metadata"]["annotations"]["ray.io/overwrite-container-cmd"] = "yes";
    EXPECT_NE(head_of(cluster)["spec"]["containers"][0]["command"], Json({"sleep"}));
  }
}

TEST(WorkerPod, CarriesItsPlaceInTheSlice) {
  const Json labels = worker_of(tutorial_cluster(), {0, 2})["metadata"]["labels"];
  EXPECT_EQ(labels["ray.io/worker-group-replica-index"], "0");
  EXPECT_EQ(labels["ray.io/replica-host-index"], "2");
  EXPECT_THAT(labels["ray.io/worker-group-replica-name"].get<std::string>(), HasSubstr("tpu-group-"));
  EXPECT_EQ(labels["ray.io/identifier"], "maxtext-tpu-cluster-worker");
}

TEST(WorkerPod, OfASingleHostGroupHasOnlyTheReplicaIndex) {
  const Json labels =
      worker_of(a_cluster("c", {{.name = "cpu", .hosts = 1, .accelerator = ""}}), {3, 0})["metadata"]["labels"];
  EXPECT_EQ(labels["ray.io/worker-group-replica-index"], "3");
  EXPECT_FALSE(labels.contains("ray.io/replica-host-index"));
  EXPECT_FALSE(labels.contains("ray.io/worker-group-replica-name"));
}

TEST(WorkerPod, IsCreatedWithItsTpuIdentity) {
  const Json pod = worker_of(tutorial_cluster(), {0, 2});
  const Json& container = pod["spec"]["containers"][0];
  EXPECT_EQ(env(container, "TPU_WORKER_ID"), "2");
  EXPECT_EQ(env(container, "TPU_NAME"), "tpu-group-0");
  EXPECT_EQ(pod["spec"]["hostname"], "tpu-group-0-2");
  EXPECT_EQ(pod["spec"]["subdomain"], "maxtext-tpu-cluster-headless");
  EXPECT_EQ(env(container, "TPU_WORKER_HOSTNAMES"),
            "tpu-group-0-0.maxtext-tpu-cluster-headless,tpu-group-0-1.maxtext-tpu-cluster-headless,"
            "tpu-group-0-2.maxtext-tpu-cluster-headless,tpu-group-0-3.maxtext-tpu-cluster-headless");
  EXPECT_EQ(pod["metadata"]["annotations"]["tpuslice.dev/slice-hosts"], "4");
}

TEST(WorkerPod, FindsTheHeadByName) {
  const Json container = worker_of(tutorial_cluster(), {0, 0})["spec"]["containers"][0];
  EXPECT_EQ(env(container, "FQ_RAY_IP"), "maxtext-tpu-cluster-head-svc.default.svc.cluster.local");
  EXPECT_EQ(env(container, "RAY_IP"), "maxtext-tpu-cluster-head-svc");
  EXPECT_EQ(env(container, "RAY_ADDRESS"), "maxtext-tpu-cluster-head-svc.default.svc.cluster.local:6379");
  EXPECT_EQ(env(container, "JAX_PLATFORMS"), "tpu");
  EXPECT_EQ(env(container, "RAY_USAGE_STATS_EXTRA_TAGS"), "(absent)");
}

TEST(WorkerPod, WaitsForTheHeadWithTheImageOfItsContainer) {
  const Json pod = worker_of(tutorial_cluster(), {0, 0});
  const Json& init = pod["spec"]["initContainers"][0];
  EXPECT_EQ(init["name"], "wait-gcs-ready");
  EXPECT_EQ(init["image"], "ray-maxtext:latest");
  EXPECT_EQ(init["resources"]["limits"], Json({{"cpu", "200m"}, {"memory", "256Mi"}}));
  EXPECT_THAT(init["args"][0].get<std::string>(),
              HasSubstr("ray health-check --address maxtext-tpu-cluster-head-svc.default.svc.cluster.local:6379"));
  EXPECT_THAT(names(init["env"]), Contains("FQ_RAY_IP"));
  Options options;
  options.wait_for_gcs = false;
  EXPECT_FALSE(worker_of(tutorial_cluster(), {0, 0}, options)["spec"].contains("initContainers"));
}

TEST(WorkerPod, LetsUsersOverrideLabelsExceptThoseThatPlaceIt) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["workerGroupSpecs"][0]["template"]["metadata"]["labels"] = {
      {"app.kubernetes.io/created-by", "me"}, {"ray.io/cluster", "other"}, {"ray.io/group", "other"}, {"team", "ml"}};
  const Json labels = worker_of(cluster, {0, 1})["metadata"]["labels"];
  EXPECT_EQ(labels["app.kubernetes.io/created-by"], "me");
  EXPECT_EQ(labels["team"], "ml");
  EXPECT_EQ(labels["ray.io/cluster"], "maxtext-tpu-cluster");
  EXPECT_EQ(labels["ray.io/group"], "tpu-group");
}

TEST(WorkerPod, GetsTheDefaultsOfTheAdministratorUnlessItSetsThem) {
  Options options;
  options.pod_defaults.worker_sidecars = {{{"name", "logs"}, {"image", "l"}}, {{"name", "ray-worker"}, {"image", "x"}}};
  options.pod_defaults.head_sidecars = {{{"name", "only-head"}, {"image", "h"}}};
  options.pod_defaults.container_env = {{{"name", "REGION"}, {"value", "eu"}},
                                        {{"name", "JAX_PLATFORMS"}, {"value", "cpu"}}};
  options.pod_defaults.labels = {{"team", "default"}, {"cost", "7"}};
  options.pod_defaults.annotations = {{"a", "default"}, {"b", "default"}};
  Json cluster = tutorial_cluster();
  Json& pod_template = cluster["spec"]["workerGroupSpecs"][0]["template"];
  pod_template["spec"]["containers"][0]["name"] = "ray-worker";
  pod_template["metadata"]["labels"]["team"] = "ml";
  pod_template["metadata"]["annotations"]["a"] = "mine";
  const Json pod = worker_of(cluster, {0, 0}, options);
  EXPECT_THAT(names(pod["spec"]["containers"]), ElementsAre("ray-worker", "logs"));
  EXPECT_EQ(env(pod["spec"]["containers"][0], "REGION"), "eu");
  EXPECT_EQ(env(pod["spec"]["containers"][0], "JAX_PLATFORMS"), "tpu");
  EXPECT_EQ(pod["metadata"]["labels"]["team"], "ml");
  EXPECT_EQ(pod["metadata"]["labels"]["cost"], "7");
  EXPECT_EQ(pod["metadata"]["annotations"]["a"], "mine");
  EXPECT_EQ(pod["metadata"]["annotations"]["b"], "default");
}

TEST(WorkerPod, OfATemplateThatContradictsItsSliceIsAnErrorThatNamesTheGroup) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["hostname"] = "mine";
  const Result<Object> pod = try_worker(cluster, {0, 0});
  EXPECT_THAT(pod, IsError(ErrorCode::kInvalidArgument,
                           AllOf(HasSubstr("RayCluster default/maxtext-tpu-cluster: worker group tpu-group"),
                                 HasSubstr("spec.hostname"))));
}

TEST(WorkerPod, OfATemplateWithoutContainersIsAnError) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"] = Json::array();
  const Result<Object> pod = try_worker(cluster, {0, 0});
  EXPECT_THAT(pod, IsError(ErrorCode::kInvalidArgument,
                           HasSubstr("spec.workerGroupSpecs[groupName=tpu-group].template.spec.containers")));
}

/// Expects the text of every pod of two replicas to be that of its document.
void expect_texts(const Json& json, const Options& options = {}) {
  const Object cluster(json);
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  for (const WorkerGroup& group : spec.groups) {
    const WorkerPodBuilder builder = WorkerPodBuilder::create(spec, group, options).value();
    for (const int replica : {0, 11}) {
      for (int host = 0; host < group.hosts; ++host) {
        const Result<Object> pod = builder.build({replica, host});
        const Result<std::string> text = builder.text({replica, host});
        ASSERT_EQ(text.ok(), pod.ok()) << host;
        if (pod.ok()) {
          EXPECT_EQ(*text, print_json(pod->json()));
        } else {
          EXPECT_EQ(text.error().message(), pod.error().message());
        }
      }
    }
  }
}

Json& container_of(Json& cluster) {
  return cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0];
}

TEST(WorkerPodText, IsThatOfThePod) {
  expect_texts(tutorial_cluster());
  expect_texts(a_cluster("c", {{.name = "cpu", .hosts = 3, .accelerator = ""}, {.name = "one", .hosts = 1}}));
  Options options;
  options.wait_for_gcs = false;
  options.inject_probes = false;
  expect_texts(tutorial_cluster(), options);
}

TEST(WorkerPodText, CountsTheProcessesOfAHost) {
  Json cluster = tutorial_cluster();
  container_of(cluster)["resources"] = {{"limits", {{"google.com/tpu", 2}}}};
  Json second = container_of(cluster);
  second["name"] = "second";
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"].push_back(second);
  expect_texts(cluster);
}

TEST(WorkerPodText, KeepsWhatTheUserHasSet) {
  Json own_id = tutorial_cluster();
  container_of(own_id)["env"] = {{{"name", "TPU_WORKER_ID"}, {"value", "7"}}};
  expect_texts(own_id);
  Json own_name = tutorial_cluster();
  own_name["spec"]["workerGroupSpecs"][0]["template"]["spec"]["hostname"] = "tpu-group-0-0";
  expect_texts(own_name);
  Json own_annotation = tutorial_cluster();
  own_annotation["spec"]["workerGroupSpecs"][0]["template"]["metadata"]["annotations"]["tpuslice.dev/slice-host"] = "1";
  expect_texts(own_annotation);
  Json without_tpus = a_cluster("c", {{.name = "cpu", .hosts = 4, .accelerator = ""}});
  without_tpus["spec"]["workerGroupSpecs"][0]["template"]["metadata"]["annotations"]["tpuslice.dev/slice-host"] = "3";
  expect_texts(without_tpus);
}

TEST(WorkerPodText, MayContainAnyCharacter) {
  Json cluster = tutorial_cluster();
  container_of(cluster)["env"] = {{{"name", "A"}, {"value", "\x01n0\x01"}}, {{"name", "B"}, {"value", "\\u0001\"\n"}}};
  expect_texts(cluster);
}

}  // namespace
}  // namespace tpuslice::raycluster
