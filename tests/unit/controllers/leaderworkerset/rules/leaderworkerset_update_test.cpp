#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/validator.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plain_set;
using testing::serving_set;
using testing::set_errors;
using ::testing::SizeIs;
using testing::with;
using testing::without;

const std::string kLwsTemplates = "/spec/leaderWorkerTemplate";

TEST(UpdateLeaderWorkerSet, CannotChangeClaims) {
  const auto with_claim = [](const char* size) {
    Json claim = {{"metadata", {{"name", "cache"}}},
                  {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", size}}}}}}}};
    return with(plain_set(), kLwsTemplates + "/volumeClaimTemplates", Json::array({std::move(claim)}));
  };
  const Json none = plain_set();
  const Json small = with_claim("1Gi");
  EXPECT_THAT(set_errors(small, &small), IsEmpty());
  for (const Json& changed : {none, with_claim("2Gi")}) {
    EXPECT_THAT(
        set_errors(changed, &small),
        ElementsAre(HasSubstr("spec.leaderWorkerTemplate.volumeClaimTemplates: Forbidden: field is immutable")));
  }
  EXPECT_THAT(set_errors(small, &none), ElementsAre(HasSubstr("Forbidden: field is immutable")));
  const Json conditions =
      Json::array({{{"type", "tpuslice.dev/GroupsHealthy"}, {"status", "False"}, {"reason", "VolumeClaimsChanged"}}});
  const Json held_back = with(small, "/status/conditions", conditions);
  EXPECT_THAT(set_errors(none, &held_back), IsEmpty()) << "they are not those of the groups, and may be restored";
  Json typed = with_claim("1024Mi");
  Json& claim = typed[Json::json_pointer(kLwsTemplates + "/volumeClaimTemplates/0")];
  claim["metadata"]["creationTimestamp"] = nullptr;
  claim["status"] = Json::object();
  EXPECT_THAT(set_errors(typed, &small), IsEmpty()) << "as typed clients print the same claim";
}

Json set_with_subgroups(int size) {
  return with(with(plain_set(), kLwsTemplates + "/size", 4), kLwsTemplates + "/subGroupPolicy/subGroupSize", size);
}

TEST(UpdateLeaderWorkerSet, CannotChangeSubgroups) {
  const Json none = with(plain_set(), kLwsTemplates + "/size", 4);
  const Json two = set_with_subgroups(2);
  const Json four = set_with_subgroups(4);
  EXPECT_THAT(set_errors(two, &two), IsEmpty());
  EXPECT_THAT(set_errors(none, &none), IsEmpty());
  EXPECT_THAT(set_errors(four, &two), ElementsAre("spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize: Invalid "
                                                  "value: 4: field is immutable, was 2"));
  EXPECT_THAT(set_errors(two, &none),
              ElementsAre(HasSubstr(
                  "subGroupSize: Invalid value: 2: field is immutable, was unset: subgroups cannot be added")));
  EXPECT_THAT(set_errors(none, &two),
              ElementsAre(HasSubstr("subGroupSize: Required value: field is immutable, was 2")));
}

// Source: upstream's integration tests.
TEST(UpdateLeaderWorkerSet, CanChangeEverythingElse) {
  const Json old = serving_set();
  EXPECT_THAT(set_errors(with(old, "/spec/replicas", 7), &old), IsEmpty());
  EXPECT_THAT(set_errors(with(old, "/spec/rolloutStrategy/rollingUpdateConfiguration/partition", 5), &old), IsEmpty());
  EXPECT_THAT(set_errors(without(old, kLwsTemplates + "/leaderTemplate/spec", "tolerations"), &old), IsEmpty());
  EXPECT_THAT(set_errors(with(plain_set(), kLwsTemplates + "/size", 3), &old), IsEmpty());
  const Json shared = with(old, "/spec/networkConfig/subdomainPolicy", "Shared");
  const Json unique = with(old, "/spec/networkConfig/subdomainPolicy", "UniquePerReplica");
  EXPECT_THAT(set_errors(shared, &unique), IsEmpty());
  EXPECT_THAT(set_errors(unique, &shared), IsEmpty());
  EXPECT_THAT(set_errors(unique, &old), IsEmpty());
}

// The steps of a rollout of a DisaggregatedSet do it.
TEST(UpdateLeaderWorkerSet, MayScaleToWhereAPercentageIsZero) {
  const std::string unavailable = "/spec/rolloutStrategy/rollingUpdateConfiguration/maxUnavailable";
  const Json old = with(with(plain_set(), unavailable, "25%"), "/spec/replicas", 4);
  EXPECT_THAT(set_errors(old), IsEmpty());
  EXPECT_THAT(set_errors(with(old, "/spec/replicas", 3), &old), IsEmpty());
  EXPECT_THAT(set_errors(with(with(old, "/spec/replicas", 3), unavailable, "20%"), &old), SizeIs(1));
}

// kubectl scale and autoscalers write the scale subresource, which is not admitted.
TEST(UpdateLeaderWorkerSet, IsAcceptedOfASetThatWasScaledToWhereAPercentageIsZero) {
  const std::string unavailable = "/spec/rolloutStrategy/rollingUpdateConfiguration/maxUnavailable";
  const Json old = with(with(plain_set(), unavailable, "50%"), "/spec/replicas", 1);
  EXPECT_THAT(set_errors(with(old, "/metadata/labels", {{"a", "b"}}), &old), IsEmpty());
  EXPECT_THAT(set_errors(with(old, unavailable, "40%"), &old), SizeIs(1)) << "a new error";
  EXPECT_THAT(set_errors(old), SizeIs(1));
}

TEST(UpdateLeaderWorkerSet, CannotRemoveTheSubdomainPolicy) {
  const Json old = with(plain_set(), "/spec/networkConfig/subdomainPolicy", "UniquePerReplica");
  EXPECT_THAT(set_errors(with(old, "/spec/networkConfig/subdomainPolicy", nullptr), &old),
              ElementsAre("spec.networkConfig.subdomainPolicy: Required value: cannot be removed: was "
                          "UniquePerReplica; set Shared or UniquePerReplica"));
}

TEST(UpdateLeaderWorkerSet, DoesNotReportOldErrors) {
  Json old = with(serving_set(), "/metadata/name", std::string(60, 'a'));
  old = with(old, kLwsTemplates + "/size", 4);
  EXPECT_THAT(set_errors(old), ElementsAre(HasSubstr("metadata.name"), HasSubstr("set size: 5")));
  EXPECT_THAT(set_errors(with(old, "/spec/replicas", 9), &old), IsEmpty());
  EXPECT_THAT(set_errors(with(old, "/spec/replicas", 11), &old), ElementsAre(HasSubstr("metadata.name")));
  EXPECT_THAT(set_errors(with(old, kLwsTemplates + "/size", 3), &old), ElementsAre(HasSubstr("set size: 5")));
}

TEST(UpdateLeaderWorkerSet, ReportsOldErrorsOfUpstreamsRules) {
  const Json old = with(plain_set(), "/spec/replicas", -1);
  EXPECT_THAT(set_errors(old, &old), ElementsAre(HasSubstr("spec.replicas")));
}

}  // namespace
}  // namespace tpuslice::rules
