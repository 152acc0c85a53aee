#include "controllers/rayjob/rules/validator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::tpu_rayjob;
using testing::with;
using testing::without;

std::vector<std::string> rayjob_paths(const Json& job, const Json* old = nullptr) {
  std::vector<std::string> paths;
  for (const FieldError& error : validate_rayjob(job, old)) paths.push_back(error.path);
  return paths;
}

std::string rayjob_message(const Json& job) { return to_message(validate_rayjob(job, nullptr)); }

/// The job with a JSON merge patch of its spec.
Json patched_rayjob(const char* spec) {
  Json job = tpu_rayjob();
  job["spec"].merge_patch(Json::parse(spec));
  return job;
}

TEST(ValidateRayJob, AcceptsALegalJob) {
  EXPECT_THAT(rayjob_message(tpu_rayjob()), IsEmpty());
  EXPECT_THAT(warn_rayjob(tpu_rayjob(), nullptr), IsEmpty());
  EXPECT_THAT(unsupported_rayjob_fields(tpu_rayjob()), IsEmpty());
}

TEST(ValidateRayJob, ReportsWrongTypesOfAnyOtherJson) {
  for (const Json& json : {Json(), Json(1), Json::array(), Json::object()}) {
    static_cast<void>(validate_rayjob(json, nullptr));
    EXPECT_THAT(warn_rayjob(json, &json), IsEmpty());
    EXPECT_THAT(unsupported_rayjob_fields(json), IsEmpty());
  }
  EXPECT_THAT(rayjob_paths({{"spec", 1}}), ElementsAre("spec"));
  EXPECT_THAT(rayjob_paths({{"spec", Json::object()}}), ElementsAre("spec.rayClusterSpec", "spec.entrypoint"));
  for (const char* field :
       {"rayClusterSpec", "deletionStrategy", "clusterSelector", "submitterPodTemplate", "suspend"}) {
    const Json job = with(tpu_rayjob(), std::string("/spec/") + field, "x");
    EXPECT_THAT(rayjob_paths(job), ::testing::Contains(std::string("spec.") + field));
    static_cast<void>(warn_rayjob(job, &job));
    static_cast<void>(unsupported_rayjob_fields(job));
  }
}

struct AcceptedJob {
  const char* name;
  const char* spec;  ///< A merge patch.
};
class AcceptedRayJob : public ::testing::TestWithParam<AcceptedJob> {};

TEST_P(AcceptedRayJob, HasNoErrors) { EXPECT_EQ(rayjob_message(patched_rayjob(GetParam().spec)), ""); }

INSTANTIATE_TEST_SUITE_P(
    Specs, AcceptedRayJob,
    ::testing::Values(
        AcceptedJob{"Interactive", R"({"submissionMode": "InteractiveMode", "entrypoint": null})"},
        AcceptedJob{"Sidecar", R"({"submissionMode": "SidecarMode"})"},
        AcceptedJob{"Http", R"({"submissionMode": "HTTPMode", "backoffLimit": 3, "activeDeadlineSeconds": 1})"},
        AcceptedJob{"Selector", R"({"rayClusterSpec": null, "clusterSelector": {"ray.io/cluster": "rc"}})"},
        AcceptedJob{"OwnSubmitter",
                    R"({"entrypoint": null, "submitterConfig": {"backoffLimit": 0}, "submitterPodTemplate":
                    {"spec": {"containers": [{"name": "s", "command": ["python", "submit.py"]}]}}})"},
        AcceptedJob{"TtlOfAShutdown", R"({"ttlSecondsAfterFinished": 60})"},
        AcceptedJob{"SuspendedForAQueue", R"({"suspend": true})"},
        AcceptedJob{"SuspendedWithDeletionRules", R"({"suspend": true, "shutdownAfterJobFinishes": false,
                    "deletionStrategy": {"deletionRules": [
                      {"policy": "DeleteCluster", "condition": {"jobStatus": "SUCCEEDED"}}]}})"},
        AcceptedJob{"RulesInOrder", R"({"shutdownAfterJobFinishes": false, "deletionStrategy": {"deletionRules": [
                      {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED", "ttlSeconds": 60}},
                      {"policy": "DeleteCluster", "condition": {"jobStatus": "FAILED", "ttlSeconds": 10}},
                      {"policy": "DeleteWorkers", "condition": {"jobStatus": "FAILED", "ttlSeconds": 10}},
                      {"policy": "DeleteNone", "condition": {"jobStatus": "FAILED", "ttlSeconds": 99}},
                      {"policy": "DeleteSelf", "condition": {"jobDeploymentStatus": "Failed"}}]}})"},
        AcceptedJob{"LegacyPolicies", R"({"deletionStrategy": {"onSuccess": {"policy": "DeleteCluster"},
                                                               "onFailure": {"policy": "DeleteSelf"}}})"},
        AcceptedJob{"RuntimeEnvironment",
                    R"({"runtimeEnvYAML": "pip: [jax]\nenv_vars: {A: b}\n", "metadata": {"a": "b"}})"},
        AcceptedJob{"CommentOnlyEnvironment", R"({"runtimeEnvYAML": "# none\n"})"},
        AcceptedJob{"EntrypointResources",
                    R"({"entrypointResources": "{\"TPU\": 4}", "entrypointNumCpus": 0.5, "entrypointNumGpus": 0})"},
        AcceptedJob{"MultiKueue", R"({"managedBy": "kueue.x-k8s.io/multikueue"})"}),
    [](const auto& test) { return std::string(test.param.name); });

struct RefusedJob {
  const char* name;
  const char* spec;     ///< A merge patch.
  const char* message;  ///< Of the only error.
};
class RefusedRayJob : public ::testing::TestWithParam<RefusedJob> {};

TEST_P(RefusedRayJob, NamesFieldValueAndWhatWouldBeRight) {
  EXPECT_EQ(rayjob_message(patched_rayjob(GetParam().spec)), GetParam().message);
}

// Source: KubeRay's validation of RayJobs, and its CRD.
INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedRayJob,
    ::testing::Values(
        RefusedJob{"NoCluster", R"({"rayClusterSpec": null})",
                   "spec.rayClusterSpec: Required value: or set spec.clusterSelector[ray.io/cluster]"},
        RefusedJob{"UnnamedCluster", R"({"clusterSelector": {"app": "x"}})",
                   "spec.clusterSelector[ray.io/cluster]: Required value: is the name of the RayCluster"},
        RefusedJob{"SuspendedSelector", R"({"suspend": true, "clusterSelector": {"ray.io/cluster": "rc"}})",
                   "spec.suspend: Forbidden: cannot be combined with spec.clusterSelector"},
        RefusedJob{"RetriedSelector", R"({"backoffLimit": 1, "clusterSelector": {"ray.io/cluster": "rc"}})",
                   "spec.backoffLimit: Forbidden: cannot be combined with spec.clusterSelector: a retry needs a new "
                   "cluster"},
        RefusedJob{"SidecarOfASelector",
                   R"({"submissionMode": "SidecarMode", "clusterSelector": {"ray.io/cluster": "rc"}})",
                   "spec.submissionMode: Forbidden: SidecarMode cannot be combined with spec.clusterSelector: the "
                   "submitter is a container of the head pod"},
        RefusedJob{
            "UnknownMode", R"({"submissionMode": "K8SJobMode"})",
            R"(spec.submissionMode: Unsupported value: "K8SJobMode": supported values: "K8sJobMode", "HTTPMode", )"
            R"("InteractiveMode", "SidecarMode")"},
        RefusedJob{
            "RetriedInteractive", R"({"submissionMode": "InteractiveMode", "backoffLimit": 1})",
            "spec.backoffLimit: Forbidden: cannot be combined with spec.submissionMode InteractiveMode: the user "
            "submits the job"},
        RefusedJob{"TemplateOfASidecar", R"({"submissionMode": "SidecarMode", "submitterPodTemplate": {}})",
                   "spec.submitterPodTemplate: Forbidden: cannot be combined with spec.submissionMode SidecarMode"},
        RefusedJob{"RetriesOfASidecar", R"({"submissionMode": "SidecarMode", "submitterConfig": {}})",
                   "spec.submitterConfig: Forbidden: cannot be combined with spec.submissionMode SidecarMode"},
        RefusedJob{"RestartedSidecar", R"({"submissionMode": "SidecarMode", "rayClusterSpec": {"headGroupSpec":
                   {"template": {"spec": {"restartPolicy": "Always"}}}}})",
                   R"(spec.rayClusterSpec.headGroupSpec.template.spec.restartPolicy: Invalid value: "Always": must be )"
                   "Never or unset with spec.submissionMode SidecarMode"},
        RefusedJob{"NoEntrypoint", R"({"entrypoint": ""})",
                   "spec.entrypoint: Required value: is the command that Ray runs"},
        RefusedJob{"NegativeRetries", R"({"backoffLimit": -1})",
                   "spec.backoffLimit: Invalid value: -1: must be between 0 and 2147483647, inclusive"},
        RefusedJob{"NegativeSubmitterRetries", R"({"submitterConfig": {"backoffLimit": -1}})",
                   "spec.submitterConfig.backoffLimit: Invalid value: -1: must be between 0 and 2147483647, inclusive"},
        RefusedJob{"NoActiveTime", R"({"activeDeadlineSeconds": 0})",
                   "spec.activeDeadlineSeconds: Invalid value: 0: must be greater than 0"},
        RefusedJob{"NoTimeBeforeRunning", R"({"preRunningDeadlineSeconds": -5})",
                   "spec.preRunningDeadlineSeconds: Invalid value: -5: must be greater than 0"},
        RefusedJob{"NegativeTtl", R"({"ttlSecondsAfterFinished": -1})",
                   "spec.ttlSecondsAfterFinished: Invalid value: -1: must be between 0 and 2147483647, inclusive"},
        RefusedJob{"TtlWithoutShutdown", R"({"ttlSecondsAfterFinished": 5, "shutdownAfterJobFinishes": null})",
                   "spec.ttlSecondsAfterFinished: Forbidden: requires spec.shutdownAfterJobFinishes: true"},
        RefusedJob{"SuspendWithoutShutdown", R"({"suspend": true, "shutdownAfterJobFinishes": null})",
                   "spec.suspend: Forbidden: requires spec.shutdownAfterJobFinishes: true, or "
                   "spec.deletionStrategy.deletionRules"},
        RefusedJob{"ServiceAccounts", R"({"rayClusterSpec": {"rayVersion": "2.55.0", "authOptions":
                   {"mode": "token", "enableK8sTokenAuth": true}}})",
                   "spec.rayClusterSpec.authOptions.enableK8sTokenAuth: Forbidden: a RayJob authenticates with the "
                   "token of a Secret only: unset it"},
        RefusedJob{"EnvironmentThatIsAList", R"({"runtimeEnvYAML": "- a"})",
                   R"(spec.runtimeEnvYAML: Invalid value: "- a": must be a mapping)"},
        RefusedJob{"ResourcesThatAreNotJson", R"({"entrypointResources": "TPU=4"})",
                   R"(spec.entrypointResources: Invalid value: "TPU=4": must be a JSON object of numbers, such as )"
                   R"({"TPU": 4})"},
        RefusedJob{"NegativeCpus", R"({"entrypointNumCpus": -1})",
                   "spec.entrypointNumCpus: Invalid value: -1: must be a number greater than or equal to 0"},
        RefusedJob{"UnknownManager", R"({"managedBy": "me"})",
                   R"(spec.managedBy: Unsupported value: "me": supported values: "ray.io/kuberay-operator", )"
                   R"("kueue.x-k8s.io/multikueue")"},
        RefusedJob{"WrongNumberOfHosts", R"({"rayClusterSpec": {"workerGroupSpecs": null}, "submissionMode": 1})",
                   R"(spec.submissionMode: Invalid value: 1: must be a string)"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Deletion, RefusedRayJob,
    ::testing::Values(
        RefusedJob{"EmptyStrategy", R"({"deletionStrategy": {}})",
                   "spec.deletionStrategy.deletionRules: Required value: or set onSuccess and onFailure"},
        RefusedJob{"OnePolicyOnly", R"({"deletionStrategy": {"onFailure": {"policy": "DeleteSelf"}}})",
                   "spec.deletionStrategy.onSuccess: Required value: onSuccess and onFailure are set together"},
        RefusedJob{"NoPolicy", R"({"deletionStrategy": {"onFailure": {"policy": "DeleteSelf"}, "onSuccess": {}}})",
                   "spec.deletionStrategy.onSuccess.policy: Required value"},
        RefusedJob{"ShutdownOfNothing", R"({"deletionStrategy": {"onFailure": {"policy": "DeleteSelf"},
                   "onSuccess": {"policy": "DeleteNone"}}})",
                   R"(spec.deletionStrategy.onSuccess.policy: Invalid value: "DeleteNone": cannot be combined with )"
                   "spec.shutdownAfterJobFinishes: true"},
        RefusedJob{"RulesAndShutdown", R"({"deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED"}}]}})",
                   "spec.deletionStrategy.deletionRules: Forbidden: cannot be combined with "
                   "spec.shutdownAfterJobFinishes: true"},
        RefusedJob{"BothForms", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {
                   "onSuccess": {"policy": "DeleteSelf"}, "onFailure": {"policy": "DeleteSelf"},
                   "deletionRules": [{"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED"}}]}})",
                   "spec.deletionStrategy.deletionRules: Forbidden: cannot be combined with onSuccess and onFailure"},
        RefusedJob{"NoCondition", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteSelf", "condition": {"ttlSeconds": 1}}]}})",
                   "spec.deletionStrategy.deletionRules[0].condition: Required value: set jobStatus or "
                   "jobDeploymentStatus"},
        RefusedJob{
            "TwoConditions", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED", "jobDeploymentStatus": "Failed"}}]}})",
            "spec.deletionStrategy.deletionRules[0].condition.jobDeploymentStatus: Forbidden: cannot be combined "
            "with jobStatus"},
        RefusedJob{
            "UnknownPolicy", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteAll", "condition": {"jobStatus": "FAILED"}}]}})",
            R"(spec.deletionStrategy.deletionRules[0].policy: Unsupported value: "DeleteAll": supported values: )"
            R"("DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone")"},
        RefusedJob{"NegativeTtlOfARule", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED", "ttlSeconds": -1}}]}})",
                   "spec.deletionStrategy.deletionRules[0].condition.ttlSeconds: Invalid value: -1: must be "
                   "between 0 and 2147483647, inclusive"},
        RefusedJob{"SameRuleTwice", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED"}},
                   {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED", "ttlSeconds": 5}}]}})",
                   R"(spec.deletionStrategy.deletionRules[1]: Duplicate value: "DeleteSelf for jobStatus FAILED")"},
        RefusedJob{"RulesOutOfOrder", R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": [
                   {"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED", "ttlSeconds": 5}},
                   {"policy": "DeleteWorkers", "condition": {"jobStatus": "FAILED", "ttlSeconds": 6}}]}})",
                   "spec.deletionStrategy.deletionRules[0].condition.ttlSeconds: Invalid value: 5: DeleteSelf may not "
                   "precede DeleteWorkers of the same condition: must be greater than or equal to 6"},
        RefusedJob{"WorkersOfTheAutoscaler", R"({"rayClusterSpec": {"enableInTreeAutoscaling": true},
                   "deletionStrategy": {"onFailure": {"policy": "DeleteSelf"}, "onSuccess": {"policy": "DeleteWorkers"}}})",
                   R"(spec.deletionStrategy.onSuccess.policy: Invalid value: "DeleteWorkers": cannot be combined with )"
                   "spec.rayClusterSpec.enableInTreeAutoscaling"},
        RefusedJob{"SelectedCluster", R"({"shutdownAfterJobFinishes": null, "clusterSelector": {"ray.io/cluster": "rc"},
                   "deletionStrategy": {"deletionRules": [{"policy": "DeleteCluster", "condition": {"jobStatus": "FAILED"}}]}})",
                   R"(spec.deletionStrategy.deletionRules[0].policy: Invalid value: "DeleteCluster": a cluster of )"
                   "spec.clusterSelector is not deleted"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ValidateRayJob, LimitsTheNumberOfRules) {
  Json job = patched_rayjob(R"({"shutdownAfterJobFinishes": null, "deletionStrategy": {"deletionRules": []}})");
  for (int i = 0; i < 13; ++i) job["spec"]["deletionStrategy"]["deletionRules"].push_back(1);
  EXPECT_THAT(rayjob_message(job), HasSubstr("deletionRules: Too many: 13: must have at most 12 items"));
}

TEST(ValidateRayJob, LimitsTheName) {
  EXPECT_EQ(rayjob_message(with(tpu_rayjob(), "/metadata/name", std::string(47, 'a'))), "");
  EXPECT_THAT(rayjob_message(with(tpu_rayjob(), "/metadata/name", std::string(48, 'a'))),
              HasSubstr("must be no more than 47 characters, because names of RayClusters are derived from it"));
  EXPECT_THAT(rayjob_paths(with(tpu_rayjob(), "/metadata/name", "1a")), ElementsAre("metadata.name"));
}

TEST(ValidateRayJob, SaysWhereTheEnvironmentIsNotYaml) {
  EXPECT_THAT(rayjob_message(with(tpu_rayjob(), "/spec/runtimeEnvYAML", "a: [")),
              ::testing::StartsWith(R"(spec.runtimeEnvYAML: Invalid value: "a: [": must be YAML: )"));
}

TEST(ValidateRayJob, LimitsWhatAliasesOfTheEnvironmentExpandTo) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char name = 'b'; name < 'j'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1);
    bomb += fmt::format("{}: &{} [{}, {}, {}, {}]\n", name, name, before, before, before, before);
  }
  EXPECT_THAT(rayjob_message(with(tpu_rayjob(), "/spec/runtimeEnvYAML", bomb)), HasSubstr("must be YAML"));
}

TEST(ValidateRayJob, AppliesTheRulesOfTheClusterAtItsPath) {
  Json job = tpu_rayjob();
  Json& cluster = job["spec"]["rayClusterSpec"];
  cluster["workerGroupSpecs"][0]["numOfHosts"] = 2;
  cluster["upgradeStrategy"]["type"] = "Recreate";
  cluster["autoscalerOptions"]["version"] = "v3";
  cluster["rayVersion"] = "2.50.0";
  cluster["authOptions"]["mode"] = "token";
  cluster["gcsFaultToleranceOptions"]["backend"] = "rocksdb";
  cluster["headGroupSpec"]["rayStartParams"]["redis-password"] = "p";
  EXPECT_THAT(
      rayjob_message(job),
      "[spec.rayClusterSpec.upgradeStrategy.type: Forbidden: unset it: the cluster is upgraded by RayJob train, "
      "spec.rayClusterSpec.rayVersion: Invalid value: \"2.50.0\": spec.rayClusterSpec.authOptions.mode token needs Ray "
      "2.52.0 or later, "
      "spec.rayClusterSpec.headGroupSpec.rayStartParams[redis-password]: Forbidden: use "
      "spec.rayClusterSpec.gcsFaultToleranceOptions.redisPassword instead, "
      "spec.rayClusterSpec.autoscalerOptions.version: Unsupported value: \"v3\": supported values: \"v1\", \"v2\", "
      "spec.rayClusterSpec.workerGroupSpecs[0].numOfHosts: Invalid value: 2: topology 4x4 of tpu-v6e-slice has 16 "
      "chips; with 4 chips per host that is 4 hosts, set numOfHosts: 4]");
  EXPECT_THAT(
      unsupported_rayjob_fields(job),
      ElementsAre(::testing::Field(&UnsupportedField::path, "spec.rayClusterSpec.gcsFaultToleranceOptions.backend")));
  job["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_THAT(unsupported_rayjob_fields(job), IsEmpty());
}

TEST(ValidateRayJob, ReportsAllErrorsAtOnce) {
  EXPECT_THAT(rayjob_paths(patched_rayjob(R"({"submissionMode": "x", "backoffLimit": -1, "runtimeEnvYAML": "a: [",
                                              "suspend": true, "shutdownAfterJobFinishes": false})")),
              ElementsAre("spec.submissionMode", "spec.backoffLimit", "spec.suspend", "spec.runtimeEnvYAML"));
}

TEST(ValidateRayJob, RefusesOnlyErrorsThatAnUpdateAdds) {
  const Json wrong = patched_rayjob(R"({"activeDeadlineSeconds": 0})");
  Json updated = wrong;
  updated["metadata"]["labels"]["a"] = "b";
  EXPECT_THAT(rayjob_paths(updated, &wrong), IsEmpty());
  updated["spec"]["backoffLimit"] = -1;
  EXPECT_THAT(rayjob_paths(updated, &wrong), ElementsAre("spec.backoffLimit"));
}

TEST(ValidateRayJob, KeepsTheManagerAndTheBackendOfTheGcs) {
  Json old = patched_rayjob(R"({"managedBy": "kueue.x-k8s.io/multikueue",
                                "rayClusterSpec": {"gcsFaultToleranceOptions": {"backend": "redis"}}})");
  Json job = with(old, "/spec/managedBy", "ray.io/kuberay-operator");
  job["spec"]["rayClusterSpec"]["gcsFaultToleranceOptions"]["backend"] = "rocksdb";
  EXPECT_THAT(rayjob_paths(job, &old),
              ElementsAre("spec.managedBy", "spec.rayClusterSpec.gcsFaultToleranceOptions.backend"));
}

TEST(WarnRayJob, AboutWhatIsProbablyNotIntended) {
  EXPECT_THAT(warn_rayjob(without(tpu_rayjob(), "/spec", "shutdownAfterJobFinishes"), nullptr),
              ElementsAre(HasSubstr("the RayCluster keeps its TPU slices after the job has ended")));
  EXPECT_THAT(warn_rayjob(patched_rayjob(R"({"clusterSelector": {"ray.io/cluster": "rc"}})"), nullptr),
              ElementsAre("spec.rayClusterSpec: has no effect, as spec.clusterSelector is set"));
  EXPECT_THAT(warn_rayjob(patched_rayjob(R"({"deletionStrategy": {"onSuccess": {"policy": "DeleteCluster"},
                                             "onFailure": {"policy": "DeleteCluster"}}})"),
                          nullptr),
              ElementsAre("spec.deletionStrategy: onSuccess and onFailure are deprecated; use deletionRules"));
  EXPECT_THAT(warn_rayjob(patched_rayjob(R"({"rayClusterSpec": {"authOptions": {}}})"), nullptr),
              ElementsAre(HasSubstr("spec.rayClusterSpec.authOptions.mode: is not set")));
  EXPECT_THAT(warn_rayjob(with(tpu_rayjob(), "/spec/rayClusterSpec/suspend", true), nullptr),
              ElementsAre(HasSubstr("spec.rayClusterSpec.suspend: the job waits until its RayCluster is resumed")));
  EXPECT_THAT(warn_rayjob(with(tpu_rayjob(), "/metadata/labels/ray.io~1gang-scheduling-enabled", "true"), nullptr),
              ElementsAre(HasSubstr("metadata.labels[ray.io/gang-scheduling-enabled]: has no effect")));
}

TEST(WarnRayJob, AboutFieldsOfOtherModes) {
  EXPECT_THAT(warn_rayjob(patched_rayjob(R"({"submissionMode": "HTTPMode", "submitterConfig": {"backoffLimit": 1},
                                             "submitterPodTemplate": {"spec": {"containers": []}}})"),
                          nullptr),
              ElementsAre("spec.submitterPodTemplate: has no effect with spec.submissionMode HTTPMode",
                          "spec.submitterConfig: has no effect with spec.submissionMode HTTPMode"));
  EXPECT_THAT(warn_rayjob(patched_rayjob(R"({"submissionMode": "InteractiveMode"})"), nullptr),
              ElementsAre("spec.entrypoint: has no effect with spec.submissionMode InteractiveMode"));
  EXPECT_THAT(
      warn_rayjob(patched_rayjob(R"({"submitterPodTemplate": {"spec": {"containers":
                                             [{"name": "a", "image": "i", "command": ["run"]}]}}})"),
                  nullptr),
      ElementsAre("spec.entrypoint: has no effect as the container of spec.submitterPodTemplate has a command"));
  EXPECT_THAT(warn_rayjob(patched_rayjob(R"({"rayClusterSpec": null,
                                             "clusterSelector": {"ray.io/cluster": "rc", "team": "a"}})"),
                          nullptr),
              ElementsAre("spec.clusterSelector: only the key ray.io/cluster has an effect"));
}

TEST(WarnRayJob, AboutChangesThatComeTooLate) {
  const Json waiting = tpu_rayjob();
  Json job = waiting;
  job["spec"]["entrypoint"] = "python other.py";
  job["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] = 2;
  EXPECT_THAT(warn_rayjob(job, &waiting), IsEmpty());
  EXPECT_THAT(warn_rayjob(job, nullptr), IsEmpty());
  const Json running = with(waiting, "/status/jobDeploymentStatus", "Running");
  EXPECT_THAT(
      warn_rayjob(job, &running),
      ElementsAre("spec.rayClusterSpec: the change has no effect on the current attempt, only on a retry or "
                  "after a suspension",
                  "spec.entrypoint: the change has no effect on the current attempt, only on a retry or after a "
                  "suspension"));
  const Json failed = with(waiting, "/status/jobDeploymentStatus", "Failed");
  EXPECT_THAT(warn_rayjob(with(waiting, "/spec/runtimeEnvYAML", "a: b"), &failed),
              ElementsAre("spec.runtimeEnvYAML: the change has no effect, the job has ended"));
  const Json suspended = with(waiting, "/status/jobDeploymentStatus", "Suspended");
  EXPECT_THAT(warn_rayjob(job, &suspended), IsEmpty());
  // As Go clients write pod templates.
  Json same = running;
  same["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["metadata"] = {{"creationTimestamp", nullptr}};
  EXPECT_THAT(warn_rayjob(same, &running), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rules
