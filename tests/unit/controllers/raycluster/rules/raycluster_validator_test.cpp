#include "controllers/raycluster/rules/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::tpu_cluster;
using testing::with;
using testing::without;

std::vector<std::string> paths_of(const Json& cluster, const Json* old = nullptr) {
  std::vector<std::string> paths;
  for (const FieldError& error : validate_raycluster(cluster, old)) paths.push_back(error.path);
  return paths;
}

TEST(ValidateRayCluster, AcceptsALegalCluster) {
  EXPECT_THAT(to_message(validate_raycluster(tpu_cluster(), nullptr)), IsEmpty());
}

TEST(ValidateRayCluster, CountsAbsentAndNullFieldsAsDefaults) {
  Json cluster = tpu_cluster();
  Json& group = cluster["spec"]["workerGroupSpecs"][0];
  for (const char* field : {"replicas", "minReplicas", "maxReplicas"}) group.erase(field);
  group["replicas"] = nullptr;
  group["rayStartParams"] = nullptr;
  cluster["spec"]["headGroupSpec"]["rayStartParams"] = nullptr;
  EXPECT_THAT(paths_of(cluster), IsEmpty());
  cluster["spec"].erase("workerGroupSpecs");
  EXPECT_THAT(paths_of(cluster), IsEmpty());
}

TEST(ValidateRayCluster, ReportsAMissingHeadForAnyOtherJson) {
  for (const Json& json :
       {Json(), Json(1), Json::array(), Json({{"spec", 1}}), Json({{"spec", {{"headGroupSpec", 1}}}})}) {
    EXPECT_THAT(paths_of(json), ElementsAre("spec.headGroupSpec"));
    EXPECT_THAT(warn_raycluster(json), IsEmpty());
    EXPECT_THAT(unsupported_fields(json), IsEmpty());
  }
  paths_of(with(tpu_cluster(), "/spec/workerGroupSpecs", Json::array({1, nullptr, "x"})));
  paths_of(with(tpu_cluster(), "/spec/workerGroupSpecs/0/template/spec/containers", "x"));
  paths_of(with(tpu_cluster(), "/spec/workerGroupSpecs/0/labels", 7));
  for (const char* options : {"/spec/authOptions", "/spec/gcsFaultToleranceOptions"}) {
    for (const Json& value : {Json(7), Json::array({1}), Json("x")}) {
      paths_of(with(tpu_cluster(), options, value));
      EXPECT_THAT(warn_raycluster(with(tpu_cluster(), options, value)), ::testing::SizeIs(1));
    }
  }
  paths_of(with(tpu_cluster(), "/spec/headGroupSpec/template/spec/containers/0/env", Json::array({1, nullptr})));
}

struct Case {
  const char* name;
  const char* pointer;
  Json value;
  const char* path;
};
class RefusedField : public ::testing::TestWithParam<Case> {};

TEST_P(RefusedField, IsReportedByItsPath) {
  const Case& c = GetParam();
  EXPECT_THAT(paths_of(with(tpu_cluster(), c.pointer, c.value)), ElementsAre(c.path)) << c.name;
}

// Source: KubeRay's validation of RayClusters, and its CRD.
INSTANTIATE_TEST_SUITE_P(
    KubeRay, RefusedField,
    ::testing::Values(
        Case{"LongName", "/metadata/name", std::string(54, 'a'), "metadata.name"},
        Case{"NameWithADigitFirst", "/metadata/name", "1a", "metadata.name"},
        Case{"NameWithADot", "/metadata/name", "a.b", "metadata.name"},
        Case{"UnknownManager", "/spec/managedBy", "me", "spec.managedBy"},
        Case{"UnknownUpgrade", "/spec/upgradeStrategy/type", "Rolling", "spec.upgradeStrategy.type"},
        Case{"HeadWithoutContainers", "/spec/headGroupSpec/template/spec/containers", Json::array(),
             "spec.headGroupSpec.template.spec.containers"},
        Case{"RayLabels", "/spec/headGroupSpec/rayStartParams/labels", "a=b",
             "spec.headGroupSpec.rayStartParams[labels]"},
        Case{"LabelValue", "/spec/headGroupSpec/labels", Json({{"a", "b c"}}), "spec.headGroupSpec.labels[a]"},
        Case{"LabelKey", "/spec/workerGroupSpecs/0/labels", Json({{"a b", "c"}}),
             "spec.workerGroupSpecs[0].labels[a b]"},
        Case{"NoGroupName", "/spec/workerGroupSpecs/0/groupName", "", "spec.workerGroupSpecs[0].groupName"},
        Case{"GroupNameWithASpace", "/spec/workerGroupSpecs/0/groupName", "a b", "spec.workerGroupSpecs[0].groupName"},
        Case{"GroupNameThatIsNotADnsLabel", "/spec/workerGroupSpecs/0/groupName", "a_b",
             "spec.workerGroupSpecs[0].groupName"},
        Case{"NegativeReplicas", "/spec/workerGroupSpecs/0/replicas", -1, "spec.workerGroupSpecs[0].replicas"},
        Case{"NegativeMinimum", "/spec/workerGroupSpecs/0/minReplicas", -1, "spec.workerGroupSpecs[0].minReplicas"},
        Case{"ReplicasBeyondInt32", "/spec/workerGroupSpecs/0/replicas", 1LL << 40,
             "spec.workerGroupSpecs[0].replicas"},
        Case{"FractionalReplicas", "/spec/workerGroupSpecs/0/replicas", 1.5, "spec.workerGroupSpecs[0].replicas"},
        Case{"MinimumAboveMaximum", "/spec/workerGroupSpecs/0/minReplicas", 3, "spec.workerGroupSpecs[0].minReplicas"},
        Case{"IdleTimeoutWithoutAutoscaler", "/spec/workerGroupSpecs/0/idleTimeoutSeconds", 60,
             "spec.workerGroupSpecs[0].idleTimeoutSeconds"},
        Case{"UnknownAutoscaler", "/spec/autoscalerOptions/version", "v3", "spec.autoscalerOptions.version"},
        Case{"NegativeIdleTimeout", "/spec/autoscalerOptions/idleTimeoutSeconds", -1,
             "spec.autoscalerOptions.idleTimeoutSeconds"},
        Case{"CommandOfTheAutoscaler", "/spec/autoscalerOptions/env",
             Json::array({{{"name", "KUBERAY_GEN_AUTOSCALER_START_CMD"}, {"value", "true"}}}),
             "spec.autoscalerOptions.env[KUBERAY_GEN_AUTOSCALER_START_CMD]"},
        Case{"VersionVariableWithoutAutoscaler", "/spec/headGroupSpec/template/spec/containers/0/env",
             Json::array({{{"name", "RAY_enable_autoscaler_v2"}, {"value", "1"}}}),
             "spec.headGroupSpec.template.spec.containers[0].env[RAY_enable_autoscaler_v2]"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ValidateRayCluster, UsesTheWordsOfApimachinery) {
  const Json ours = with(tpu_cluster(), "/spec/managedBy", "ray.io/kuberay-operator");
  const Json theirs = with(tpu_cluster(), "/spec/managedBy", "kueue.x-k8s.io/multikueue");
  EXPECT_EQ(
      to_message(validate_raycluster(theirs, &ours)),
      R"(spec.managedBy: Invalid value: "kueue.x-k8s.io/multikueue": field is immutable, was "ray.io/kuberay-operator")");
  EXPECT_EQ(to_message(validate_raycluster(with(ours, "/spec/upgradeStrategy/type", "Rolling"), nullptr)),
            R"(spec.upgradeStrategy.type: Unsupported value: "Rolling": supported values: "None", "Recreate")");
  EXPECT_EQ(to_message(validate_raycluster(with(ours, "/spec/workerGroupSpecs/0/replicas", -1), nullptr)),
            "spec.workerGroupSpecs[0].replicas: Invalid value: -1: must be greater than or equal to 0");
}

TEST(ValidateRayCluster, RefusesTwoGroupsOfOneName) {
  Json cluster = tpu_cluster();
  cluster["spec"]["workerGroupSpecs"].push_back(cluster["spec"]["workerGroupSpecs"][0]);
  EXPECT_THAT(paths_of(cluster), ElementsAre("spec.workerGroupSpecs[1].groupName"));
}

TEST(ValidateRayCluster, RefusesResourcesInTwoPlaces) {
  Json cluster = with(tpu_cluster(), "/spec/workerGroupSpecs/0/resources", Json({{"CPU", "4"}}));
  EXPECT_THAT(paths_of(cluster), IsEmpty());
  cluster = with(cluster, "/spec/workerGroupSpecs/0/rayStartParams/num-cpus", "4");
  EXPECT_THAT(paths_of(cluster), ElementsAre("spec.workerGroupSpecs[0].rayStartParams[num-cpus]"));
}

TEST(ValidateRayCluster, RefusesToChangeManagedBy) {
  const Json ours = with(tpu_cluster(), "/spec/managedBy", "ray.io/kuberay-operator");
  const Json theirs = with(tpu_cluster(), "/spec/managedBy", "kueue.x-k8s.io/multikueue");
  const Json unset = tpu_cluster();
  EXPECT_THAT(paths_of(theirs, &ours), ElementsAre("spec.managedBy"));
  EXPECT_THAT(paths_of(theirs, &theirs), IsEmpty());
  EXPECT_THAT(paths_of(theirs, &unset), IsEmpty());
}

TEST(ValidateRayCluster, RefusesAnUpgradeStrategyForTheClusterOfARayJob) {
  Json cluster = with(tpu_cluster(), "/spec/upgradeStrategy/type", "None");
  EXPECT_THAT(paths_of(cluster), IsEmpty());
  cluster["metadata"]["ownerReferences"] = Json::array({Json({{"kind", "RayJob"}, {"name", "j"}})});
  EXPECT_THAT(paths_of(cluster), ElementsAre("spec.upgradeStrategy.type"));
}

TEST(ValidateRayCluster, ListsAllErrors) {
  Json cluster = with(tpu_cluster(), "/metadata/name", "a.b");
  cluster["spec"]["workerGroupSpecs"][0]["replicas"] = -1;
  cluster["spec"]["workerGroupSpecs"][0]["numOfHosts"] = 2;
  EXPECT_THAT(paths_of(cluster),
              ElementsAre("metadata.name", "spec.workerGroupSpecs[0].replicas", "spec.workerGroupSpecs[0].numOfHosts"));
}

TEST(WarnRayCluster, HasNoWarningsForAnOrdinaryCluster) { EXPECT_THAT(warn_raycluster(tpu_cluster()), IsEmpty()); }

TEST(WarnRayCluster, SaysHowManyReplicasWillRun) {
  EXPECT_THAT(warn_raycluster(with(tpu_cluster(), "/spec/workerGroupSpecs/0/replicas", 5)),
              ElementsAre(HasSubstr("2 will run")));
}

TEST(WarnRayCluster, ShowsTheHostnamesOfAGroupWhoseNameIsNotADnsLabel) {
  EXPECT_THAT(warn_raycluster(with(tpu_cluster(), "/spec/workerGroupSpecs/0/groupName", "TPU")),
              ElementsAre(HasSubstr("the hostnames are tpu-")));
}

TEST(WarnRayCluster, SaysWhatToUseInsteadOfTheLabelsOfBatchSchedulers) {
  Json cluster = tpu_cluster();
  cluster["metadata"]["labels"] = {{"ray.io/gang-scheduling-enabled", "true"},
                                   {"ray.io/priority-class-name", "high"},
                                   {"volcano.sh/queue-name", "a"},
                                   {"kueue.x-k8s.io/queue-name", "a"}};
  EXPECT_THAT(
      warn_raycluster(cluster),
      ElementsAre(AllOf(HasSubstr("metadata.labels[ray.io/gang-scheduling-enabled]"), HasSubstr("tpuslice.dev/gang")),
                  AllOf(HasSubstr("metadata.labels[ray.io/priority-class-name]"), HasSubstr("priorityClassName")),
                  AllOf(HasSubstr("metadata.labels[volcano.sh/queue-name]"), HasSubstr("Kueue"))));
}

TEST(ValidateRayCluster, RefusesAnUpgradeThatIsUnknownOrAlsoRecreate) {
  const std::string path = "metadata.annotations[tpuslice.dev/upgrade]";
  Json cluster = with(tpu_cluster(), "/metadata/annotations/tpuslice.dev~1upgrade", "rolling");
  EXPECT_THAT(paths_of(cluster), IsEmpty());
  cluster["spec"]["upgradeStrategy"]["type"] = "Recreate";
  EXPECT_THAT(paths_of(cluster), ElementsAre(path));
  EXPECT_THAT(paths_of(with(tpu_cluster(), "/metadata/annotations/tpuslice.dev~1upgrade", "slowly")),
              ElementsAre(path));
}

TEST(ValidateRayCluster, RefusesAServeServiceWithoutPorts) {
  Json cluster = with(tpu_cluster(), "/metadata/annotations/ray.io~1enable-serve-service", "true");
  Json& container = cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0];
  container.erase("ports");
  EXPECT_THAT(paths_of(cluster), IsEmpty()) << "Ray's default ports";
  container["ports"] = {{{"name", "dashboard"}, {"containerPort", 8265}}};
  EXPECT_THAT(paths_of(cluster), ElementsAre("spec.headGroupSpec.template.spec.containers[0].ports"));
  container["ports"].push_back({{"name", "serve-grpc"}, {"containerPort", 9000}});
  EXPECT_THAT(paths_of(cluster), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rules
