#include "controllers/placement/preemption_budget.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;

PreemptionBudget budget_of(std::size_t limit, const std::string& record, Duration now) {
  return {limit, record, after(now)};
}

TEST(PreemptionBudget, CountsTheRecordsOfTheLastHour) {
  EXPECT_EQ(budget_of(3, "", 1min).left(), 3U);
  EXPECT_EQ(budget_of(3, "2 2026-01-01T00:00:00Z", 1h - 1s).left(), 1U);
  EXPECT_EQ(budget_of(3, "2 2026-01-01T00:00:00Z", 1h).left(), 3U);
  EXPECT_EQ(budget_of(3, "2 2026-01-01T00:00:00Z, 1 2026-01-01T00:30:00Z", 40min).left(), 0U);
  EXPECT_EQ(budget_of(3, "2 2026-01-01T00:00:00Z, 1 2026-01-01T00:30:00Z", 70min).left(), 2U);
  EXPECT_EQ(budget_of(1, "2 2026-01-01T00:00:00Z", 1min).left(), 0U) << "the limit was lowered";
  EXPECT_EQ(budget_of(3, "2147483647 2026-01-01T00:00:00Z", 1min).left(), 0U);
}

TEST(PreemptionBudget, NamesAnEntryThatItCannotRead) {
  for (const char* text :
       {" ", "2", "two 2026-01-01T00:00:00Z", "-2 2026-01-01T00:00:00Z", "2 yesterday", "2 2026-01-01T00:00:00Z extra",
        "2  2026-01-01T00:00:00Z", "99999999999 2026-01-01T00:00:00Z", ", ,", "2 9999-01-01T00:00:00Z",
        "2 2026-01-01T02:00:00Z"}) {
    EXPECT_NE(budget_of(3, text, 1min).invalid_entry(), "") << text;
  }
  EXPECT_EQ(budget_of(3, "2 2026-01-01T00:00:00Z, nonsense, x", 1min).invalid_entry(), "\"nonsense\"");
  EXPECT_EQ(budget_of(3, std::string(1000, 'x'), 1min).invalid_entry().size(), 66U);
  EXPECT_EQ(budget_of(3, "2 2026-01-01T00:00:00Z", 1min).invalid_entry(), "");
}

TEST(PreemptionBudget, IsRecordedAcrossPlans) {
  PreemptionBudget first = budget_of(9, "", 5s);
  first.use(2);
  EXPECT_EQ(first.left(), 7U);
  EXPECT_EQ(first.record(), "2 2026-01-01T00:02:00Z") << "the next minute, and one for the deletes";
  PreemptionBudget second = budget_of(9, first.record(), 50s);
  second.use(1);
  EXPECT_EQ(second.record(), "3 2026-01-01T00:02:00Z");
  PreemptionBudget third = budget_of(9, second.record(), 10min);
  third.use(4);
  EXPECT_EQ(third.record(), "3 2026-01-01T00:02:00Z, 4 2026-01-01T00:11:00Z");
  EXPECT_EQ(third.left(), 2U);
  EXPECT_EQ(budget_of(9, third.record(), 63min).record(), "4 2026-01-01T00:11:00Z") << "the first has expired";
}

TEST(PreemptionBudget, NeverExceedsTheLimitWithinAnHour) {
  constexpr std::size_t kLimit = 3;
  std::string record;
  std::vector<Duration> ended;
  for (Duration now = 0s; now < 4h; now += 7s) {
    PreemptionBudget budget = budget_of(kLimit, record, now);
    if (budget.left() == 0) continue;
    budget.use(1);
    ended.push_back(now);
    record = budget.record();
  }
  ASSERT_GT(ended.size(), kLimit);
  for (std::size_t i = kLimit; i < ended.size(); ++i) EXPECT_GE(ended[i] - ended[i - kLimit], 1h) << i;
  EXPECT_GE(ended.size(), 3 * kLimit) << "it is renewed";
}

TEST(PreemptionBudget, HasAShortRecordHoweverLargeItIs) {
  std::string record;
  for (Duration now = 0s; now < 3h; now += 5s) {
    PreemptionBudget budget = budget_of(100'000, record, now);
    EXPECT_GT(budget.left(), 0U);
    budget.use(20);
    record = budget.record();
  }
  EXPECT_LE(std::ranges::count(record, ',') + 1, 62);
  EXPECT_GE(budget_of(100'000, record, 3h).used(), 20U * 12U * 60U) << "none is lost";
  EXPECT_LE(budget_of(100'000, record, 3h).used(), 20U * 12U * 62U) << "each counts two minutes longer at most";
}

TEST(PreemptionBudget, KnowsWhenSoManyAreLeft) {
  const PreemptionBudget budget = budget_of(3, "1 2026-01-01T00:02:00Z, 2 2026-01-01T00:30:00Z", 40min);
  EXPECT_EQ(budget.when_left(0), after(40min));
  EXPECT_EQ(budget.when_left(1), after(62min));
  EXPECT_EQ(budget.when_left(2), after(90min));
  EXPECT_EQ(budget.when_left(3), after(90min));
  EXPECT_EQ(budget.when_left(4), std::nullopt);
  EXPECT_EQ(budget.changes_at(), after(62min));
  EXPECT_EQ(budget_of(3, "", 1min).changes_at(), std::nullopt);
}

TEST(PreemptionBudget, SaysWhyItDoesNotSuffice) {
  const PreemptionBudget used_up = budget_of(2, "2 2026-01-01T00:02:00Z", 10min);
  EXPECT_EQ(used_up.obstacle(0), "");
  EXPECT_EQ(
      used_up.obstacle(1),
      "a slice of lower priority would be preempted for it, but the preemption budget of 2 an hour is used up; next "
      "at 2026-01-01T01:02:00Z");
  EXPECT_EQ(
      budget_of(2, "1 2026-01-01T00:02:00Z", 10min).obstacle(2),
      "2 slices of lower priority would be preempted for it, but the preemption budget of 2 an hour is used up but "
      "for 1; next at 2026-01-01T01:02:00Z");
  EXPECT_EQ(budget_of(2, "", 10min).obstacle(3),
            "3 slices of lower priority would be preempted for it, but the preemption budget of 2 an hour is smaller");
  EXPECT_EQ(budget_of(2, "", 10min).obstacle(2), "");
  PreemptionBudget blocked = budget_of(2, "", 10min);
  blocked.block("ConfigMap a/b cannot be read");
  EXPECT_EQ(blocked.obstacle(1),
            "a slice of lower priority would be preempted for it, but ConfigMap a/b cannot be read");
  EXPECT_EQ(blocked.obstacle(0), "");
}

TEST(PreemptionRecords, AreReadFromAConfigMap) {
  const auto records = PreemptionRecords::decode(
      R"({"metadata": {"name": "tpu-slice-preemptions", "namespace": "system", "uid": "u", "resourceVersion": "7"},
          "data": {"tpu-v6e-slice": "2 2026-01-01T00:02:00Z", "tpu7x": ""}})");
  ASSERT_TRUE(records.ok()) << records.error().message();
  EXPECT_EQ(records->key, (ObjectKey{"system", "tpu-slice-preemptions"}));
  EXPECT_EQ(records->resource_version, "7");
  EXPECT_EQ(records->data, (StringMap{{"tpu-v6e-slice", "2 2026-01-01T00:02:00Z"}, {"tpu7x", ""}}));
  EXPECT_THAT(PreemptionRecords::decode(R"({"metadata": {"name": "x"}})"), IsError(ErrorCode::kInvalidArgument))
      << "no uid";
}

TEST(PreemptionRecords, OfOtherAcceleratorsAreKeptUntilTheyExpire) {
  PreemptionRecords records = *preemption_records().records;
  records.data = {
      {"tpu7x", "1 2026-01-01T00:30:00Z"}, {"tpu-v4-podslice", "1 2025-12-31T23:00:00Z"}, {"tpu-v5p-slice", "x"}};
  PreemptionBudget budget = budget_of(2, "", 40min);
  budget.use(1);
  const plan::Action action = write_preemption_record(records, kV6e, budget, after(40min));
  EXPECT_EQ(*action.body.make(), Json::parse(R"({"data": {"tpu-v6e-slice": "1 2026-01-01T00:41:00Z",
                                                          "tpu-v4-podslice": null}})"));
  EXPECT_EQ(action.preconditions, (plan::Preconditions{"uid-of-records", "7"}))
      << "another leader may have used the budget";
}

}  // namespace
}  // namespace tpuslice::placement
