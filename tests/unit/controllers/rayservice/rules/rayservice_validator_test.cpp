#include "controllers/rayservice/rules/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::tpu_rayservice;
using testing::with;
using testing::without;

constexpr const char* kTimeout = "/metadata/annotations/ray.io~1initializing-timeout";

std::vector<std::string> rayservice_paths(const Json& service, const Json* old = nullptr) {
  std::vector<std::string> paths;
  for (const FieldError& error : validate_rayservice(service, old)) paths.push_back(error.path);
  return paths;
}

std::string rayservice_message(const Json& service) { return to_message(validate_rayservice(service, nullptr)); }

/// The service with a JSON merge patch of its spec.
Json patched_rayservice(const char* spec) {
  Json service = tpu_rayservice();
  service["spec"].merge_patch(Json::parse(spec));
  return service;
}

TEST(ValidateRayService, AcceptsALegalService) {
  EXPECT_THAT(rayservice_message(tpu_rayservice()), IsEmpty());
  EXPECT_THAT(warn_rayservice(tpu_rayservice(), nullptr), IsEmpty());
  EXPECT_THAT(unsupported_rayservice_fields(tpu_rayservice()), IsEmpty());
}

TEST(ValidateRayService, ReportsWrongTypesOfAnyOtherJson) {
  for (const Json& json : {Json(), Json(1), Json::array(), Json::object()}) {
    static_cast<void>(validate_rayservice(json, nullptr));
    EXPECT_THAT(warn_rayservice(json, &json), IsEmpty());
    EXPECT_THAT(unsupported_rayservice_fields(json), IsEmpty());
  }
  EXPECT_THAT(rayservice_paths({{"spec", 1}}), ElementsAre("spec"));
  EXPECT_THAT(rayservice_paths({{"spec", Json::object()}}), ElementsAre("spec.rayClusterConfig"));
  for (const char* field : {"rayClusterConfig", "serveService", "upgradeStrategy", "suspend"}) {
    const Json service = with(tpu_rayservice(), std::string("/spec/") + field, 7);
    EXPECT_THAT(rayservice_paths(service), ::testing::Contains(std::string("spec.") + field));
    static_cast<void>(warn_rayservice(service, &service));
    static_cast<void>(unsupported_rayservice_fields(service));
  }
}

struct AcceptedService {
  const char* name;
  const char* spec;  ///< A merge patch.
};
class AcceptedRayService : public ::testing::TestWithParam<AcceptedService> {};

TEST_P(AcceptedRayService, HasNoErrors) { EXPECT_EQ(rayservice_message(patched_rayservice(GetParam().spec)), ""); }

INSTANTIATE_TEST_SUITE_P(
    Specs, AcceptedRayService,
    ::testing::Values(
        AcceptedService{"NoServeConfig", R"({"serveConfigV2": null})"},
        AcceptedService{"EmptyServeConfig", R"({"serveConfigV2": ""})"},
        AcceptedService{"JsonServeConfig", R"({"serveConfigV2": "{\"applications\": []}"})"},
        AcceptedService{"ServePort", R"({"rayClusterConfig": {"headGroupSpec": {"template": {"spec": {"containers": [
                        {"name": "h", "ports": [{"containerPort": 8000, "name": "serve"}]}]}}}}})"},
        AcceptedService{"ServePortOfTheService", R"({"serveService": {}, "rayClusterConfig": {"headGroupSpec": {
                        "template": {"spec": {"containers": [{"name": "h", "ports": [{"containerPort": 1, "name": "a"}]}]}}}}})"},
        AcceptedService{"NoUpgrade", R"({"upgradeStrategy": {"type": "None"}, "rayClusterDeletionDelaySeconds": 0})"},
        AcceptedService{"HeadServiceWithAnnotations", R"({"rayClusterConfig": {"headGroupSpec": {"headService":
                        {"metadata": {"annotations": {"a": "b"}}}}}})"},
        AcceptedService{"IncrementalUpgrade",
                        R"({"rayClusterConfig": {"enableInTreeAutoscaling": true}, "upgradeStrategy": {
                        "type": "NewClusterWithIncrementalUpgrade", "clusterUpgradeOptions":
                        {"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 5}}})"}),
    [](const auto& test) { return std::string(test.param.name); });

struct RefusedService {
  const char* name;
  const char* spec;     ///< A merge patch.
  const char* message;  ///< Of the only error.
};
class RefusedRayService : public ::testing::TestWithParam<RefusedService> {};

TEST_P(RefusedRayService, NamesFieldValueAndWhatWouldBeRight) {
  EXPECT_EQ(rayservice_message(patched_rayservice(GetParam().spec)), GetParam().message);
}

// Source: KubeRay's validation of RayServices, and its CRD.
INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedRayService,
    ::testing::Values(
        RefusedService{"NoCluster", R"({"rayClusterConfig": null})", "spec.rayClusterConfig: Required value"},
        RefusedService{"NameOfTheHeadService", R"({"rayClusterConfig": {"headGroupSpec": {"headService":
                       {"metadata": {"name": "mine"}}}}})",
                       "spec.rayClusterConfig.headGroupSpec.headService.metadata.name: Forbidden: the name of the head "
                       "service is derived from the RayCluster's: unset it"},
        RefusedService{
            "NoServePort", R"({"rayClusterConfig": {"headGroupSpec": {"template": {"spec": {"containers": [
                       {"name": "h", "ports": [{"containerPort": 6379, "name": "gcs"}]}]}}}}})",
            "spec.rayClusterConfig.headGroupSpec.template.spec.containers[0].ports: Required value: one port "
            "is named serve, or begins with serve-; or set spec.serveService"},
        RefusedService{"ServeConfigThatIsText", R"({"serveConfigV2": "applications"})",
                       R"(spec.serveConfigV2: Invalid value: "applications": must be a mapping)"},
        RefusedService{"UnknownUpgrade", R"({"upgradeStrategy": {"type": "Recreate"}})",
                       R"(spec.upgradeStrategy.type: Unsupported value: "Recreate": supported values: "NewCluster", )"
                       R"("NewClusterWithIncrementalUpgrade", "None")"},
        RefusedService{"NegativeDelay", R"({"rayClusterDeletionDelaySeconds": -1})",
                       "spec.rayClusterDeletionDelaySeconds: Invalid value: -1: must be between 0 and "
                       "2147483647, inclusive"},
        RefusedService{"ServiceAccounts", R"({"rayClusterConfig": {"rayVersion": "2.55.0", "authOptions":
                       {"mode": "token", "enableK8sTokenAuth": true}}})",
                       "spec.rayClusterConfig.authOptions.enableK8sTokenAuth: Forbidden: a RayService authenticates "
                       "with the token of a Secret only: unset it"},
        RefusedService{"UnknownManager", R"({"managedBy": "me"})",
                       R"(spec.managedBy: Unsupported value: "me": supported values: "ray.io/kuberay-operator", )"
                       R"("kueue.x-k8s.io/multikueue")"},
        RefusedService{"UpgradeOfTheCluster", R"({"rayClusterConfig": {"upgradeStrategy": {"type": "None"}}})",
                       "spec.rayClusterConfig.upgradeStrategy.type: Forbidden: unset it: the cluster is upgraded by "
                       "RayService llm"},
        RefusedService{"WrongNumberOfHosts", R"({"rayClusterConfig": {"workerGroupSpecs": [{"groupName": "w",
                       "template": {"spec": {"nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                       "cloud.google.com/gke-tpu-topology": "4x4"}, "containers": [{"name": "w", "resources":
                       {"limits": {"google.com/tpu": 4}}}]}}}]}})",
                       "spec.rayClusterConfig.workerGroupSpecs[0].numOfHosts: Invalid value: 1: topology 4x4 of "
                       "tpu-v6e-slice has 16 chips; with 4 chips per host that is 4 hosts, set numOfHosts: 4"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ValidateRayService, SaysWhereTheServeConfigIsNotYaml) {
  EXPECT_THAT(rayservice_message(with(tpu_rayservice(), "/spec/serveConfigV2", "applications: [")),
              ::testing::StartsWith(R"(spec.serveConfigV2: Invalid value: "applications: [": must be YAML: )"));
}

/// An incremental upgrade with these options.
Json incremental(const char* options) {
  Json service = patched_rayservice(R"({"rayClusterConfig": {"enableInTreeAutoscaling": true},
                                        "upgradeStrategy": {"type": "NewClusterWithIncrementalUpgrade"}})");
  service["spec"]["upgradeStrategy"]["clusterUpgradeOptions"] = Json::parse(options);
  return service;
}

TEST(ValidateRayService, ChecksTheOptionsOfIncrementalUpgrades) {
  const std::string path = "spec.upgradeStrategy.clusterUpgradeOptions";
  EXPECT_THAT(rayservice_paths(incremental("null")), ElementsAre(path));
  EXPECT_THAT(rayservice_paths(incremental(R"({"intervalSeconds": 1, "stepSizePercent": 5})")),
              ElementsAre(path + ".gatewayClassName"));
  const char* options =
      R"({"gatewayClassName": "g", "intervalSeconds": 0, "stepSizePercent": 101, "maxSurgePercent": 50})";
  EXPECT_THAT(rayservice_paths(incremental(options)),
              ElementsAre(path + ".stepSizePercent", path + ".stepSizePercent", path + ".intervalSeconds"));
  const Json fixed = incremental(R"({"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 5})");
  EXPECT_THAT(rayservice_paths(without(fixed, "/spec/rayClusterConfig", "enableInTreeAutoscaling")),
              ElementsAre("spec.rayClusterConfig.enableInTreeAutoscaling"));
}

TEST(ValidateRayService, NeedsAServePortAndAShortConfigForIncrementalUpgrades) {
  Json service = incremental(R"({"gatewayClassName": "", "intervalSeconds": 1, "stepSizePercent": 5})");
  EXPECT_THAT(rayservice_message(service),
              HasSubstr("spec.upgradeStrategy.clusterUpgradeOptions.gatewayClassName: Required value: the name of a "
                        "GatewayClass of the Kubernetes cluster"));
  service = incremental(R"({"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 5})");
  service["spec"]["serveService"] = Json::object();
  service["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"] =
      Json::array({{{"name", "gcs"}, {"containerPort", 6379}}});
  EXPECT_THAT(rayservice_message(service), HasSubstr("containers[0].ports: Required value: one port is named serve"));
  service = incremental(R"({"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 5})");
  service["spec"]["serveConfigV2"] = "applications: [] # " + std::string(128 * 1024, 'x');
  EXPECT_THAT(rayservice_message(service),
              HasSubstr("must have at most 131072 bytes with NewClusterWithIncrementalUpgrade"));
}

TEST(UnsupportedRayServiceFields, NameFieldsOfTheCluster) {
  Json service = incremental(R"({"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 5})");
  EXPECT_THAT(unsupported_rayservice_fields(service), IsEmpty());
  service["spec"]["rayClusterConfig"]["tlsOptions"] = Json::object();
  const std::vector<UnsupportedField> fields = unsupported_rayservice_fields(service);
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields[0].path, "spec.rayClusterConfig.tlsOptions");
  service["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_THAT(unsupported_rayservice_fields(service), IsEmpty());
}

TEST(ValidateRayService, LimitsTheName) {
  EXPECT_EQ(rayservice_message(with(tpu_rayservice(), "/metadata/name", std::string(47, 'a'))), "");
  EXPECT_THAT(rayservice_paths(with(tpu_rayservice(), "/metadata/name", std::string(48, 'a'))),
              ElementsAre("metadata.name"));
}

TEST(ValidateRayService, ReadsTheInitializingTimeoutAsGoDoes) {
  for (const char* timeout : {"", "300", "5m", "1h30m", "1.5h", ".5s", "100ms", "5µs"}) {
    EXPECT_EQ(rayservice_message(with(tpu_rayservice(), kTimeout, timeout)), "") << timeout;
  }
  for (const char* timeout : {"0", "-5", "0s", "-5m", "5 m", "5d", "1h30", "soon", "5m "}) {
    EXPECT_THAT(rayservice_message(with(tpu_rayservice(), kTimeout, timeout)),
                HasSubstr("metadata.annotations[ray.io/initializing-timeout]: Invalid value: \"" +
                          std::string(timeout) + "\": must be a positive number of seconds, or a duration such as 5m"));
  }
}

TEST(ValidateRayService, KnowsTwoAnswersToMissingRoom) {
  const std::string pointer = "/metadata/annotations/tpuslice.dev~1upgrade-without-room";
  EXPECT_EQ(rayservice_message(with(tpu_rayservice(), pointer, "wait")), "");
  EXPECT_EQ(rayservice_message(with(tpu_rayservice(), pointer, "replace")), "");
  EXPECT_EQ(rayservice_message(with(tpu_rayservice(), pointer, "yes")),
            R"(metadata.annotations[tpuslice.dev/upgrade-without-room]: Unsupported value: "yes": supported values: )"
            R"("wait", "replace")");
}

TEST(ValidateRayService, RefusesOnlyErrorsThatAnUpdateAdds) {
  const Json wrong = patched_rayservice(R"({"serveConfigV2": "a: ["})");
  Json updated = wrong;
  updated["metadata"]["labels"]["a"] = "b";
  EXPECT_THAT(rayservice_paths(updated, &wrong), IsEmpty());
  updated["spec"]["rayClusterDeletionDelaySeconds"] = -1;
  EXPECT_THAT(rayservice_paths(updated, &wrong), ElementsAre("spec.rayClusterDeletionDelaySeconds"));
}

TEST(ValidateRayService, KeepsTheManager) {
  const Json old = patched_rayservice(R"({"managedBy": "kueue.x-k8s.io/multikueue"})");
  EXPECT_THAT(rayservice_paths(with(old, "/spec/managedBy", "ray.io/kuberay-operator"), &old),
              ElementsAre("spec.managedBy"));
}

TEST(WarnRayService, AboutFieldsWithoutEffect) {
  EXPECT_THAT(warn_rayservice(patched_rayservice(R"({"serviceUnhealthySecondThreshold": 900,
                                                     "upgradeStrategy": {"clusterUpgradeOptions": {}},
                                                     "rayClusterConfig": {"authOptions": {}}})"),
                              nullptr),
              ElementsAre(HasSubstr("spec.serviceUnhealthySecondThreshold: has no effect"),
                          HasSubstr("spec.upgradeStrategy.clusterUpgradeOptions: has no effect"),
                          HasSubstr("spec.rayClusterConfig.authOptions.mode: is not set")));
  EXPECT_THAT(warn_rayservice(with(tpu_rayservice(), "/metadata/labels/volcano.sh~1queue-name", "a"), nullptr),
              ElementsAre(HasSubstr("metadata.labels[volcano.sh/queue-name]: has no effect")));
}

TEST(WarnRayService, AboutIncrementalUpgradesThatDoNotEnd) {
  Json service =
      incremental(R"({"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 0, "maxSurgePercent": 0})");
  service["spec"]["serveService"] = Json::object();
  EXPECT_THAT(warn_rayservice(service, nullptr),
              ElementsAre(HasSubstr("clusterUpgradeOptions.maxSurgePercent: is 0"),
                          HasSubstr("spec.serveService: has no effect with NewClusterWithIncrementalUpgrade")));
  service = incremental(R"({"gatewayClassName": "g", "intervalSeconds": 1, "stepSizePercent": 0})");
  EXPECT_THAT(warn_rayservice(service, nullptr), ElementsAre(HasSubstr("clusterUpgradeOptions.stepSizePercent: is 0")));
}

TEST(WarnRayService, AboutChangesThatAreNotApplied) {
  const Json old = tpu_rayservice();
  Json service = old;
  Json& group = service["spec"]["rayClusterConfig"]["workerGroupSpecs"][0];
  group["template"]["spec"]["tolerations"] = Json::array({{{"operator", "Exists"}}});
  EXPECT_THAT(warn_rayservice(service, &old),
              ElementsAre("spec.rayClusterConfig.workerGroupSpecs[0].template.spec.tolerations: a change of this field "
                          "alone is not applied to the existing RayCluster"));
  group["replicas"] = 2;
  EXPECT_THAT(warn_rayservice(service, &old), IsEmpty()) << "the cluster is updated with both";
  EXPECT_THAT(warn_rayservice(with(old, "/spec/rayClusterConfig/suspend", true), &old), IsEmpty());
}

TEST(WarnRayService, AboutChangesThatStartNoUpgrade) {
  const Json old = patched_rayservice(R"({"upgradeStrategy": {"type": "None"}})");
  Json service = old;
  service["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]["replicas"] = 2;
  EXPECT_THAT(warn_rayservice(service, &old), IsEmpty());
  service["spec"]["rayClusterConfig"]["rayVersion"] = "2.50.0";
  EXPECT_THAT(warn_rayservice(service, &old),
              ElementsAre(HasSubstr("spec.rayClusterConfig: the change has no effect while")));
  service["spec"]["upgradeStrategy"]["type"] = "NewCluster";
  EXPECT_THAT(warn_rayservice(service, &old), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rules
