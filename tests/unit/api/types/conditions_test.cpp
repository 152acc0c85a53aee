#include "api/types/conditions.h"

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

const Timestamp kNow = FakeClock().wall();
const Timestamp kLater = kNow + std::chrono::seconds(60);

TEST(Conditions, AreAdded) {
  Json conditions;
  EXPECT_TRUE(set_condition(conditions, {"Ready", "True", "AllUp", "4 of 4 hosts", 3}, kNow));
  EXPECT_EQ(conditions.dump(),
            R"([{"lastTransitionTime":"2026-01-01T00:00:00Z","message":"4 of 4 hosts","observedGeneration":3,)"
            R"("reason":"AllUp","status":"True","type":"Ready"}])");
}

TEST(Conditions, ChangeTheirTimeOnlyWithTheirStatus) {
  Json conditions;
  set_condition(conditions, {"Ready", "True", "AllUp", "4 of 4 hosts", 3}, kNow);
  EXPECT_TRUE(set_condition(conditions, {"Ready", "True", "AllUp", "5 of 5 hosts", 4}, kLater));
  EXPECT_EQ(conditions[0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(conditions[0]["observedGeneration"], 4);
  EXPECT_TRUE(set_condition(conditions, {"Ready", "False", "HostLost", "", 4}, kLater));
  EXPECT_EQ(conditions[0]["lastTransitionTime"], "2026-01-01T00:01:00Z");
  EXPECT_EQ(conditions.size(), 1U);
}

TEST(Conditions, DoNotChangeWithoutANewValue) {
  Json conditions;
  const Condition condition{"Ready", "True", "AllUp", "", std::nullopt};
  set_condition(conditions, condition, kNow);
  const Json before = conditions;
  EXPECT_FALSE(set_condition(conditions, condition, kLater));
  EXPECT_EQ(conditions, before);
}

TEST(Conditions, AreFoundAndRemoved) {
  Json conditions;
  set_condition(conditions, {"A", "True", "r", "", {}}, kNow);
  set_condition(conditions, {"B", "Unknown", "r", "", {}}, kNow);
  EXPECT_TRUE(is_condition_true(conditions, "A"));
  EXPECT_EQ(condition_status(conditions, "B"), "Unknown");
  EXPECT_EQ(find_condition(conditions, "C"), nullptr);
  EXPECT_TRUE(remove_condition(conditions, "A"));
  EXPECT_FALSE(remove_condition(conditions, "A"));
  EXPECT_EQ(conditions.size(), 1U);
}

TEST(Conditions, TolerateAnIllTypedArray) {
  Json text = "oops";
  EXPECT_EQ(find_condition(text, "A"), nullptr);
  EXPECT_FALSE(remove_condition(text, "A"));
  Json mixed = Json::parse(R"([1, null, "x", {"type": 3}])");
  EXPECT_TRUE(set_condition(mixed, {"A", "True", "r", "", {}}, kNow));
  EXPECT_EQ(mixed.size(), 5U);
  EXPECT_TRUE(set_condition(text, {"A", "True", "r", "", {}}, kNow));
}

}  // namespace
}  // namespace tpuslice
