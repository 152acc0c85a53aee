#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/rules/validator.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::tpu_cluster;
using testing::with;

std::vector<std::string> errors_of(const Json& cluster, const Json* old = nullptr) {
  std::vector<std::string> out;
  for (const FieldError& error : validate_raycluster(cluster, old)) out.push_back(error.to_string());
  return out;
}

/// Autoscaled, with the version asked for in autoscalerOptions; none if empty.
Json autoscaled(const std::string& version = {}) {
  Json cluster = with(tpu_cluster(), "/spec/enableInTreeAutoscaling", true);
  if (!version.empty()) cluster["spec"]["autoscalerOptions"]["version"] = version;
  return cluster;
}

Json with_variable(const Json& cluster, const std::string& value) {
  return with(cluster, "/spec/headGroupSpec/template/spec/containers/0/env",
              Json::array({{{"name", "RAY_enable_autoscaler_v2"}, {"value", value}}}));
}

TEST(ValidateAutoscaling, AcceptsEitherVersionAndNone) {
  for (const char* version : {"", "v1", "v2"}) EXPECT_THAT(errors_of(autoscaled(version)), IsEmpty()) << version;
  EXPECT_THAT(errors_of(with_variable(autoscaled(), "1")), IsEmpty());
  EXPECT_THAT(errors_of(with_variable(tpu_cluster(), "0")), IsEmpty()) << "the variable turns it off";
}

TEST(ValidateAutoscaling, AcceptsOptionsOfAnAutoscalerThatIsOff) {
  EXPECT_THAT(errors_of(with(tpu_cluster(), "/spec/autoscalerOptions/version", "v2")), IsEmpty());
}

TEST(ValidateAutoscaling, RefusesTheVersionInTwoPlaces) {
  EXPECT_THAT(errors_of(with_variable(autoscaled("v1"), "0")),
              ElementsAre("spec.headGroupSpec.template.spec.containers[0].env[RAY_enable_autoscaler_v2]: Forbidden: "
                          "cannot be combined with spec.autoscalerOptions.version"));
}

TEST(ValidateAutoscaling, RefusesToSuspendAGroup) {
  EXPECT_THAT(errors_of(with(tpu_cluster(), "/spec/workerGroupSpecs/0/suspend", true)), IsEmpty());
  EXPECT_THAT(
      errors_of(with(autoscaled(), "/spec/workerGroupSpecs/0/suspend", true)),
      ElementsAre("spec.workerGroupSpecs[0].suspend: Forbidden: cannot be combined with spec.enableInTreeAutoscaling"));
}

TEST(ValidateAutoscaling, RefusesAContainerOfTheAutoscalersName) {
  Json cluster = tpu_cluster();
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"].push_back({{"name", "autoscaler"}});
  EXPECT_THAT(errors_of(cluster), IsEmpty());
  cluster["spec"]["enableInTreeAutoscaling"] = true;
  EXPECT_THAT(errors_of(cluster),
              ElementsAre("spec.headGroupSpec.template.spec.containers[1].name: Forbidden: autoscaler is the container "
                          "that spec.enableInTreeAutoscaling adds"));
}

TEST(ValidateAutoscaling, RefusesPodsThatRestartWithVersion2) {
  Json cluster = autoscaled("v2");
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["restartPolicy"] = "Always";
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["restartPolicy"] = "OnFailure";
  EXPECT_THAT(errors_of(cluster),
              ElementsAre("spec.headGroupSpec.template.spec.restartPolicy: Invalid value: \"Always\": must be Never or "
                          "unset with spec.autoscalerOptions.version v2",
                          "spec.workerGroupSpecs[0].template.spec.restartPolicy: Invalid value: \"OnFailure\": must be "
                          "Never or unset with spec.autoscalerOptions.version v2"));
  cluster["spec"]["autoscalerOptions"]["version"] = "v1";
  EXPECT_THAT(errors_of(cluster), IsEmpty());
  EXPECT_THAT(warn_raycluster(cluster),
              ElementsAre("spec.workerGroupSpecs[0].template.spec.restartPolicy: should be Never or unset with "
                          "spec.autoscalerOptions.version v1"));
}

TEST(ValidateAutoscaling, WarnsOfVersion2InARayThatDoesNotExpectTheSameNamesAgain) {
  const auto warnings_with = [](const Json& cluster, const char* ray) {
    return warn_raycluster(with(cluster, "/spec/rayVersion", ray));
  };
  EXPECT_THAT(
      warnings_with(autoscaled("v2"), "2.48.0"),
      ElementsAre("spec.rayVersion: \"2.48.0\": its autoscaler v2 takes the pods of a replica that was removed and "
                  "added again for the removed ones, and may then ask for more: use 2.49.0 or later"));
  EXPECT_THAT(warnings_with(with_variable(autoscaled(), "1"), "2.9.3-py310"), SizeIs(1));
  EXPECT_THAT(warnings_with(autoscaled("v2"), "2.49.0"), IsEmpty());
  EXPECT_THAT(warnings_with(autoscaled("v2"), "nightly"), IsEmpty());
  EXPECT_THAT(warnings_with(autoscaled("v1"), "2.48.0"), IsEmpty());
}

TEST(ValidateAutoscaling, AllowsAnIdleTimeoutOfAGroupWithVersion2Only) {
  const auto with_timeout = [](const Json& cluster) {
    return with(cluster, "/spec/workerGroupSpecs/0/idleTimeoutSeconds", 60);
  };
  EXPECT_THAT(errors_of(with_timeout(autoscaled("v2"))), IsEmpty());
  EXPECT_THAT(errors_of(with_timeout(with_variable(autoscaled(), "true"))), IsEmpty());
  EXPECT_THAT(errors_of(with_timeout(autoscaled())),
              ElementsAre("spec.workerGroupSpecs[0].idleTimeoutSeconds: Forbidden: requires "
                          "spec.autoscalerOptions.version v2"));
}

TEST(ValidateAutoscaling, AllowsAPriorityFromRay2_56) {
  Json cluster = with(autoscaled("v2"), "/spec/workerGroupSpecs/0/priority", -5);
  EXPECT_THAT(errors_of(cluster), ElementsAre("spec.workerGroupSpecs[0].priority: Forbidden: requires spec.rayVersion "
                                              "2.56.0 or later, found \"\""));
  cluster["spec"]["rayVersion"] = "2.55.1";
  EXPECT_EQ(errors_of(cluster).size(), 1U);
  cluster["spec"]["rayVersion"] = "2.56.0";
  EXPECT_THAT(errors_of(cluster), IsEmpty());
  cluster["spec"]["autoscalerOptions"]["version"] = "v1";
  EXPECT_THAT(errors_of(cluster), ElementsAre("spec.workerGroupSpecs[0].priority: Forbidden: requires "
                                              "spec.autoscalerOptions.version v2"));
  cluster["spec"]["workerGroupSpecs"][0]["priority"] = 0;
  EXPECT_THAT(errors_of(cluster), IsEmpty()) << "the default of the CRD";
}

// As Ray's node provider patches the cluster.
TEST(ValidateAutoscaling, AcceptsWhatTheAutoscalerWrites) {
  const Json before = autoscaled("v2");
  Json after = with(before, "/spec/workerGroupSpecs/0/replicas", 2);
  EXPECT_THAT(errors_of(after, &before), IsEmpty());
  after["spec"]["workerGroupSpecs"][0]["replicas"] = 0;
  after["spec"]["workerGroupSpecs"][0]["scaleStrategy"]["workersToDelete"] = {"rc-tpu-worker-0-0-abcde"};
  EXPECT_THAT(errors_of(after, &before), IsEmpty());
  after["spec"]["workerGroupSpecs"][0]["scaleStrategy"]["workersToDelete"] = Json::array();
  EXPECT_THAT(errors_of(after, &before), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rules
