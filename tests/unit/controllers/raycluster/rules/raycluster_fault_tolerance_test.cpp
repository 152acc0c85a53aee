#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::tpu_cluster;
using testing::with;

std::vector<std::string> redis_paths(const Json& cluster, const Json* old = nullptr) {
  std::vector<std::string> paths;
  for (const FieldError& error : validate_raycluster(cluster, old)) paths.push_back(error.path);
  return paths;
}

Json fault_tolerant_cluster(Json options) {
  return with(tpu_cluster(), "/spec/gcsFaultToleranceOptions", std::move(options));
}

constexpr const char* kHeadVariables = "/spec/headGroupSpec/template/spec/containers/0/env";

// Source: KubeRay's validation.
TEST(ValidateFaultTolerance, RefusesWhatTheOptionsSayInOtherPlaces) {
  Json cluster = fault_tolerant_cluster({{"redisAddress", "r:1"}, {"storage", {{"size", "1Gi"}}}});
  cluster["metadata"]["annotations"] = {{"ray.io/ft-enabled", "false"}, {"ray.io/external-storage-namespace", "n"}};
  cluster["spec"]["headGroupSpec"]["rayStartParams"] = {{"redis-password", "p"}, {"redis-username", "u"}};
  cluster = with(cluster, kHeadVariables,
                 Json::parse(R"([{"name": "A"}, {"name": "REDIS_PASSWORD"}, {"name": "RAY_REDIS_ADDRESS"},
                                 {"name": "REDIS_USERNAME"}, {"name": "RAY_external_storage_namespace"}])"));
  const std::string env = "spec.headGroupSpec.template.spec.containers[0].env";
  EXPECT_THAT(redis_paths(cluster),
              ElementsAre("spec.gcsFaultToleranceOptions.storage", "metadata.annotations[ray.io/ft-enabled]",
                          "metadata.annotations[ray.io/external-storage-namespace]",
                          "spec.headGroupSpec.rayStartParams[redis-password]", env + "[1].name", env + "[2].name",
                          "spec.headGroupSpec.rayStartParams[redis-username]", env + "[3].name"));
}

TEST(ValidateFaultTolerance, OfAnAnnotationAcceptsTheUsersVariables) {
  Json cluster = with(tpu_cluster(), kHeadVariables,
                      Json::parse(R"([{"name": "RAY_REDIS_ADDRESS"}, {"name": "REDIS_PASSWORD"}])"));
  EXPECT_THAT(redis_paths(cluster), ElementsAre("spec.headGroupSpec.template.spec.containers[0].env[0].name"));
  cluster["metadata"]["annotations"]["ray.io/ft-enabled"] = "True";
  EXPECT_THAT(redis_paths(cluster), IsEmpty());
}

TEST(ValidateFaultTolerance, RefusesAnotherBackend) {
  const Json redis = fault_tolerant_cluster({{"backend", "redis"}});
  const Json rocksdb = fault_tolerant_cluster({{"backend", "rocksdb"}});
  EXPECT_THAT(redis_paths(redis), IsEmpty());
  EXPECT_THAT(redis_paths(redis, &rocksdb), ElementsAre("spec.gcsFaultToleranceOptions.backend"));
  EXPECT_THAT(redis_paths(redis, &redis), IsEmpty());
  EXPECT_THAT(redis_paths(fault_tolerant_cluster({{"backend", "etcd"}})),
              ElementsAre("spec.gcsFaultToleranceOptions.backend"));
  EXPECT_THAT(warn_raycluster(redis), ElementsAre(HasSubstr("redisAddress: is not set")));
}

}  // namespace
}  // namespace tpuslice::rules
