#include "controllers/raycluster/raycluster_configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"

namespace tpuslice::raycluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> errors_of(std::string_view yaml) {
  Options options;
  std::vector<std::string> out;
  for (const rules::FieldError& error : read_configuration(parse_yaml(yaml).value(), options)) {
    out.push_back(error.to_string());
  }
  return out;
}

TEST(RayClusterConfiguration, SetsWhatAllRayClustersGet) {
  Options options;
  const Json section = parse_yaml(R"(
headSidecarContainers: [{name: logs, image: fluent-bit, resources: {limits: {cpu: 100m}}}]
workerSidecarContainers: [{name: metrics, image: exporter, volumeDevices: [{name: disk, devicePath: /dev/disk}]}]
defaultContainerEnvs:
  - {name: REGION, value: europe-west4}
  - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
defaultPodLabels: {cost-center: ml}
defaultPodAnnotations: {example.com/scrape: "true"}
injectProbes: false
injectWaitGcsReady: false
headServiceClusterIP: true
redisCleanup: false
)")
                           .value();
  ASSERT_THAT(read_configuration(section, options), IsEmpty());
  EXPECT_EQ(options.pod_defaults.head_sidecars[0]["image"], "fluent-bit");
  EXPECT_EQ(options.pod_defaults.worker_sidecars[0]["name"], "metrics");
  EXPECT_EQ(options.pod_defaults.container_env.size(), 2U);
  EXPECT_EQ(options.pod_defaults.labels, StringMap({{"cost-center", "ml"}}));
  EXPECT_EQ(options.pod_defaults.annotations, StringMap({{"example.com/scrape", "true"}}));
  EXPECT_FALSE(options.inject_probes);
  EXPECT_FALSE(options.wait_for_gcs);
  EXPECT_TRUE(options.head_cluster_ip);
  EXPECT_FALSE(options.redis_cleanup);
}

TEST(RayClusterConfiguration, KeepsTheDefaultsOfAbsentKeys) {
  Options options;
  EXPECT_THAT(read_configuration(Json::object(), options), IsEmpty());
  EXPECT_TRUE(options.inject_probes);
  EXPECT_TRUE(options.wait_for_gcs);
  EXPECT_FALSE(options.head_cluster_ip);
  EXPECT_TRUE(options.redis_cleanup);
  EXPECT_EQ(options.pod_defaults.head_sidecars, Json::array());
}

TEST(RayClusterConfiguration, RefusesWhatIsNotASection) {
  EXPECT_THAT(errors_of("[]"), ElementsAre("rayCluster: Invalid value: []: must be an object"));
}

TEST(RayClusterConfiguration, ReportsEveryErrorOfSidecars) {
  EXPECT_THAT(
      errors_of(R"(
headSidecarContainers: [{image: a}, {name: UPPER, image: a}, {name: ok, image: a, imagee: b}, 5]
workerSidecarContainers: [{name: a, image: a}, {name: a, image: a, resources: {limits: {google.com/tpu: 4}}}, {name: b}]
)"),
      ElementsAre("rayCluster.headSidecarContainers[3]: Invalid value: 5: must be an object",
                  "rayCluster.headSidecarContainers[0].name: Required value",
                  "rayCluster.workerSidecarContainers[2].image: Required value",
                  testing::StartsWith("rayCluster.headSidecarContainers[1].name: Invalid value: \"UPPER\""),
                  "rayCluster.headSidecarContainers[2].imagee: Forbidden: a container has no such field",
                  "rayCluster.workerSidecarContainers[1].name: Duplicate value: \"a\"",
                  "rayCluster.workerSidecarContainers[1].resources.limits[google.com/tpu]: Forbidden: the chips "
                  "of a host belong to the Ray container"));
}

TEST(RayClusterConfiguration, ReportsEveryErrorOfEnvironmentLabelsAndAnnotations) {
  EXPECT_THAT(
      errors_of(R"(
defaultContainerEnvs: [{value: a}, {name: A=B}, {name: C, value: a, valueFrom: {}}, {name: C}, {name: D, vlaue: a}]
defaultPodLabels: {ray.io/cluster: x, team: "not a label value", size: 5}
defaultPodAnnotations: {tpuslice.dev/slice: x, "bad key": x}
)"),
      ElementsAre("rayCluster.defaultContainerEnvs[0].name: Required value",
                  "rayCluster.defaultContainerEnvs[1].name: Invalid value: \"A=B\": must not contain =",
                  "rayCluster.defaultContainerEnvs[2].valueFrom: Forbidden: cannot be combined with value",
                  "rayCluster.defaultContainerEnvs[3].name: Duplicate value: \"C\"",
                  "rayCluster.defaultContainerEnvs[4].vlaue: Forbidden: an environment variable has no such field",
                  "rayCluster.defaultPodLabels[ray.io/cluster]: Forbidden: is set by the operator",
                  "rayCluster.defaultPodLabels[size]: Invalid value: 5: must be a string",
                  testing::StartsWith("rayCluster.defaultPodLabels[team]: Invalid value: \"not a label value\""),
                  testing::StartsWith("rayCluster.defaultPodAnnotations[bad key]: Invalid value: \"bad key\""),
                  "rayCluster.defaultPodAnnotations[tpuslice.dev/slice]: Forbidden: is set by the operator"));
}

}  // namespace
}  // namespace tpuslice::raycluster
