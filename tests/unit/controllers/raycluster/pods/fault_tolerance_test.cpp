#include "controllers/raycluster/pods/pod_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/pods/pod_builder.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Json cluster_without_redis() {
  return a_cluster("train", {{.name = "cpu", .replicas = 1, .hosts = 1, .accelerator = ""}});
}

Json with_options(Json options) {
  Json cluster = cluster_without_redis();
  cluster["spec"]["gcsFaultToleranceOptions"] = std::move(options);
  return cluster;
}

Json with_annotations(Json annotations) {
  Json cluster = cluster_without_redis();
  cluster["metadata"]["annotations"] = std::move(annotations);
  return cluster;
}

Json& head_container(Json& cluster) { return cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]; }

Json ft_head(const Json& cluster) { return build_head_pod(RayClusterSpec::read(cluster), {}).value().json(); }
Json ft_worker(const Json& cluster) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  return build_worker_pod(spec, spec.groups[0], {0, 0}, {}).value().json();
}

/// The variables of the Ray container that fault tolerance adds, without those that each pod has.
std::vector<std::string> redis_of(const Json& pod) {
  std::vector<std::string> out;
  for (const Json& variable : pod["spec"]["containers"][0]["env"]) {
    const std::string name = variable["name"];
    if (name == "RAY_CLUSTER_NAME") break;
    if (name == "FQ_RAY_IP" || name == "RAY_IP") continue;
    const Json* key = find_path(variable, {"valueFrom", "secretKeyRef", "name"});
    out.push_back(name + "=" + (key == nullptr ? string_at(variable, {"value"}) : "secret " + key->get<std::string>()));
  }
  return out;
}

std::string ray_start(const Json& pod) { return pod["spec"]["containers"][0]["args"][0]; }
Json annotations(const Json& pod) { return pod["metadata"]["annotations"]; }

TEST(FaultTolerance, IsOffByDefault) {
  EXPECT_THAT(redis_of(ft_head(cluster_without_redis())), IsEmpty());
  EXPECT_THAT(redis_of(ft_worker(cluster_without_redis())), IsEmpty());
  EXPECT_EQ(annotations(ft_head(cluster_without_redis()))["ray.io/ft-enabled"], "false");
  EXPECT_FALSE(annotations(ft_head(cluster_without_redis())).contains("ray.io/external-storage-namespace"));
  EXPECT_THAT(redis_of(ft_head(with_annotations({{"ray.io/ft-enabled", "no"}}))), IsEmpty());
}

TEST(FaultTolerance, GivesTheHeadItsRedisAndWorkersTimeToReconnect) {
  const Json cluster =
      with_options({{"redisAddress", "redis:6379"},
                    {"redisUsername", {{"value", "ray"}}},
                    {"redisPassword", {{"valueFrom", {{"secretKeyRef", {{"name", "redis"}, {"key", "password"}}}}}}}});
  const Json head = ft_head(cluster);
  EXPECT_THAT(redis_of(head), ElementsAre("RAY_external_storage_namespace=uid-of-train", "RAY_REDIS_ADDRESS=redis:6379",
                                          "REDIS_USERNAME=ray", "REDIS_PASSWORD=secret redis"));
  EXPECT_THAT(ray_start(head), HasSubstr(" --redis-password=$REDIS_PASSWORD  --redis-username=$REDIS_USERNAME "));
  EXPECT_EQ(annotations(head)["ray.io/ft-enabled"], "true");
  EXPECT_EQ(annotations(head)["ray.io/external-storage-namespace"], "uid-of-train");
  const Json worker = ft_worker(cluster);
  EXPECT_THAT(redis_of(worker), ElementsAre("RAY_gcs_rpc_server_reconnect_timeout_s=600"));
  EXPECT_THAT(ray_start(worker), Not(HasSubstr("redis")));
  EXPECT_FALSE(worker["metadata"].value("annotations", Json::object()).contains("ray.io/ft-enabled"));
}

TEST(FaultTolerance, WithoutCredentialsHasNone) {
  const Json head = ft_head(with_options({{"redisAddress", "redis:6379"}}));
  EXPECT_THAT(redis_of(head),
              ElementsAre("RAY_external_storage_namespace=uid-of-train", "RAY_REDIS_ADDRESS=redis:6379"));
  EXPECT_THAT(ray_start(head), Not(HasSubstr("redis")));
}

TEST(FaultTolerance, PrefersTheStorageNamespaceOfTheOptionsAndThenOfTheAnnotation) {
  const auto storage_namespace = [](const Json& cluster) {
    return annotations(ft_head(cluster))["ray.io/external-storage-namespace"];
  };
  EXPECT_EQ(storage_namespace(with_options({{"externalStorageNamespace", "mine"}})), "mine");
  const Json annotated =
      with_annotations({{"ray.io/ft-enabled", "TRUE"}, {"ray.io/external-storage-namespace", "theirs"}});
  EXPECT_EQ(storage_namespace(annotated), "theirs");
  EXPECT_THAT(redis_of(ft_head(annotated)), ElementsAre("RAY_external_storage_namespace=theirs"));
  EXPECT_THAT(redis_of(ft_worker(annotated)), ElementsAre("RAY_gcs_rpc_server_reconnect_timeout_s=600"));
}

TEST(FaultTolerance, OfAnAnnotationKeepsTheUsersVariablesAndPassesOnThePassword) {
  Json cluster = with_annotations({{"ray.io/ft-enabled", "true"}});
  cluster["spec"]["headGroupSpec"]["rayStartParams"]["redis-password"] = "p";
  head_container(cluster)["env"] = {{{"name", "RAY_REDIS_ADDRESS"}, {"value", "r:1"}},
                                    {{"name", "RAY_external_storage_namespace"}, {"value", "mine"}}};
  EXPECT_THAT(redis_of(ft_head(cluster)),
              ElementsAre("RAY_REDIS_ADDRESS=r:1", "RAY_external_storage_namespace=mine", "REDIS_PASSWORD=p"));
  head_container(cluster)["env"].push_back({{"name", "REDIS_PASSWORD"}, {"value", "q"}});
  EXPECT_THAT(redis_of(ft_head(cluster)), Not(Contains("REDIS_PASSWORD=p")));
}

TEST(FaultTolerance, KeepsTheReconnectTimeoutOfTheUser) {
  Json cluster = with_options({{"redisAddress", "r:1"}});
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["env"] = {
      {{"name", "RAY_gcs_rpc_server_reconnect_timeout_s"}, {"value", "60"}}};
  EXPECT_THAT(redis_of(ft_worker(cluster)), ElementsAre("RAY_gcs_rpc_server_reconnect_timeout_s=60"));
}

TEST(FaultTolerance, DoesNotReachTheInitContainerOfWorkers) {
  const Json init = ft_worker(with_options({{"redisAddress", "r:1"}}))["spec"]["initContainers"][0];
  for (const Json& variable : init["env"]) EXPECT_NE(variable["name"], "RAY_gcs_rpc_server_reconnect_timeout_s");
}

}  // namespace
}  // namespace tpuslice::raycluster
