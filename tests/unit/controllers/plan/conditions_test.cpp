#include "controllers/plan/conditions.h"

#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

const Timestamp kNow = Timestamp{} + std::chrono::hours(24);

TEST(OwnCondition, IsTrueWithoutAProblem) {
  Json conditions;
  EXPECT_TRUE(set_accepted(conditions, {}, 3, kNow));
  EXPECT_EQ(conditions, Json::parse(R"([{"type": "tpuslice.dev/Accepted", "status": "True", "reason": "Accepted",
    "message": "the spec is valid", "observedGeneration": 3, "lastTransitionTime": "1970-01-02T00:00:00Z"}])"));
}

TEST(OwnCondition, IsFalseWithReasonAndMessageOfTheProblem) {
  Json conditions;
  set_accepted(conditions, {}, 3, kNow);
  EXPECT_TRUE(set_accepted(conditions, {"InvalidSpec", "spec.size: Required value"}, 4, kNow));
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0]["status"], "False");
  EXPECT_EQ(conditions[0]["reason"], "InvalidSpec");
  EXPECT_EQ(conditions[0]["message"], "spec.size: Required value");
  EXPECT_EQ(conditions[0]["observedGeneration"], 4);
}

TEST(OwnCondition, DoesNotCountAsChangedWithTheGeneration) {
  Json conditions;
  set_accepted(conditions, {"InvalidSpec", "spec.size: Required value"}, 3, kNow);
  EXPECT_FALSE(set_accepted(conditions, {"InvalidSpec", "spec.size: Required value"}, 4, kNow));
  EXPECT_EQ(conditions[0]["observedGeneration"], 4);
}

Json two_conditions() {
  return Json::parse(R"([{"type": "Ready", "status": "True", "observedGeneration": 1}, {"type": "Foreign"}, 7,
                         {"type": "Suspended", "status": "False", "observedGeneration": 1}])");
}

TEST(ObservedGeneration, IsSetInConditionsThatHaveOne) {
  Json conditions = two_conditions();
  set_observed_generation(conditions, 5);
  EXPECT_EQ(conditions, Json::parse(R"([{"type": "Ready", "status": "True", "observedGeneration": 5},
    {"type": "Foreign"}, 7, {"type": "Suspended", "status": "False", "observedGeneration": 5}])"));
}

TEST(ObservedGeneration, OfARefusedSpecIsNotSetInTrueConditions) {
  Json conditions = two_conditions();
  set_observed_generation_unless_true(conditions, 5);
  EXPECT_EQ(conditions[0]["observedGeneration"], 1);
  EXPECT_EQ(conditions[3]["observedGeneration"], 5);
}

}  // namespace
}  // namespace tpuslice::plan
