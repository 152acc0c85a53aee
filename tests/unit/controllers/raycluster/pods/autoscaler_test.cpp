#include "controllers/raycluster/pods/autoscaler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/pods/pod_builder.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json an_autoscaled_cluster(Json options = Json::object()) {
  Json cluster = a_cluster("train", {{.name = "tpu"}});
  cluster["spec"]["enableInTreeAutoscaling"] = true;
  cluster["spec"]["autoscalerOptions"] = std::move(options);
  return cluster;
}

Json head_pod_of(const Json& json, const Options& options = {}) {
  const Object cluster(json);
  const Result<Object> pod = build_head_pod(RayClusterSpec::read(cluster), options);
  EXPECT_TRUE(pod.ok()) << pod.error().message();
  return pod->json();
}

std::vector<std::string> names_in(const Json& list) {
  std::vector<std::string> out;
  for (const Json& element : list) out.push_back(string_at(element, {"name"}));
  return out;
}

/// Value of a variable of the Ray container; empty without.
std::string ray_variable(const Json& pod, std::string_view name) {
  for (const Json& variable : pod["spec"]["containers"][0]["env"]) {
    if (variable["name"] == name) return string_at(variable, {"value"});
  }
  return {};
}

TEST(Autoscaler, IsTheLastContainerOfTheHead) {
  const Json pod = head_pod_of(an_autoscaled_cluster());
  EXPECT_THAT(names_in(pod["spec"]["containers"]), ElementsAre("ray-head", "autoscaler"));
  const Json& container = pod["spec"]["containers"][1];
  EXPECT_EQ(container["image"], "rayproject/ray:2.49.1");
  EXPECT_EQ(container["command"], Json({"/bin/bash", "-c", "--"}));
  EXPECT_THAT(names_in(container["env"]), ElementsAre("RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE", "RAY_HEAD_POD_NAME",
                                                      "KUBERAY_CRD_VER", "KUBERAY_GEN_AUTOSCALER_START_CMD"));
  EXPECT_EQ(container["args"], Json::array({container["env"][4]["value"]}));
  EXPECT_EQ(container["resources"]["limits"], Json({{"cpu", "500m"}, {"memory", "512Mi"}}));
  EXPECT_THAT(pod["spec"]["containers"][0]["args"][0].get<std::string>(), HasSubstr(" --no-monitor "));
  EXPECT_EQ(pod["spec"]["serviceAccountName"], "train");
}

TEST(Autoscaler, SharesItsLogsWithRay) {
  const Json pod = head_pod_of(an_autoscaled_cluster());
  const Json mount = {{"mountPath", "/tmp/ray"}, {"name", "ray-logs"}};
  EXPECT_THAT(pod["spec"]["containers"][0]["volumeMounts"], Contains(mount));
  EXPECT_THAT(pod["spec"]["containers"][1]["volumeMounts"], ElementsAre(mount));
  EXPECT_THAT(names_in(pod["spec"]["volumes"]), ElementsAre("shared-mem", "ray-logs"));
}

TEST(Autoscaler, TakesItsOptions) {
  const Json container = head_pod_of(
      an_autoscaled_cluster({{"image", "my/ray"},
                             {"imagePullPolicy", "Always"},
                             {"resources", {{"limits", {{"cpu", "2"}}}}},
                             {"securityContext", {{"runAsNonRoot", true}}},
                             {"env", Json::array({{{"name", "A"}, {"value", "1"}}})},
                             {"envFrom", Json::array({{{"prefix", "P_"}}})},
                             {"command", {"/bin/sh", "-c"}},
                             {"args", {"exec $KUBERAY_GEN_AUTOSCALER_START_CMD"}}}))["spec"]["containers"][1];
  EXPECT_EQ(container["image"], "my/ray");
  EXPECT_EQ(container["imagePullPolicy"], "Always");
  EXPECT_EQ(container["resources"], Json({{"limits", {{"cpu", "2"}}}}));
  EXPECT_EQ(container["securityContext"], Json({{"runAsNonRoot", true}}));
  EXPECT_THAT(names_in(container["env"]), Contains("A"));
  EXPECT_EQ(container["envFrom"], Json::array({{{"prefix", "P_"}}}));
  EXPECT_EQ(container["command"], Json({"/bin/sh", "-c"}));
  EXPECT_EQ(container["args"], Json::array({"exec $KUBERAY_GEN_AUTOSCALER_START_CMD"}));
}

TEST(Autoscaler, OfAnExplicitVersionIsPassedToRay) {
  EXPECT_EQ(ray_variable(head_pod_of(an_autoscaled_cluster()), "RAY_enable_autoscaler_v2"), "");
  EXPECT_EQ(ray_variable(head_pod_of(an_autoscaled_cluster({{"version", "v1"}})), "RAY_enable_autoscaler_v2"), "false");
  EXPECT_EQ(ray_variable(head_pod_of(an_autoscaled_cluster({{"version", "v2"}})), "RAY_enable_autoscaler_v2"), "true");
}

TEST(Autoscaler, OfVersion2LetsNoPodRestart) {
  const Object v1(an_autoscaled_cluster({{"version", "v1"}}));
  const Object v2(an_autoscaled_cluster({{"version", "v2"}}));
  const auto policy_of_worker = [](const Object& cluster) {
    const RayClusterSpec spec = RayClusterSpec::read(cluster);
    return string_at(build_worker_pod(spec, spec.groups[0], {0, 0}, {}).value().json(), {"spec", "restartPolicy"});
  };
  EXPECT_EQ(policy_of_worker(v1), "");
  EXPECT_EQ(policy_of_worker(v2), "Never");
  EXPECT_EQ(head_pod_of(v2.json())["spec"]["restartPolicy"], "Never");
}

TEST(Autoscaler, TakesPrecedenceOverASidecarOfItsName) {
  Options options;
  options.pod_defaults.head_sidecars = Json::array({{{"name", "autoscaler"}}, {{"name", "logs"}}});
  const Json pod = head_pod_of(an_autoscaled_cluster(), options);
  EXPECT_THAT(names_in(pod["spec"]["containers"]), ElementsAre("ray-head", "autoscaler", "logs"));
  EXPECT_TRUE(pod["spec"]["containers"][1].contains("command"));
}

std::vector<std::string> kinds_and_names(const Json& json) {
  const Object cluster(json);
  std::vector<std::string> out;
  for (const Object& child : autoscaler_children(RayClusterSpec::read(cluster))) {
    out.push_back(child.kind() + " " + child.name());
  }
  return out;
}

TEST(AutoscalerChildren, AreAServiceAccountARoleAndItsBinding) {
  EXPECT_THAT(kinds_and_names(an_autoscaled_cluster()),
              ElementsAre("ServiceAccount train", "Role train", "RoleBinding train"));
  const Object cluster(an_autoscaled_cluster());
  const std::vector<Object> children = autoscaler_children(RayClusterSpec::read(cluster));
  for (const Object& child : children) {
    EXPECT_EQ(child.json()["metadata"]["labels"], Json({{"ray.io/cluster", "train"},
                                                        {"app.kubernetes.io/name", "kuberay"},
                                                        {"app.kubernetes.io/created-by", "kuberay-operator"}}));
    EXPECT_EQ(child.controller()->uid, cluster.uid());
  }
  EXPECT_EQ(children[1].json()["rules"], Json::parse(R"([
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "patch"]},
    {"apiGroups": [""], "resources": ["pods/resize"], "verbs": ["patch"]},
    {"apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": ["get", "patch"]}])"))
      << "they cannot delete pods";
}

TEST(AutoscalerChildren, DoNotIncludeAServiceAccountThatTheUserNames) {
  Json json = an_autoscaled_cluster();
  json["spec"]["headGroupSpec"]["template"]["spec"]["serviceAccountName"] = "mine";
  EXPECT_THAT(kinds_and_names(json), ElementsAre("Role train", "RoleBinding train"));
  const Object cluster(json);
  EXPECT_EQ(autoscaler_children(RayClusterSpec::read(cluster))[1].json()["subjects"][0]["name"], "mine");
  EXPECT_EQ(head_pod_of(json)["spec"]["serviceAccountName"], "mine");
}

TEST(AutoscalerChildren, FollowTheDeprecatedAliasAsKubernetesDoes) {
  Json json = an_autoscaled_cluster();
  Json& pod = json["spec"]["headGroupSpec"]["template"]["spec"];
  pod["serviceAccount"] = "mine";
  EXPECT_THAT(kinds_and_names(json), ElementsAre("Role train", "RoleBinding train"));
  EXPECT_EQ(head_pod_of(json)["spec"]["serviceAccountName"], "mine");
  pod["serviceAccountName"] = "other";
  EXPECT_EQ(head_pod_of(json)["spec"]["serviceAccountName"], "other");
}

TEST(Autoscaler, WithoutItsServiceAccountIsReportedAsUpstream) {
  Json json = an_autoscaled_cluster();
  json["spec"]["headGroupSpec"]["template"]["spec"]["serviceAccountName"] = "mine";
  RayClusterObserved seen = all_running(Object(json));
  seen.pods.clear();
  seen.last_failure =
      plan::Failure{.reason = "FailedCreateHeadPod", .message = "it is refused", .missing_service_account = "mine"};
  const auto reasons = [&] {
    std::vector<std::string> out;
    const plan::Plan plan = plan_raycluster(seen, {});
    for (const plan::EventIntent& event : plan.events) out.push_back(event.reason);
    return out;
  };
  EXPECT_THAT(reasons(), ElementsAre("AutoscalerServiceAccountNotFound"));
  seen.last_failure->missing_service_account = "another";
  EXPECT_THAT(reasons(), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::raycluster
