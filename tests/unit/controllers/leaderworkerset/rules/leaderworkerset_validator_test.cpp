#include "controllers/leaderworkerset/rules/validator.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/leaderworkersets.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plain_set;
using testing::serving_set;
using testing::set_errors;
using testing::with;
using testing::without;

const std::string kGroups = "/spec/leaderWorkerTemplate";
const std::string kRollout = "/spec/rolloutStrategy/rollingUpdateConfiguration";

TEST(ValidateLeaderWorkerSet, AcceptsTheTutorials) {
  EXPECT_THAT(set_errors(plain_set()), IsEmpty());
  EXPECT_THAT(set_errors(serving_set()), IsEmpty());
  EXPECT_THAT(set_errors(testing::disaggregated_set()), IsEmpty());
  EXPECT_THAT(set_errors(testing::uniform_set()), IsEmpty());
}

TEST(ValidateLeaderWorkerSet, AcceptsAbsentAndNullFields) {
  Json set = plain_set();
  set["spec"] = {{"leaderWorkerTemplate", {{"workerTemplate", {{"spec", {{"containers", {{{"name", "a"}}}}}}}}}}};
  EXPECT_THAT(set_errors(set), IsEmpty());
  for (const char* field : {"replicas", "rolloutStrategy", "startupPolicy", "networkConfig"}) {
    set["spec"][field] = nullptr;
  }
  for (const char* field :
       {"size", "maxGroupRestarts", "leaderTemplate", "restartPolicy", "subGroupPolicy", "volumeClaimTemplates"}) {
    set["spec"]["leaderWorkerTemplate"][field] = nullptr;
  }
  EXPECT_THAT(set_errors(set), IsEmpty());
  EXPECT_THAT(set_errors(with(set, kRollout, Json({{"maxSurge", nullptr}, {"maxUnavailable", nullptr}}))), IsEmpty());
  EXPECT_THAT(set_errors(with(set, "/spec/networkConfig", Json::object())), IsEmpty());
  // As typed clients send an absent strategy.
  EXPECT_THAT(set_errors(with(set, "/spec/rolloutStrategy", Json({{"type", ""}}))), IsEmpty());
}

struct LwsCase {
  const char* name;
  std::string pointer;
  Json value;
  const char* message;  ///< Part of the only error.
};
class RefusedLwsField : public ::testing::TestWithParam<LwsCase> {};

TEST_P(RefusedLwsField, IsReportedWithPathValueAndRemedy) {
  const LwsCase& c = GetParam();
  EXPECT_THAT(set_errors(with(plain_set(), c.pointer, c.value)), ElementsAre(HasSubstr(c.message)));
}

std::string lws_case_name(const ::testing::TestParamInfo<LwsCase>& test) { return test.param.name; }

// Source: upstream's webhook.
INSTANTIATE_TEST_SUITE_P(
    Upstream, RefusedLwsField,
    ::testing::Values(
        LwsCase{"NameWithADigitFirst", "/metadata/name", "2cube",
                "metadata.name: Invalid value: \"2cube\": a DNS-1035"},
        LwsCase{"NameWithADot", "/metadata/name", "a.b", "metadata.name: Invalid value: \"a.b\": a DNS-1035"},
        LwsCase{"NoName", "/metadata", Json::object(), "metadata.name: Required value"},
        LwsCase{"NegativeReplicas", "/spec/replicas", -1,
                "spec.replicas: Invalid value: -1: must be between 0 and 10000, inclusive"},
        LwsCase{"TooManyReplicas", "/spec/replicas", 10001, "spec.replicas: Invalid value: 10001: must be"},
        LwsCase{"NoSize", kGroups + "/size", 0,
                "spec.leaderWorkerTemplate.size: Invalid value: 0: must be between 1 and 100000, inclusive"},
        LwsCase{"SizeBeyondInt32", kGroups + "/size", 1LL << 40, "spec.leaderWorkerTemplate.size: Invalid value"},
        LwsCase{"NegativeGroupRestarts", kGroups + "/maxGroupRestarts", -1,
                "spec.leaderWorkerTemplate.maxGroupRestarts: Invalid value: -1: must be between 0 and 2147483647"},
        LwsCase{"GroupRestartsAsAString", kGroups + "/maxGroupRestarts", "1", "maxGroupRestarts: Invalid value: \"1\""},
        LwsCase{"SubgroupsWithoutSize", kGroups + "/subGroupPolicy", Json::object(),
                "subGroupPolicy.subGroupSize: Required value"},
        LwsCase{"EmptySubgroups", kGroups + "/subGroupPolicy/subGroupSize", 0,
                "subGroupPolicy.subGroupSize: Invalid value: 0: must be between 1"},
        LwsCase{"SubgroupsLargerThanTheGroup", kGroups + "/subGroupPolicy/subGroupSize", 3,
                "subGroupSize: Invalid value: 3: must be no more than the group's size, 2"},
        LwsCase{"SubgroupExclusiveWithoutSubgroups", "/metadata/annotations",
                Json({{"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "cloud.google.com/gke-nodepool"}}),
                "metadata.annotations[leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology]: Invalid value: "
                "\"cloud.google.com/gke-nodepool\": requires subgroups"},
        LwsCase{"NegativeUnavailable", kRollout + "/maxUnavailable", -1,
                "maxUnavailable: Invalid value: -1: must be greater than or equal to 0"},
        LwsCase{"MoreUnavailableThanAll", kRollout + "/maxUnavailable", "200%", "from 0% to 100%"},
        LwsCase{"UnavailableWithoutUnit", kRollout + "/maxUnavailable", "2",
                "maxUnavailable: Invalid value: \"2\": must be an integer or percentage (e.g '5%')"},
        LwsCase{"UnavailableBeyondInt32", kRollout + "/maxUnavailable", 1LL << 40, "must be no more than 2147483647"},
        LwsCase{"NegativeSurge", kRollout + "/maxSurge", -1, "rollingUpdateConfiguration.maxSurge: Invalid value: -1"},
        LwsCase{"NegativeSurgePercentage", kRollout + "/maxSurge", "-0%", "maxSurge: Invalid value: \"-0%\""},
        LwsCase{"MoreSurgeThanAll", kRollout + "/maxSurge", "101%", "maxSurge: Invalid value: \"101%\""},
        LwsCase{"HugeSurgePercentage", kRollout + "/maxSurge", std::string(40, '9') + "%", "maxSurge: Invalid value"},
        LwsCase{"FractionalSurge", kRollout + "/maxSurge", 0.5, "maxSurge: Invalid value: 0.5"},
        LwsCase{"NegativePartition", kRollout + "/partition", -1, "partition: Invalid value: -1: must be"},
        LwsCase{
            "NothingMayBeUnavailable", kRollout + "/maxUnavailable", 0,
            "maxUnavailable: Invalid value: 0: may not be 0 when maxSurge is 0: set maxUnavailable to at least 1 or "
            "34%, or maxSurge: 1"},
        LwsCase{"APercentageThatRoundsToZero", kRollout + "/maxUnavailable", "33%",
                "\"33%\": may not be 0 when maxSurge is 0, and is 0 of 3 replicas: set"}),
    lws_case_name);

// Source: upstream's CRD.
INSTANTIATE_TEST_SUITE_P(
    Schema, RefusedLwsField,
    ::testing::Values(
        LwsCase{"NoTemplates", "/spec/leaderWorkerTemplate", nullptr, "spec.leaderWorkerTemplate: Required value"},
        LwsCase{"NoWorkerTemplate", kGroups + "/workerTemplate", nullptr, "workerTemplate: Required value"},
        LwsCase{"NoContainerList", kGroups + "/workerTemplate/spec/containers", nullptr,
                "workerTemplate.spec.containers: Required value"},
        LwsCase{"NoLeaderContainerList", kGroups + "/leaderTemplate/spec", Json::object(),
                "leaderTemplate.spec.containers: Required value"},
        LwsCase{"ContainerWithoutName", kGroups + "/workerTemplate/spec/containers/0/name", nullptr,
                "workerTemplate.spec.containers[0].name: Required value"},
        LwsCase{"LeaderTemplateOfAnotherType", kGroups + "/leaderTemplate", 1, "leaderTemplate: Invalid value: 1"},
        LwsCase{"RestartPolicy", kGroups + "/restartPolicy", "Always",
                "restartPolicy: Unsupported value: \"Always\": supported values: \"RecreateGroupOnPodRestart\", "},
        LwsCase{"SubgroupPolicyType", kGroups + "/subGroupPolicy",
                Json({{"subGroupSize", 1}, {"subGroupPolicyType", "Leader"}}),
                "subGroupPolicyType: Unsupported value: \"Leader\""},
        LwsCase{"StartupPolicy", "/spec/startupPolicy", "Eager",
                "supported values: \"LeaderCreated\", \"LeaderReady\""},
        LwsCase{"RolloutType", "/spec/rolloutStrategy/type", "OnDelete",
                "rolloutStrategy.type: Unsupported value: \"OnDelete\": supported values: \"RollingUpdate\""},
        LwsCase{"SubdomainPolicy", "/spec/networkConfig/subdomainPolicy", "Own",
                "supported values: \"Shared\", \"UniquePerReplica\""},
        LwsCase{"NetworkConfigOfAnotherType", "/spec/networkConfig", "Shared", "spec.networkConfig: Invalid value"},
        LwsCase{"VolumeClaimTemplates", kGroups + "/volumeClaimTemplates", Json::object(), "must be a list"}),
    lws_case_name);

// Source: Kubernetes' validation of StatefulSets and pods.
INSTANTIATE_TEST_SUITE_P(
    Kubernetes, RefusedLwsField,
    ::testing::Values(
        LwsCase{"NoContainers", kGroups + "/workerTemplate/spec/containers", Json::array(),
                "workerTemplate.spec.containers: Required value: a pod must have at least one"},
        LwsCase{"NoPodSpec", kGroups + "/workerTemplate", Json::object(), "workerTemplate.spec.containers: Required"},
        LwsCase{"NoLeaderContainers", kGroups + "/leaderTemplate/spec/containers", Json::array(),
                "leaderTemplate.spec.containers: Required value"},
        LwsCase{"PodRestartPolicy", kGroups + "/workerTemplate/spec/restartPolicy", "Never",
                "workerTemplate.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""},
        LwsCase{"PodsWithADeadline", kGroups + "/workerTemplate/spec/activeDeadlineSeconds", 60,
                "workerTemplate.spec.activeDeadlineSeconds: Forbidden"},
        LwsCase{"ClaimRetention", kGroups + "/persistentVolumeClaimRetentionPolicy/whenScaled", "Keep",
                "whenScaled: Unsupported value: \"Keep\": supported values: \"Retain\", \"Delete\""},
        LwsCase{"InvalidExclusiveTopology", "/metadata/annotations",
                Json({{"leaderworkerset.sigs.k8s.io/exclusive-topology", "node pool"}}),
                "metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: Invalid value: \"node pool\""}),
    lws_case_name);

// Source: upstream's integration tests accept them.
TEST(ValidateLeaderWorkerSet, AcceptsWhatUpstreamAccepts) {
  for (const Json& rollout :
       {Json({{"maxUnavailable", 10}}), Json({{"maxSurge", 10}}), Json({{"maxUnavailable", 0}, {"maxSurge", 1}}),
        Json({{"maxUnavailable", "34%"}}), Json({{"maxUnavailable", "0%"}, {"maxSurge", "1%"}}),
        Json({{"partition", 0}}), Json({{"partition", 3}}), Json({{"partition", 10}}),
        Json({{"maxUnavailable", "007%"}, {"maxSurge", 1}})}) {
    EXPECT_THAT(set_errors(with(plain_set(), kRollout, rollout)), IsEmpty()) << rollout;
  }
  Json none = with(plain_set(), "/spec/replicas", 0);
  EXPECT_THAT(set_errors(with(none, kRollout, Json({{"maxUnavailable", "25%"}, {"maxSurge", 0}}))), IsEmpty());
  for (const char* policy : {"Default", "None", "RecreateGroupAfterStart", "RecreateGroupOnPodRestart"}) {
    EXPECT_THAT(set_errors(with(plain_set(), kGroups + "/restartPolicy", policy)), IsEmpty()) << policy;
  }
}

TEST(ValidateLeaderWorkerSet, RefusesALimitOfRestartsThatIsNotMeant) {
  const Json set = with(plain_set(), kGroups + "/maxGroupRestarts", 2);
  const std::string annotation = "/metadata/annotations/tpuslice.dev~1max-group-restarts";
  EXPECT_THAT(set_errors(set), IsEmpty());
  EXPECT_THAT(set_errors(with(set, annotation, "2")), IsEmpty());
  EXPECT_THAT(
      set_errors(with(set, annotation, "3")),
      ElementsAre(HasSubstr("maxGroupRestarts: Invalid value: 2: the annotation tpuslice.dev/max-group-restarts "
                            "is \"3\": remove one of them, or make them equal")));
  EXPECT_THAT(set_errors(with(set, annotation, "none")), ::testing::SizeIs(1));
  EXPECT_THAT(set_errors(with(set, kGroups + "/restartPolicy", "RecreateGroupAfterStart")), IsEmpty());
  for (const char* policy : {"None", "Default"}) {
    EXPECT_THAT(set_errors(with(set, kGroups + "/restartPolicy", policy)),
                ElementsAre(HasSubstr("maxGroupRestarts: Invalid value: 2: groups are not restarted")));
  }
}

TEST(ValidateLeaderWorkerSet, NamesSizesThatSubgroupsDivide) {
  Json set = with(plain_set(), kGroups + "/size", 9);
  for (const int subgroup : {1, 2, 3, 4, 8, 9}) {
    EXPECT_THAT(set_errors(with(set, kGroups + "/subGroupPolicy/subGroupSize", subgroup)), IsEmpty()) << subgroup;
  }
  EXPECT_THAT(set_errors(with(set, kGroups + "/subGroupPolicy/subGroupSize", 5)),
              ElementsAre(HasSubstr("subGroupSize: Invalid value: 5: must divide the group's size, 9, or its number of "
                                    "workers: set size: 6, 10 or 11")));
  for (const int size : {6, 10, 11}) {
    EXPECT_THAT(set_errors(with(with(set, kGroups + "/size", size), kGroups + "/subGroupPolicy/subGroupSize", 5)),
                IsEmpty());
  }
}

TEST(ValidateLeaderWorkerSet, DividesOnlyTheWorkersIfTheLeaderIsExcluded) {
  const Json policy = {{"subGroupSize", 2}, {"subGroupPolicyType", "LeaderExcluded"}};
  const Json set = with(plain_set(), kGroups + "/subGroupPolicy", policy);
  EXPECT_THAT(set_errors(with(set, kGroups + "/size", 5)), IsEmpty());
  EXPECT_THAT(
      set_errors(with(set, kGroups + "/size", 4)),
      ElementsAre(HasSubstr("must divide the 3 workers of a group whose leader is excluded: set size: 3 or 5")));
}

TEST(ValidateLeaderWorkerSet, NeedsNoWorkerContainersInGroupsOfOne) {
  Json set =
      with(plain_set(), kGroups + "/leaderTemplate", plain_set()["spec"]["leaderWorkerTemplate"]["workerTemplate"]);
  set = with(set, kGroups + "/workerTemplate", Json::object());
  EXPECT_THAT(set_errors(set), ElementsAre(HasSubstr("workerTemplate.spec.containers: Required value")));
  EXPECT_THAT(set_errors(with(set, kGroups + "/size", 1)), IsEmpty());
}

/// Errors of `set` with a name of that length.
std::vector<std::string> name_errors(std::size_t characters, Json set) {
  return set_errors(with(std::move(set), "/metadata/name", std::string(characters, 'a')));
}

TEST(ValidateLeaderWorkerSet, LeavesRoomInNamesForGroupAndRevision) {
  Json set = plain_set();
  EXPECT_THAT(name_errors(50, set), IsEmpty());
  EXPECT_THAT(
      name_errors(51, set),
      ElementsAre(HasSubstr(": must be no more than 50 characters: pods have the label controller-revision-hash: "
                            "<name>-<group, 1 digit>-<10 characters> of no more than 63")));
  set["spec"]["replicas"] = 10;
  EXPECT_THAT(name_errors(50, set), IsEmpty());
  set["spec"]["replicas"] = 11;
  EXPECT_THAT(name_errors(50, set), ElementsAre(HasSubstr("no more than 49 characters")));
  EXPECT_THAT(name_errors(49, set), IsEmpty());
  set["spec"]["leaderWorkerTemplate"]["size"] = 1;
  EXPECT_THAT(name_errors(52, set), IsEmpty());
  EXPECT_THAT(name_errors(53, set), ElementsAre(HasSubstr("no more than 52 characters")));
  set["spec"]["replicas"] = 0;
  EXPECT_THAT(name_errors(52, set), IsEmpty());
}

TEST(ValidateLeaderWorkerSet, CountsSurgeGroupsInNames) {
  Json set = with(plain_set(), "/spec/replicas", 10);
  EXPECT_THAT(name_errors(50, with(set, kRollout + "/maxSurge", "1%")),
              ElementsAre(HasSubstr("no more than 49 characters")));
  set = with(plain_set(), "/spec/replicas", 5);  // Surges to twice its size at most.
  EXPECT_THAT(name_errors(50, with(set, kRollout + "/maxSurge", 100)), IsEmpty());
}

TEST(ValidateLeaderWorkerSet, ReportsTheLengthOfInvalidNamesToo) {
  EXPECT_THAT(name_errors(64, plain_set()),
              ElementsAre(HasSubstr("no more than 63"), HasSubstr("no more than 50 characters")));
}

TEST(ValidateLeaderWorkerSet, LeavesRoomInGeneratedNames) {
  Json set = without(plain_set(), "/metadata", "name");
  EXPECT_THAT(set_errors(with(set, "/metadata/generateName", "run-")), IsEmpty());
  EXPECT_THAT(set_errors(with(set, "/metadata/generateName", "Run-")),
              ElementsAre(HasSubstr("metadata.generateName: Invalid value: \"Run-\": a DNS-1035")));
  EXPECT_THAT(set_errors(with(set, "/metadata/generateName", std::string(45, 'a'))), IsEmpty());
  EXPECT_THAT(set_errors(with(set, "/metadata/generateName", std::string(46, 'a'))),
              ElementsAre(HasSubstr("must be no more than 45 characters")));
}

TEST(ValidateLeaderWorkerSet, ReportsAllErrorsAtOnce) {
  Json set = with(serving_set(), "/metadata/name", "a.b");
  set["spec"]["replicas"] = -1;
  set["spec"]["startupPolicy"] = "x";
  set = with(set, kRollout, Json({{"maxSurge", "x"}, {"partition", -1}}));
  set["spec"]["leaderWorkerTemplate"]["size"] = 4;
  EXPECT_THAT(set_errors(set),
              ElementsAre(HasSubstr("metadata.name"), HasSubstr("spec.startupPolicy"), HasSubstr("spec.replicas"),
                          HasSubstr("maxSurge"), HasSubstr("partition"), HasSubstr("set size: 5")));
}

TEST(ValidateLeaderWorkerSet, NamesTheSourceOfEachRule) {
  Json set = with(serving_set(), "/spec/replicas", -1);
  set["metadata"]["name"] = std::string(60, 'a');
  set["spec"]["leaderWorkerTemplate"]["size"] = 4;
  std::vector<std::string> rules;
  for (const FieldError& error : validate_leaderworkerset(set, nullptr)) rules.push_back(error.rule);
  EXPECT_THAT(rules, ElementsAre(kKubernetesRule, kLeaderWorkerSetRule, kGkeRule));
}

/// JSON pointers to all values in `json`, except the root.
std::set<std::string> pointers_in(const Json& json) {
  std::set<std::string> pointers;
  const Json flat = json.flatten();
  for (const auto& leaf : flat.items()) {
    for (auto at = Json::json_pointer(leaf.key()); !at.empty(); at = at.parent_pointer())
      pointers.insert(at.to_string());
  }
  return pointers;
}

TEST(ValidateLeaderWorkerSet, DoesNotThrowOnMalformedObjects) {
  for (const Json& json : {Json(), Json(1), Json("x"), Json::array({1}), Json({{"spec", 1}})}) {
    EXPECT_THAT(set_errors(json), ElementsAre(HasSubstr("metadata.name"), HasSubstr("spec")));
    EXPECT_THAT(warn_leaderworkerset(json, &json), IsEmpty());
  }
  Json whole = testing::disaggregated_set();
  whole = with(whole, kRollout, Json({{"maxSurge", 1}, {"maxUnavailable", "10%"}, {"partition", 1}}));
  whole = with(whole, kGroups + "/persistentVolumeClaimRetentionPolicy/whenDeleted", "Retain");
  whole = with(whole, kGroups + "/volumeClaimTemplates", Json::array({Json({{"metadata", {{"name", "data"}}}})}));
  whole = with(whole, kGroups + "/leaderTemplate/spec/containers/0/resources/limits/google.com~1tpu", "4");
  const std::vector<Json> junk = {nullptr,
                                  -1,
                                  0,
                                  std::uint64_t{1} << 63U,
                                  0.5,
                                  "",
                                  "\xff",
                                  true,
                                  Json::array(),
                                  Json::array({nullptr, 1}),
                                  Json::object(),
                                  Json({{"a", 1}})};
  for (const std::string& pointer : pointers_in(whole)) {
    for (const Json& value : junk) {
      const Json malformed = with(whole, pointer, value);
      EXPECT_NO_THROW(set_errors(malformed)) << pointer;
      EXPECT_NO_THROW(set_errors(malformed, &whole)) << pointer;
      EXPECT_NO_THROW(set_errors(whole, &malformed)) << pointer;
      EXPECT_NO_THROW(warn_leaderworkerset(malformed, &whole)) << pointer;
    }
  }
}

}  // namespace
}  // namespace tpuslice::rules
