#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/jobsets.h"

namespace tpuslice::rules {
namespace {

using testing::expect_refused;
using ::testing::HasSubstr;
using testing::jobset_message;
using testing::JobSetCase;
using testing::tpu_jobset;
using testing::with;

const std::string kJobList = "/spec/replicatedJobs";
const std::string kFirstJob = "/spec/replicatedJobs/0";
const std::string kSecondJob = "/spec/replicatedJobs/1";

class RefusedJobSetShape : public ::testing::TestWithParam<JobSetCase> {};

TEST_P(RefusedJobSetShape, IsReportedByPath) { expect_refused(GetParam()); }

// Source: JobSet's CRD.
INSTANTIATE_TEST_SUITE_P(
    Schema, RefusedJobSetShape,
    ::testing::Values(JobSetCase{"SpecOfAnotherType", "/spec", 1, "spec", "must be an object"},
                      JobSetCase{"NullAsAnElement", "/spec/successPolicy/targetReplicatedJobs/0", nullptr,
                                 "spec.successPolicy.targetReplicatedJobs[0]", "must be a string"},
                      JobSetCase{"NoName", kJobList + "/2", Json({{"template", Json::object()}}),
                                 "spec.replicatedJobs[2].name", "Required value"},
                      JobSetCase{"NegativeReplicas", kFirstJob + "/replicas", -1, "spec.replicatedJobs[0].replicas",
                                 "must be between 0 and 2147483647, inclusive"},
                      JobSetCase{"FractionalReplicas", kFirstJob + "/replicas", 1.5, "spec.replicatedJobs[0].replicas",
                                 "must be an integer between 0 and 2147483647"},
                      JobSetCase{"ReplicasBeyondInt32", kFirstJob + "/replicas", 1LL << 31,
                                 "spec.replicatedJobs[0].replicas", "must be between 0 and 2147483647, inclusive"},
                      JobSetCase{"ReplicasAsAString", kFirstJob + "/replicas", "1", "spec.replicatedJobs[0].replicas",
                                 "must be an integer between 0 and 2147483647"},
                      JobSetCase{"NegativeParallelism", kFirstJob + "/template/spec/parallelism", -1,
                                 "spec.replicatedJobs[0].template.spec.parallelism", "between 0 and"},
                      JobSetCase{"NegativeCompletions", kFirstJob + "/template/spec/completions", -1,
                                 "spec.replicatedJobs[0].template.spec.completions", "between 0 and"},
                      JobSetCase{"NegativeBackoff", kFirstJob + "/template/spec/backoffLimit", -1,
                                 "spec.replicatedJobs[0].template.spec.backoffLimit", "between 0 and"},
                      JobSetCase{"UnknownCompletionMode", kFirstJob + "/template/spec/completionMode", "Ordered",
                                 "spec.replicatedJobs[0].template.spec.completionMode",
                                 "supported values: \"Indexed\", \"NonIndexed\""},
                      JobSetCase{"PodsThatRestartAlways", kFirstJob + "/template/spec/template/spec/restartPolicy",
                                 "Always", "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy",
                                 "supported values: \"OnFailure\", \"Never\""},
                      JobSetCase{"NoJobTemplate", kFirstJob + "/template", nullptr, "spec.replicatedJobs[0].template",
                                 "Required value"},
                      JobSetCase{"NoPodTemplate", kFirstJob + "/template/spec/template", nullptr,
                                 "spec.replicatedJobs[0].template.spec.template", "Required value"},
                      JobSetCase{"NoContainers", kFirstJob + "/template/spec/template/spec/containers", nullptr,
                                 "spec.replicatedJobs[0].template.spec.template.spec.containers", "Required value"},
                      JobSetCase{"NoDependencyName", kSecondJob + "/dependsOn/0/name", nullptr,
                                 "spec.replicatedJobs[1].dependsOn[0].name", "Required value"},
                      JobSetCase{"UnknownDependencyStatus", kSecondJob + "/dependsOn/0/status", "Started",
                                 "spec.replicatedJobs[1].dependsOn[0].status",
                                 "supported values: \"Ready\", \"Complete\""},
                      JobSetCase{"NoDependencyStatus", kSecondJob + "/dependsOn/0/status", nullptr,
                                 "spec.replicatedJobs[1].dependsOn[0].status", "Required value"},
                      JobSetCase{"HostnamesAsAString", "/spec/network/enableDNSHostnames", "yes",
                                 "spec.network.enableDNSHostnames", "must be true or false"},
                      JobSetCase{"NotReadyAddressesAsANumber", "/spec/network/publishNotReadyAddresses", 1,
                                 "spec.network.publishNotReadyAddresses", "must be true or false"},
                      JobSetCase{"NoSuccessOperator", "/spec/successPolicy/operator", nullptr,
                                 "spec.successPolicy.operator", "Required value"},
                      JobSetCase{"UnknownSuccessOperator", "/spec/successPolicy/operator", "Most",
                                 "spec.successPolicy.operator", "supported values: \"All\", \"Any\""},
                      JobSetCase{"RestartsAsAString", "/spec/failurePolicy/maxRestarts", "3",
                                 "spec.failurePolicy.maxRestarts", "between -2147483648 and 2147483647"},
                      JobSetCase{"UnknownStrategy", "/spec/failurePolicy/restartStrategy", "Rolling",
                                 "spec.failurePolicy.restartStrategy",
                                 "supported values: \"Recreate\", \"BlockingRecreate\", \"InPlaceRestart\""},
                      JobSetCase{"NoAction", "/spec/failurePolicy/rules/0/action", nullptr,
                                 "spec.failurePolicy.rules[0].action", "Required value"},
                      JobSetCase{"UnknownAction", "/spec/failurePolicy/rules/0/action", "Ignore",
                                 "spec.failurePolicy.rules[0].action", "supported values: \"FailJobSet\", "},
                      JobSetCase{"UnknownReason", "/spec/failurePolicy/rules/0/onJobFailureReasons/0", "Bored",
                                 "spec.failurePolicy.rules[0].onJobFailureReasons[0]",
                                 "supported values: \"BackoffLimitExceeded\", "},
                      JobSetCase{"NoStartupOrder", "/spec/startupPolicy", Json::object(),
                                 "spec.startupPolicy.startupPolicyOrder", "Required value"},
                      JobSetCase{"UnknownStartupOrder", "/spec/startupPolicy/startupPolicyOrder", "Backwards",
                                 "spec.startupPolicy.startupPolicyOrder",
                                 "supported values: \"AnyOrder\", \"InOrder\""},
                      JobSetCase{"SuspendAsAString", "/spec/suspend", "true", "spec.suspend", "must be true or false"},
                      JobSetCase{"NoCoordinatorJob", "/spec/coordinator", Json::object(),
                                 "spec.coordinator.replicatedJob", "Required value"},
                      JobSetCase{"CoordinatorIndexAsAString", "/spec/coordinator/jobIndex", "0",
                                 "spec.coordinator.jobIndex", "must be an integer"},
                      JobSetCase{"ManagerAsANumber", "/spec/managedBy", 1, "spec.managedBy", "must be a string"},
                      JobSetCase{"NoActiveDeadline", "/spec/activeDeadlineSeconds", 0, "spec.activeDeadlineSeconds",
                                 "must be greater than or equal to 1"},
                      JobSetCase{"ActiveDeadlineAsText", "/spec/activeDeadlineSeconds", "1h",
                                 "spec.activeDeadlineSeconds", "must be an integer"},
                      JobSetCase{"NegativeTimeToLive", "/spec/ttlSecondsAfterFinished", -1,
                                 "spec.ttlSecondsAfterFinished", "between 0 and"},
                      JobSetCase{"ManyVolumePolicies", "/spec/volumeClaimPolicies", Json(51, Json::object()),
                                 "spec.volumeClaimPolicies", "Too many: 51: must have at most 50 items"},
                      JobSetCase{"UnknownRetention", "/spec/volumeClaimPolicies/0/retentionPolicy/whenDeleted",
                                 "Archive", "spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted",
                                 "supported values: \"Delete\", \"Retain\""}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JobSetSchema, RefusesFieldsOfAnotherType) {
  Json jobset = tpu_jobset();
  jobset["spec"]["volumeClaimPolicies"] = Json::parse(R"([{"templates": [{"metadata": {}, "spec": {}}]}])");
  for (const char* pointer : {"/spec/replicatedJobs",
                              "/spec/replicatedJobs/0",
                              "/spec/replicatedJobs/0/name",
                              "/spec/replicatedJobs/0/groupName",
                              "/spec/replicatedJobs/1/dependsOn",
                              "/spec/replicatedJobs/1/dependsOn/0",
                              "/spec/replicatedJobs/1/dependsOn/0/name",
                              "/spec/replicatedJobs/1/dependsOn/0/status",
                              "/spec/replicatedJobs/0/template",
                              "/spec/replicatedJobs/0/template/metadata",
                              "/spec/replicatedJobs/0/template/spec",
                              "/spec/replicatedJobs/0/template/spec/parallelism",
                              "/spec/replicatedJobs/0/template/spec/completions",
                              "/spec/replicatedJobs/0/template/spec/completionMode",
                              "/spec/replicatedJobs/0/template/spec/backoffLimit",
                              "/spec/replicatedJobs/0/template/spec/template",
                              "/spec/replicatedJobs/0/template/spec/template/metadata",
                              "/spec/replicatedJobs/0/template/spec/template/spec",
                              "/spec/replicatedJobs/0/template/spec/template/spec/containers",
                              "/spec/network",
                              "/spec/network/subdomain",
                              "/spec/successPolicy",
                              "/spec/successPolicy/operator",
                              "/spec/successPolicy/targetReplicatedJobs",
                              "/spec/successPolicy/targetReplicatedJobs/0",
                              "/spec/failurePolicy",
                              "/spec/failurePolicy/maxRestarts",
                              "/spec/failurePolicy/restartStrategy",
                              "/spec/failurePolicy/rules",
                              "/spec/failurePolicy/rules/0",
                              "/spec/failurePolicy/rules/0/name",
                              "/spec/failurePolicy/rules/0/action",
                              "/spec/failurePolicy/rules/0/onJobFailureReasons",
                              "/spec/failurePolicy/rules/0/onJobFailureReasons/0",
                              "/spec/failurePolicy/rules/0/onJobFailureMessagePatterns",
                              "/spec/failurePolicy/rules/0/onJobFailureMessagePatterns/0",
                              "/spec/failurePolicy/rules/0/targetReplicatedJobs",
                              "/spec/failurePolicy/rules/0/targetReplicatedJobs/0",
                              "/spec/startupPolicy",
                              "/spec/coordinator",
                              "/spec/coordinator/replicatedJob",
                              "/spec/coordinator/jobIndex",
                              "/spec/coordinator/podIndex",
                              "/spec/managedBy",
                              "/spec/ttlSecondsAfterFinished",
                              "/spec/volumeClaimPolicies",
                              "/spec/volumeClaimPolicies/0",
                              "/spec/volumeClaimPolicies/0/templates",
                              "/spec/volumeClaimPolicies/0/templates/0",
                              "/spec/volumeClaimPolicies/0/templates/0/metadata",
                              "/spec/volumeClaimPolicies/0/templates/0/spec",
                              "/spec/volumeClaimPolicies/0/retentionPolicy"}) {
    const std::string path = std::regex_replace(
        std::regex_replace(std::string(pointer + 1), std::regex("/([0-9]+)"), "[$1]"), std::regex("/"), ".");
    EXPECT_THAT(jobset_message(with(jobset, pointer, true)), HasSubstr(path + ": Invalid value: true: must be a"));
  }
}

}  // namespace
}  // namespace tpuslice::rules
