#include "controllers/disaggregatedset/rules/spec.h"

#include <gtest/gtest.h>

#include "tests/support/disaggregatedset/world.h"

namespace tpuslice::disaggregatedset {
namespace {

RolloutLimits limits_of(const Json& configuration, std::int64_t replicas) {
  Json role = {{"name", "prefill"}, {"spec", {{"rolloutStrategy", {{"rollingUpdateConfiguration", configuration}}}}}};
  RoleSpec spec;
  spec.json = &role;
  return spec.limits(replicas);
}

TEST(DisaggregatedSetSpec, HasUpstreamsDefaults) {
  const Json set = Json::parse(R"({"metadata": {"name": "llm"}, "spec": {"roles": [{"name": "a"}, {"name": "b"}]}})");
  const DisaggregatedSetSpec spec = DisaggregatedSetSpec::read(set);
  EXPECT_EQ(spec.slices, 1);
  ASSERT_EQ(spec.roles.size(), 2U);
  EXPECT_EQ(spec.roles[0].replicas, 1);
  EXPECT_FALSE(spec.roles[0].external);
  EXPECT_FALSE(spec.placement.active());
}

TEST(DisaggregatedSetSpec, MembersOfTheWrongTypeCountAsAbsent) {
  const Json set = Json::parse(R"({"spec": {"slices": "many", "placementPolicy": 3, "roles": [7, {"name": 1,
    "scaling": [], "spec": {"replicas": -4}}]}})");
  const DisaggregatedSetSpec spec = DisaggregatedSetSpec::read(set);
  EXPECT_EQ(spec.slices, 1);
  ASSERT_EQ(spec.roles.size(), 2U);
  EXPECT_EQ(spec.roles[1].replicas, 1);
}

// Source: upstream's executor_test.go.
TEST(DisaggregatedSetSpec, PercentagesOfASurgeAreRoundedUpAndOthersDown) {
  EXPECT_EQ(limits_of({{"maxSurge", "50%"}, {"maxUnavailable", 0}}, 4), (RolloutLimits{2, 0}));
  EXPECT_EQ(limits_of({{"maxSurge", 0}, {"maxUnavailable", "25%"}}, 4), (RolloutLimits{0, 1}));
  EXPECT_EQ(limits_of({{"maxSurge", "30%"}, {"maxUnavailable", "30%"}}, 5), (RolloutLimits{2, 1}));
  EXPECT_EQ(limits_of({{"maxSurge", "100%"}, {"maxUnavailable", 0}}, 3), (RolloutLimits{3, 0}));
}

TEST(DisaggregatedSetSpec, WithoutLimitsARolloutHasASurgeOfOne) {
  EXPECT_EQ(RoleSpec().limits(4), (RolloutLimits{1, 0}));
  EXPECT_EQ(limits_of({{"maxSurge", 0}, {"maxUnavailable", "10%"}}, 4), (RolloutLimits{1, 0}));
  EXPECT_EQ(limits_of(Json::object(), 4), (RolloutLimits{0, 1})) << "the CRD's defaults";
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
