#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/jobsets.h"

namespace tpuslice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::expect_refused;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::jobset_message;
using testing::jobset_paths;
using testing::JobSetCase;
using testing::tpu_jobset;
using testing::with;
using testing::without;

const std::string kRule = "/spec/failurePolicy/rules/0";
const std::string kDriverSpec = "/spec/replicatedJobs/0/template/spec";

class RefusedJobSetPolicy : public ::testing::TestWithParam<JobSetCase> {};

TEST_P(RefusedJobSetPolicy, IsReportedByPath) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Policies, RefusedJobSetPolicy,
    ::testing::Values(
        JobSetCase{"SuccessTargetThatDoesNotExist", "/spec/successPolicy/targetReplicatedJobs",
                   Json({"slice", "unknown"}), "spec.successPolicy.targetReplicatedJobs[1]",
                   "must be the name of a replicated job"},
        JobSetCase{"FailureTargetThatDoesNotExist", kRule + "/targetReplicatedJobs/0", "unknown",
                   "spec.failurePolicy.rules[0].targetReplicatedJobs[0]", "must be the name of a replicated job"},
        JobSetCase{"RuleNameWithADash", kRule + "/name", "a-b", "spec.failurePolicy.rules[0].name",
                   "start with a letter"},
        JobSetCase{"RuleNameWithADigitFirst", kRule + "/name", "1a", "spec.failurePolicy.rules[0].name",
                   "start with a letter"},
        JobSetCase{"RuleNameWithAColonLast", kRule + "/name", "a:", "spec.failurePolicy.rules[0].name",
                   "start with a letter"},
        JobSetCase{"LongRuleName", kRule + "/name", std::string(129, 'a'), "spec.failurePolicy.rules[0].name",
                   "must be no more than 128 characters, has 129"},
        JobSetCase{"DuplicateRuleName", "/spec/failurePolicy/rules/1",
                   Json({{"name", "preempted"}, {"action", "FailJobSet"}}), "spec.failurePolicy.rules[1].name",
                   "Duplicate value: \"preempted\": spec.failurePolicy.rules[0].name is the same"},
        JobSetCase{"UnterminatedPattern", kRule + "/onJobFailureMessagePatterns/0", "a(b",
                   "spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]", "missing )"},
        JobSetCase{"PatternWithLookbehind", kRule + "/onJobFailureMessagePatterns/0", "(?<=a)b",
                   "spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]",
                   "is not a valid RE2 regular expression"},
        JobSetCase{"PatternWithAByteEscape", kRule + "/onJobFailureMessagePatterns/0", R"(\Qa\\E\C)",
                   "spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]", R"(invalid escape sequence: \C)"},
        JobSetCase{"CoordinatorJobThatDoesNotExist", "/spec/coordinator/replicatedJob", "unknown",
                   "spec.coordinator.replicatedJob", "must be the name of a replicated job"},
        JobSetCase{"CoordinatorJobIndexTooLarge", "/spec/coordinator/jobIndex", 2, "spec.coordinator.jobIndex",
                   "must be between 0 and 1, inclusive: spec.replicatedJobs[1] has 2 replicas"},
        JobSetCase{"NegativeCoordinatorJobIndex", "/spec/coordinator/jobIndex", -1, "spec.coordinator.jobIndex",
                   "must be between 0 and 1, inclusive"},
        JobSetCase{"CoordinatorPodIndexTooLarge", "/spec/coordinator/podIndex", 8, "spec.coordinator.podIndex",
                   "must be between 0 and 7, inclusive: spec.replicatedJobs[1] has 8 pods"},
        JobSetCase{"CoordinatorPodIndexBeyondInt32", "/spec/coordinator/podIndex", 1LL << 40,
                   "spec.coordinator.podIndex", "must be between 0 and 7, inclusive"},
        JobSetCase{"CoordinatorJobWithoutReplicas", "/spec/replicatedJobs/1/replicas", 0, "spec.coordinator.jobIndex",
                   "Invalid value: 0: spec.replicatedJobs[1] has 0 replicas"},
        JobSetCase{"CoordinatorWithALongAddress", "/spec/network/subdomain", std::string(60, 's'),
                   "spec.coordinator.replicatedJob", "is a label value: must be no more than 63"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JobSetFailurePolicy, AcceptsUnusualValidPatterns) {
  for (const char* pattern : {"", R"(\QC:\Cold\E)", R"(\\C)", R"((?P<pod>[a-z]+)\pN{1,3})", "(?i)oom"}) {
    EXPECT_THAT(jobset_message(with(tpu_jobset(), kRule + "/onJobFailureMessagePatterns/0", pattern)), IsEmpty())
        << pattern;
  }
}

TEST(JobSetFailurePolicy, ComparesDefaultNamesOfRules) {
  Json jobset = without(tpu_jobset(), kRule, "name");
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  jobset =
      with(jobset, "/spec/failurePolicy/rules/1", Json({{"name", "failurePolicyRule0"}, {"action", "FailJobSet"}}));
  EXPECT_THAT(jobset_paths(jobset), ElementsAre("spec.failurePolicy.rules[1].name"));
}

TEST(JobSetFailurePolicy, RefusesMoreThan1024JobsIfSingleJobsRestart) {
  for (const char* action : {"RestartJob", "RestartJobAndIgnoreMaxRestarts"}) {
    const Json jobset = with(tpu_jobset(), kRule + "/action", action);
    EXPECT_THAT(jobset_message(with(jobset, "/spec/replicatedJobs/0/replicas", 1024)), IsEmpty());
    EXPECT_THAT(
        jobset_message(with(jobset, "/spec/replicatedJobs/0/replicas", 1025)),
        HasSubstr(
            "spec.replicatedJobs[0].replicas: Invalid value: 1025: must be no more than 1024 if the failure policy"));
  }
  EXPECT_THAT(jobset_message(with(tpu_jobset(), "/spec/replicatedJobs/0/replicas", 1025)), IsEmpty());
}

TEST(JobSetStartupPolicy, CannotBeCombinedWithDependencies) {
  const Json jobset = with(tpu_jobset(), "/spec/startupPolicy/startupPolicyOrder", "InOrder");
  EXPECT_THAT(jobset_message(jobset),
              AllOf(HasSubstr("spec.startupPolicy.startupPolicyOrder"), HasSubstr("spec.replicatedJobs[1].dependsOn")));
  EXPECT_THAT(jobset_message(without(jobset, "/spec/replicatedJobs/1", "dependsOn")), IsEmpty());
  EXPECT_THAT(jobset_message(with(jobset, "/spec/startupPolicy/startupPolicyOrder", "AnyOrder")), IsEmpty());
}

TEST(JobSetCoordinator, MustBeAPodWithAnIndex) {
  const Json jobset = with(tpu_jobset(), "/spec/coordinator/replicatedJob", "driver");
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(jobset_paths(with(jobset, kDriverSpec + "/completionMode", "NonIndexed")),
              ElementsAre("spec.coordinator.replicatedJob"));
  EXPECT_THAT(jobset_paths(without(jobset, kDriverSpec, "completions")),
              ElementsAre("spec.replicatedJobs[0].template.spec.completions"));
}

TEST(JobSetCoordinator, IsCheckedOnUpdatesToo) {
  const Json old = tpu_jobset();
  EXPECT_THAT(jobset_paths(with(old, "/spec/coordinator/podIndex", 7), &old), IsEmpty());
  EXPECT_THAT(jobset_paths(with(old, "/spec/coordinator/podIndex", 8), &old), ElementsAre("spec.coordinator.podIndex"));
}

/// With one claim, "data", that the driver mounts.
Json jobset_with_claim() {
  Json jobset = tpu_jobset();
  jobset["spec"]["volumeClaimPolicies"] = Json::parse(R"([{"templates": [{"metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Ti"}}}}]}])");
  jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
      Json::parse(R"([{"name": "data", "mountPath": "/data"}])");
  return jobset;
}

const std::string kClaims = "/spec/volumeClaimPolicies/0/templates";
constexpr const char* kClaimName = "spec.volumeClaimPolicies[0].templates[0].metadata.name";

TEST(JobSetVolumes, AreAcceptedIfAContainerMountsThem) {
  Json jobset = jobset_with_claim();
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  Json& pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"];
  pod["initContainers"] = pod["containers"];
  pod["containers"][0].erase("volumeMounts");
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  pod.erase("initContainers");
  EXPECT_THAT(jobset_message(jobset), AllOf(HasSubstr(kClaimName), HasSubstr("no container mounts it")));
}

TEST(JobSetVolumes, CannotHaveANamespace) {
  EXPECT_THAT(jobset_paths(with(jobset_with_claim(), kClaims + "/0/metadata/namespace", "other")),
              ElementsAre("spec.volumeClaimPolicies[0].templates[0].metadata.namespace"));
  EXPECT_THAT(jobset_paths(with(jobset_with_claim(), kClaims + "/0/metadata/namespace", "")), IsEmpty());
}

TEST(JobSetVolumes, MustHaveUniqueNames) {
  const Json claim = jobset_with_claim()["spec"]["volumeClaimPolicies"][0]["templates"][0];
  EXPECT_THAT(jobset_paths(with(jobset_with_claim(), kClaims + "/1", claim)),
              ElementsAre("spec.volumeClaimPolicies[0].templates[1].metadata.name"));
  EXPECT_THAT(jobset_paths(with(jobset_with_claim(), "/spec/volumeClaimPolicies/1/templates/0", claim)),
              ElementsAre("spec.volumeClaimPolicies[1].templates[0].metadata.name"));
  EXPECT_THAT(jobset_message(without(jobset_with_claim(), kClaims + "/0", "metadata")),
              HasSubstr(std::string(kClaimName) + ": Required value"));
}

TEST(JobSetVolumes, MustHaveValidClaimNames) {
  const auto named = [](const std::string& name) {
    Json jobset = with(jobset_with_claim(), kClaims + "/0/metadata/name", name);
    return with(jobset, kDriverSpec + "/template/spec/containers/0/volumeMounts/0/name", name);
  };
  EXPECT_THAT(jobset_message(named(std::string(57, 'd'))), IsEmpty());
  EXPECT_THAT(jobset_message(named(std::string(58, 'd'))), HasSubstr("must be no more than 63 characters, has 64"));
  EXPECT_THAT(jobset_message(named("Data")), AllOf(HasSubstr(kClaimName), HasSubstr("RFC 1123 subdomain")));
}

TEST(JobSetVolumes, CannotHaveTheNameOfAVolume) {
  EXPECT_THAT(jobset_paths(with(jobset_with_claim(), kDriverSpec + "/template/spec/volumes/0/name", "data")),
              ElementsAre("spec.replicatedJobs[0].template.spec.template.spec.volumes[0].name"));
}

TEST(JobSetVolumes, AreAtMostFiftyInAPolicy) {
  Json jobset = jobset_with_claim();
  Json& claims = jobset["spec"]["volumeClaimPolicies"][0]["templates"];
  Json& mounts =
      jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"];
  while (claims.size() < 51) {
    claims.push_back({{"metadata", {{"name", fmt::format("d{}", claims.size())}}}});
    mounts.push_back({{"name", claims.back()["metadata"]["name"]}});
  }
  EXPECT_THAT(jobset_paths(jobset), ElementsAre("spec.volumeClaimPolicies[0].templates"));
}

// The API server refuses such Jobs.
TEST(PodFailurePolicy, NeedsPodsThatDoNotRestart) {
  const Json rules = Json::parse(R"({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "NotIn",
                                                                                     "values": [42]}}]})");
  const Json jobset = with(tpu_jobset(), kDriverSpec + "/podFailurePolicy", rules);
  const std::string path = "spec.replicatedJobs[0].template.spec.";
  const std::string rule = "only \"Never\" is supported when " + path + "podFailurePolicy is specified";
  EXPECT_EQ(jobset_message(jobset),
            path + "template.spec.restartPolicy: Invalid value: \"OnFailure\": is the default, " + rule);
  const std::string restart_policy = kDriverSpec + "/template/spec/restartPolicy";
  EXPECT_THAT(jobset_message(with(jobset, restart_policy, "OnFailure")), HasSubstr("\"OnFailure\": " + rule));
  EXPECT_THAT(jobset_message(with(jobset, restart_policy, "Never")), IsEmpty());
  EXPECT_THAT(jobset_paths(with(jobset, restart_policy, "Always")), ElementsAre(path + "template.spec.restartPolicy"));
  EXPECT_THAT(jobset_message(with(jobset, kDriverSpec + "/podFailurePolicy", nullptr)), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::rules
