#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::tpu_cluster;
using testing::with;
using testing::without;

const std::string kPod = "/spec/workerGroupSpecs/0/template";
const std::string kSelector = kPod + "/spec/nodeSelector";
const std::string kResources = kPod + "/spec/containers/0/resources";

std::vector<std::string> tpu_errors_of(const Json& cluster) {
  std::vector<std::string> messages;
  for (const FieldError& error : validate_raycluster(cluster, nullptr)) messages.push_back(error.to_string());
  return messages;
}

Json group_of(const char* accelerator, const char* topology, std::vector<int> chips, int hosts) {
  Json cluster = tpu_cluster();
  Json& group = cluster["spec"]["workerGroupSpecs"][0];
  group["numOfHosts"] = hosts;
  group["template"]["spec"]["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", accelerator},
                                               {"cloud.google.com/gke-tpu-topology", topology}};
  Json containers = Json::array();
  for (const int count : chips) {
    Json container = {{"name", "c" + std::to_string(containers.size())}};
    container["resources"]["limits"]["google.com/tpu"] = std::to_string(count);
    containers.push_back(container);
  }
  group["template"]["spec"]["containers"] = containers;
  return cluster;
}

// Source: kuberay-tpu-webhook refuses 2 hosts for v6e 4x4 with 4 chips a pod.
TEST(TpuRules, SayHowManyHostsATopologyHas) {
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "4x4", {4}, 2)),
              ElementsAre("spec.workerGroupSpecs[0].numOfHosts: Invalid value: 2: topology 4x4 of tpu-v6e-slice has 16 "
                          "chips; with 4 chips per host that is 4 hosts, set numOfHosts: 4"));
}

TEST(TpuRules, CountAnAbsentOrZeroNumOfHostsAsOne) {
  Json cluster = group_of("tpu-v6e-slice", "2x4", {8}, 0);
  EXPECT_THAT(tpu_errors_of(cluster), ElementsAre());
  EXPECT_THAT(tpu_errors_of(without(cluster, "/spec/workerGroupSpecs/0", "numOfHosts")), ElementsAre());
}

TEST(TpuRules, AcceptEveryKindOfLegalGroup) {
  const std::vector<Json> groups = {group_of("tpu-v6e-slice", "1x1", {1}, 1),
                                    group_of("tpu-v6e-slice", "2x4", {4}, 2),
                                    group_of("tpu-v5-lite-podslice", "16x16", {4}, 64),
                                    group_of("tpu-v4-podslice", "2x2x2", {4}, 2),
                                    group_of("tpu-v5p-slice", "4x4x8", {4}, 32),
                                    group_of("tpu7x", "2x2x2", {4}, 2),
                                    group_of("tpu7x", "2x2x2", {2, 2}, 2),
                                    group_of("tpu7x", "2x2x2", {1, 1, 1, 1}, 2),
                                    group_of("tpu7x", "1x1x1", {1}, 1),
                                    group_of("tpu7x", "2x2x1", {2}, 2)};
  for (const Json& group : groups) EXPECT_THAT(tpu_errors_of(group), ElementsAre());
}

TEST(TpuRules, RequireBothSelectorsOrNone) {
  const Json cluster = tpu_cluster();
  EXPECT_THAT(tpu_errors_of(without(cluster, kSelector, "cloud.google.com/gke-tpu-accelerator")),
              ElementsAre(HasSubstr("nodeSelector[cloud.google.com/gke-tpu-accelerator]: Required")));
  EXPECT_THAT(tpu_errors_of(without(cluster, kSelector, "cloud.google.com/gke-tpu-topology")),
              ElementsAre(HasSubstr("nodeSelector[cloud.google.com/gke-tpu-topology]: Required")));
  const Json unselected = without(cluster, kPod + "/spec", "nodeSelector");
  EXPECT_THAT(tpu_errors_of(unselected), ElementsAre()) << "node affinity or a compute class may choose the nodes";
  EXPECT_THAT(warn_raycluster(unselected), ElementsAre(HasSubstr("the number of hosts cannot be checked")));
  EXPECT_THAT(warn_raycluster(cluster), ElementsAre());
}

TEST(TpuRules, RefuseTopologiesThatTheAcceleratorDoesNotHave) {
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "4x5", {4}, 5)), ElementsAre(HasSubstr("it has 1x1, 2x2, 2x4")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "huge", {4}, 4)), ElementsAre(HasSubstr("is not of the form")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v5p-slice", "4x4", {4}, 4)),
              ElementsAre(HasSubstr("those of tpu-v5p-slice have 3")));
}

TEST(TpuRules, RefuseChipsThatNoHostHas) {
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "4x4", {8}, 2)),
              ElementsAre(HasSubstr("a host of tpu-v6e-slice 4x4 has 4, ask for all of them")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "4x4", {2}, 8)),
              ElementsAre(HasSubstr("has 4, ask for all of them")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "2x4", {2}, 4)), ElementsAre(HasSubstr("has 8 or 4")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu7x", "2x2x2", {3}, 2)),
              ElementsAre(HasSubstr("a container has 1, 2, 4 or 8")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu7x", "2x2x2", {1, 2}, 2)), ElementsAre(HasSubstr("equally many chips")));
  EXPECT_THAT(tpu_errors_of(group_of("tpu-v6e-slice", "4x4", {2, 2}, 4)),
              ElementsAre(HasSubstr("template.spec.containers: Forbidden: 2 containers ask")));
}

TEST(TpuRules, RequireALimitEqualToTheRequest) {
  Json cluster = without(tpu_cluster(), kResources, "limits");
  EXPECT_THAT(tpu_errors_of(cluster), ElementsAre(HasSubstr("resources.limits[google.com/tpu]: Required value")));
  cluster = with(tpu_cluster(), kResources + "/requests/google.com~1tpu", "2");
  EXPECT_THAT(tpu_errors_of(cluster),
              ElementsAre(HasSubstr("requests[google.com/tpu]: Invalid value: \"2\": must equal")));
  cluster = with(tpu_cluster(), kResources + "/requests/google.com~1tpu", 4);
  EXPECT_THAT(tpu_errors_of(cluster), ElementsAre());
}

TEST(TpuRules, RefuseAQuantityThatIsNotANumber) {
  EXPECT_THAT(tpu_errors_of(with(tpu_cluster(), kResources + "/limits/google.com~1tpu", "many")),
              ElementsAre(HasSubstr("must be a whole number of chips")));
}

TEST(TpuRules, AcceptOneHostForTheHead) {
  Json cluster = tpu_cluster();
  cluster["spec"]["headGroupSpec"]["template"] = cluster["spec"]["workerGroupSpecs"][0]["template"];
  EXPECT_THAT(tpu_errors_of(cluster), ElementsAre(HasSubstr("the head is one pod")));
  const Json one = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"},
                    {"cloud.google.com/gke-tpu-topology", "2x2"}};
  EXPECT_THAT(tpu_errors_of(with(cluster, "/spec/headGroupSpec/template/spec/nodeSelector", one)), ElementsAre());
}

TEST(TpuRules, FollowTheAnnotationOfASubSlice) {
  Json cluster = group_of("tpu-v6e-slice", "16x16", {4}, 4);
  cluster[Json::json_pointer(kPod + "/metadata/annotations/cloud.google.com~1gke-tpu-slice-topology")] = "4x4";
  EXPECT_THAT(tpu_errors_of(cluster), ElementsAre());
}

TEST(TpuRules, IgnoreGroupsWithoutTpus) {
  Json cluster = without(tpu_cluster(), kResources, "limits");
  cluster = without(cluster, kResources, "requests");
  cluster = without(cluster, kPod + "/spec", "nodeSelector");
  EXPECT_THAT(tpu_errors_of(cluster), ElementsAre());
}

}  // namespace
}  // namespace tpuslice::rules
