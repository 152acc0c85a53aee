#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/webhook/clusters.h"
#include "webhook/rules/raycluster/validator.h"

namespace tpuslice::webhook {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::tpu_cluster;
using testing::with;

std::vector<std::string> unserved_paths(const Json& cluster) {
  std::vector<std::string> paths;
  for (const UnservedField& field : unserved_fields(cluster)) paths.push_back(field.path);
  return paths;
}

TEST(UnservedFields, AreNoneInAnOrdinaryCluster) {
  EXPECT_THAT(unserved_paths(tpu_cluster()), IsEmpty());
  Json cluster = with(tpu_cluster(), "/spec/suspend", true);
  cluster["spec"]["workerGroupSpecs"][0]["suspend"] = true;
  cluster["spec"]["workerGroupSpecs"][0]["scaleStrategy"] = {{"workersToDelete", {"a"}}};
  cluster["spec"]["upgradeStrategy"]["type"] = "None";
  cluster["spec"]["enableInTreeAutoscaling"] = false;
  EXPECT_THAT(unserved_paths(cluster), IsEmpty());
}

struct UnservedCase {
  const char* pointer;
  Json value;
  const char* path;
};
class UnservedFieldCase : public ::testing::TestWithParam<UnservedCase> {};

TEST_P(UnservedFieldCase, IsNamedWithAReason) {
  const auto fields = unserved_fields(with(tpu_cluster(), GetParam().pointer, GetParam().value));
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0].path, GetParam().path);
  EXPECT_FALSE(fields[0].reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Fields, UnservedFieldCase,
    ::testing::Values(UnservedCase{"/spec/enableInTreeAutoscaling", true, "spec.enableInTreeAutoscaling"},
                      UnservedCase{"/spec/gcsFaultToleranceOptions", Json({{"redisAddress", "r:1"}}),
                                   "spec.gcsFaultToleranceOptions"},
                      UnservedCase{"/spec/authOptions", Json::object(), "spec.authOptions"},
                      UnservedCase{"/spec/networkPolicy", Json({{"mode", "DenyAll"}}), "spec.networkPolicy"},
                      UnservedCase{"/spec/tlsOptions", Json::object(), "spec.tlsOptions"},
                      UnservedCase{"/spec/historyServerOptions", Json::object(), "spec.historyServerOptions"},
                      UnservedCase{"/spec/upgradeStrategy/type", "Recreate", "spec.upgradeStrategy.type"},
                      UnservedCase{"/spec/headGroupSpec/enableIngress", true, "spec.headGroupSpec.enableIngress"},
                      UnservedCase{"/metadata/annotations/ray.io~1ft-enabled", "true",
                                   "metadata.annotations[ray.io/ft-enabled]"},
                      UnservedCase{"/metadata/annotations/ray.io~1enable-serve-service", "true",
                                   "metadata.annotations[ray.io/enable-serve-service]"}));

TEST(UnservedFields, IncludeTheOptionsOfAFeatureThatIsOn) {
  Json cluster = with(tpu_cluster(), "/spec/autoscalerOptions", Json({{"version", "v2"}}));
  EXPECT_THAT(unserved_paths(cluster), IsEmpty());
  cluster["spec"]["enableInTreeAutoscaling"] = true;
  EXPECT_THAT(unserved_paths(cluster), ElementsAre("spec.enableInTreeAutoscaling", "spec.autoscalerOptions"));
}

TEST(UnservedFields, AreNobodysBusinessInAClusterOfAnotherManager) {
  Json cluster = with(tpu_cluster(), "/spec/enableInTreeAutoscaling", true);
  cluster["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_TRUE(managed_by_other(cluster));
  EXPECT_THAT(unserved_paths(cluster), IsEmpty());
  EXPECT_FALSE(managed_by_other(with(cluster, "/spec/managedBy", "ray.io/kuberay-operator")));
}

}  // namespace
}  // namespace tpuslice::webhook
