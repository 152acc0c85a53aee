#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/disaggregatedset/rules/validator.h"
#include "tests/support/disaggregatedset/world.h"

namespace tpuslice::disaggregatedset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> errors_of(const Json& set, const Json* old = nullptr) {
  std::vector<std::string> out;
  for (const rules::FieldError& error : rules::validate_disaggregatedset(set, old)) out.push_back(error.to_string());
  return out;
}

/// The errors after a change by JSON pointer.
std::vector<std::string> errors_after(const char* pointer, Json value) {
  Json set = a_set();
  set[Json::json_pointer(pointer)] = std::move(value);
  return errors_of(set);
}

TEST(DisaggregatedSetValidator, AcceptsAValidSet) { EXPECT_THAT(errors_of(a_set()), IsEmpty()); }

TEST(DisaggregatedSetValidator, RequiresTwoRoles) {
  Json set = a_set();
  set["spec"]["roles"].erase(1);
  EXPECT_THAT(errors_of(set), ElementsAre(HasSubstr("spec.roles: Invalid value: 1: must have at least 2 roles")));
  set["spec"].erase("roles");
  EXPECT_THAT(errors_of(set), ElementsAre(HasSubstr("spec.roles: Required value")));
}

TEST(DisaggregatedSetValidator, AcceptsNoMoreThanTenRoles) {
  Json set = a_set();
  for (int i = 0; i < 9; ++i) {
    Json role = set["spec"]["roles"][0];
    role["name"] = "role-" + std::to_string(i);
    set["spec"]["roles"].push_back(role);
  }
  EXPECT_THAT(errors_of(set), ElementsAre(HasSubstr("spec.roles: Too many: 11: must have at most 10 items")));
}

TEST(DisaggregatedSetValidator, NamesOfRolesAreLabelsAndDifferent) {
  EXPECT_THAT(errors_after("/spec/roles/1/name", "prefill"),
              ElementsAre(HasSubstr("spec.roles[1].name: Duplicate value: \"prefill\"")));
  EXPECT_THAT(errors_after("/spec/roles/1/name", "De_code"),
              ElementsAre(HasSubstr("spec.roles[1].name: Invalid value: \"De_code\"")));
  EXPECT_THAT(errors_after("/spec/roles/1/name", nullptr), ElementsAre(HasSubstr("spec.roles[1].name: Required")));
}

TEST(DisaggregatedSetValidator, NamesOfTheLeaderWorkerSetsFitIntoLabels) {
  const std::string name(40, 'a');
  EXPECT_THAT(errors_after("/spec/roles/1/name", name),
              ElementsAre(testing::AllOf(HasSubstr("spec.roles[1].name: Invalid value: \"" + name + "\""),
                                         HasSubstr("the LeaderWorkerSet would be \"llm-0-00000000-" + name),
                                         HasSubstr("must be no more than 52 characters"))));
}

TEST(DisaggregatedSetValidator, ChecksTheRolesAsLeaderWorkerSets) {
  EXPECT_THAT(errors_after("/spec/roles/1/spec/leaderWorkerTemplate/size", 0),
              ElementsAre(HasSubstr("spec.roles[1].spec.leaderWorkerTemplate.size: Invalid value: 0")));
  EXPECT_THAT(errors_after("/spec/roles/0/spec/startupPolicy", "Soon"),
              ElementsAre(HasSubstr("spec.roles[0].spec.startupPolicy: Unsupported value: \"Soon\"")));
  EXPECT_THAT(errors_after("/spec/roles/0/spec", nullptr),
              testing::Contains(HasSubstr("spec.roles[0].spec: Required")));
  EXPECT_THAT(
      errors_after("/spec/roles/0/metadata",
                   {{"annotations", {{"leaderworkerset.sigs.k8s.io/exclusive-topology", "-"}}}}),
      ElementsAre(HasSubstr("spec.roles[0].metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]")));
}

TEST(DisaggregatedSetValidator, AGroupWithTpusIsAWholeSlice) {
  Json set = a_set();
  Json& groups = set["spec"]["roles"][1]["spec"]["leaderWorkerTemplate"];
  groups["size"] = 3;
  Json& pods = groups["workerTemplate"]["spec"];
  pods["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"},
                          {"cloud.google.com/gke-tpu-topology", "4x4"}};
  pods["containers"][0]["resources"] = {{"limits", {{"google.com/tpu", "4"}}}};
  EXPECT_THAT(errors_of(set),
              ElementsAre(testing::AllOf(HasSubstr("spec.roles[1].spec.leaderWorkerTemplate.size: Invalid value: 3"),
                                         HasSubstr("4"))));
  groups["size"] = 4;
  EXPECT_THAT(errors_of(set), IsEmpty());
}

TEST(DisaggregatedSetValidator, RolloutsOfTheRolesAreOne) {
  const char* path = "/spec/roles/0/spec/rolloutStrategy";
  EXPECT_THAT(
      errors_after(path, {{"type", "RollingUpdate"}, {"rollingUpdateConfiguration", {{"partition", 1}}}}),
      ElementsAre(HasSubstr("spec.roles[0].spec.rolloutStrategy.rollingUpdateConfiguration.partition: Forbidden")));
  EXPECT_THAT(errors_after(path, {{"type", "RollingUpdate"}, {"rollingUpdateConfiguration", {{"partition", 0}}}}),
              IsEmpty());
  EXPECT_THAT(errors_after(path, {{"type", "OnDelete"}}),
              ElementsAre(HasSubstr("spec.roles[0].spec.rolloutStrategy.type: Unsupported value: \"OnDelete\"")));
  EXPECT_THAT(
      errors_after(path, {{"rollingUpdateConfiguration", {{"maxSurge", 0}, {"maxUnavailable", 0}}}}),
      ElementsAre(HasSubstr("spec.roles[0].spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable: Invalid")));
}

TEST(DisaggregatedSetValidator, StaticRolesHaveReplicasOrNoneOfThem) {
  EXPECT_THAT(errors_after("/spec/roles/1/spec/replicas", 0),
              ElementsAre(HasSubstr("spec.roles[1].spec.replicas: Invalid value: 0: replicas must be zero for all")));
  Json set = a_set({{"prefill", 0}, {"decode", 0}});
  EXPECT_THAT(errors_of(set), IsEmpty());
  set = a_set({{"prefill", 2}, {"decode", 0, true}});
  EXPECT_THAT(errors_of(set), IsEmpty()) << "those of an External role are its scaler's";
}

TEST(DisaggregatedSetValidator, SlicesAreFromOneToAHundred) {
  for (const int slices : {0, -1, 101}) {
    EXPECT_THAT(errors_after("/spec/slices", slices), ElementsAre(HasSubstr("spec.slices: Invalid value: ")));
  }
  EXPECT_THAT(errors_after("/spec/slices", "two"), ElementsAre(HasSubstr("spec.slices: Invalid value: \"two\"")));
  EXPECT_THAT(errors_after("/spec/slices", 100), IsEmpty());
}

TEST(DisaggregatedSetValidator, SlicesAreCountedInPods) {
  Json set = a_set({{"prefill", 1000}, {"decode", 1000}});
  set["spec"]["slices"] = 100;
  EXPECT_THAT(errors_of(set), ElementsAre(HasSubstr("spec.slices: Invalid value: 100: slices of 2000 pods would be "
                                                    "200000 pods, the maximum is 100000")));
}

TEST(DisaggregatedSetValidator, ExternalRolesHaveOneSlice) {
  Json set = a_set({{"prefill", 2}, {"decode", 2, true}});
  set["spec"]["slices"] = 2;
  EXPECT_THAT(errors_of(set), ElementsAre(HasSubstr("spec.slices: Forbidden: more than 1 is not supported with "
                                                    "scaling.mode: External, which role decode has")));
}

TEST(DisaggregatedSetValidator, PlacementNeedsATopology) {
  EXPECT_THAT(errors_after("/spec/placementPolicy", {{"type", "ExclusiveSlice"}}),
              ElementsAre(HasSubstr("spec.placementPolicy.topology: Required value")));
  EXPECT_THAT(errors_after("/spec/placementPolicy", {{"type", "ExclusiveSlice"}, {"topology", "a b"}}),
              testing::Contains(HasSubstr("spec.placementPolicy.topology: Invalid value: \"a b\"")));
  EXPECT_THAT(errors_after("/spec/placementPolicy", {{"type", "Together"}}),
              ElementsAre(HasSubstr("spec.placementPolicy.type: Unsupported value: \"Together\"")));
  EXPECT_THAT(errors_after("/spec/placementPolicy", {{"type", "None"}}), IsEmpty());
}

TEST(DisaggregatedSetValidator, PlacementExcludesThatOfTheRoles) {
  Json set = a_set();
  set["spec"]["placementPolicy"] = {{"type", "ExclusiveTopology"}, {"topology", "rack"}};
  set["spec"]["roles"][1]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"] = {
      {"leaderworkerset.sigs.k8s.io/exclusive-topology", "rack"}};
  EXPECT_THAT(errors_of(set), ElementsAre(HasSubstr("spec.roles[1].spec.leaderWorkerTemplate.workerTemplate.metadata."
                                                    "annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: "
                                                    "Forbidden")));
}

TEST(DisaggregatedSetValidator, AnUpdateMayKeepTheErrorsOfTheStoredObject) {
  Json old = a_set();
  old["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"]["size"] = 0;
  Json set = old;
  set["metadata"]["labels"] = {{"team", "a"}};
  EXPECT_THAT(errors_of(set, &old), IsEmpty());
  set["spec"]["slices"] = 0;
  EXPECT_THAT(errors_of(set, &old), ElementsAre(HasSubstr("spec.slices")));
}

TEST(DisaggregatedSetValidator, AnUpdateMayChangeWhatIsImmutableOfALeaderWorkerSet) {
  const Json old = a_set();
  Json set = old;
  set["spec"]["roles"][0]["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {{"subGroupSize", 1}};
  EXPECT_THAT(errors_of(set, &old), IsEmpty());
}

TEST(DisaggregatedSetValidator, ATerminatingSetMayBeUpdated) {
  const Json old = a_set();
  Json set = old;
  set["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z";
  set["spec"]["slices"] = 0;
  EXPECT_THAT(errors_of(set, &old), IsEmpty());
}

TEST(DisaggregatedSetValidator, SurvivesOtherTypesEverywhere) {
  for (const Json& value : {Json(nullptr), Json(7), Json("text"), Json::array({1, "a"}), Json::object()}) {
    for (const char* pointer : {"/spec", "/spec/roles", "/spec/roles/0", "/spec/roles/0/spec", "/spec/roles/0/metadata",
                                "/spec/roles/0/spec/leaderWorkerTemplate", "/spec/placementPolicy", "/metadata"}) {
      Json set = a_set();
      set[Json::json_pointer(pointer)] = value;
      (void)errors_of(set);
      (void)rules::warn_disaggregatedset(set);
    }
  }
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
