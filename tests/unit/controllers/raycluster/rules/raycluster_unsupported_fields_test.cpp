#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::tpu_cluster;
using testing::with;

std::vector<std::string> unsupported_paths(const Json& cluster) {
  std::vector<std::string> paths;
  for (const UnsupportedField& field : unsupported_fields(cluster)) paths.push_back(field.path);
  return paths;
}

TEST(UnsupportedFields, DoNotIncludeTheFieldsOfAnOrdinaryCluster) {
  EXPECT_THAT(unsupported_paths(tpu_cluster()), IsEmpty());
  Json cluster = with(tpu_cluster(), "/spec/suspend", true);
  cluster["spec"]["workerGroupSpecs"][0]["suspend"] = true;
  cluster["spec"]["workerGroupSpecs"][0]["scaleStrategy"] = {{"workersToDelete", {"a"}}};
  cluster["spec"]["upgradeStrategy"]["type"] = "None";
  cluster["spec"]["enableInTreeAutoscaling"] = true;
  cluster["spec"]["autoscalerOptions"]["version"] = "v2";
  cluster["spec"]["headGroupSpec"]["enableIngress"] = true;
  cluster["spec"]["authOptions"]["mode"] = "token";
  cluster["spec"]["gcsFaultToleranceOptions"]["redisAddress"] = "redis:6379";
  cluster["metadata"]["annotations"]["ray.io/ft-enabled"] = "true";
  EXPECT_THAT(unsupported_paths(cluster), IsEmpty());
}

struct UnsupportedCase {
  const char* pointer;
  Json value;
  const char* path;
};
class UnsupportedFieldCase : public ::testing::TestWithParam<UnsupportedCase> {};

TEST_P(UnsupportedFieldCase, HasAPathAndAReason) {
  const auto fields = unsupported_fields(with(tpu_cluster(), GetParam().pointer, GetParam().value));
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0].path, GetParam().path);
  EXPECT_FALSE(fields[0].reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, UnsupportedFieldCase,
    ::testing::Values(UnsupportedCase{"/spec/gcsFaultToleranceOptions", Json({{"backend", "rocksdb"}}),
                                      "spec.gcsFaultToleranceOptions.backend"},
                      UnsupportedCase{"/spec/networkPolicy", Json({{"mode", "DenyAll"}}), "spec.networkPolicy"},
                      UnsupportedCase{"/spec/tlsOptions", Json::object(), "spec.tlsOptions"},
                      UnsupportedCase{"/spec/historyServerOptions", Json::object(), "spec.historyServerOptions"}));

TEST(UnsupportedFields, OfUpstreamsAlphaFeaturesAreNamedAsSuch) {
  Json cluster = tpu_cluster();
  for (const char* field : {"networkPolicy", "tlsOptions", "historyServerOptions"}) {
    cluster["spec"][field] = Json::object();
  }
  cluster["spec"]["gcsFaultToleranceOptions"] = {{"backend", "rocksdb"}};
  std::vector<std::string> alpha;
  for (const UnsupportedField& field : unsupported_fields(cluster)) {
    if (field.reason.starts_with("alpha in KubeRay")) alpha.push_back(field.path);
  }
  EXPECT_THAT(alpha, ElementsAre("spec.networkPolicy", "spec.tlsOptions", "spec.historyServerOptions",
                                 "spec.gcsFaultToleranceOptions.backend"));
}

TEST(UnsupportedFields, AreIgnoredInAClusterThatAnotherControllerManages) {
  Json cluster = with(tpu_cluster(), "/spec/tlsOptions", Json::object());
  cluster["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_THAT(unsupported_paths(cluster), IsEmpty());
  cluster["spec"]["managedBy"] = "ray.io/kuberay-operator";
  EXPECT_THAT(unsupported_paths(cluster), ElementsAre("spec.tlsOptions"));
}

}  // namespace
}  // namespace tpuslice::rules
