#include "controllers/runtime/watch/memory_budget.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using Purpose = MemoryBudget::Purpose;

/// Takes pieces of one byte until no more fits.
std::size_t fill(MemoryBudget& budget, const std::string& name, Purpose purpose) {
  std::size_t taken = 0;
  while (budget.try_replace(name, 0, 1, purpose)) ++taken;
  return taken;
}

TEST(TheMemoryBudget, GivesOneNamespaceTwoThirdsForNewObjects) {
  MemoryBudget budget(1000);
  EXPECT_EQ(fill(budget, "a", Purpose::kNewObject), 666U);
  EXPECT_EQ(budget.used("a"), 666U);
  EXPECT_EQ(budget.used(), 666U);
}

TEST(TheMemoryBudget, HasRoomForANamespaceThatComesLast) {
  MemoryBudget budget(160'000);
  std::size_t left = budget.bytes();
  for (const std::string name : {"attacker-1", "attacker-2", "attacker-3"}) {
    fill(budget, name, Purpose::kNewObject);
    fill(budget, name, Purpose::kKnownObject);
    fill(budget, name, Purpose::kMinimalView);
    EXPECT_GE(budget.bytes() - budget.used(), left / 4) << "each leaves a quarter of what it finds";
    left = budget.bytes() - budget.used();
  }
  EXPECT_GE(fill(budget, "victim", Purpose::kNewObject), left / 3 * 2);
}

TEST(TheMemoryBudget, GivesNamespacesThatFillItTogetherEqualParts) {
  MemoryBudget budget(5000);
  bool grew = true;
  while (grew) {
    grew = budget.try_replace("a", 0, 1, Purpose::kNewObject);
    grew = budget.try_replace("b", 0, 1, Purpose::kNewObject) || grew;
  }
  EXPECT_EQ(budget.used("a"), 2000U);
  EXPECT_EQ(budget.used("b"), 2000U);
}

TEST(TheMemoryBudget, LetsKnownObjectsGrowWhenThereIsNoRoomForNewOnes) {
  MemoryBudget budget(1000);
  fill(budget, "a", Purpose::kNewObject);
  EXPECT_FALSE(budget.try_replace("a", 0, 20, Purpose::kNewObject));
  EXPECT_TRUE(budget.try_replace("a", 10, 30, Purpose::kKnownObject));
  EXPECT_EQ(fill(budget, "a", Purpose::kKnownObject), 28U);
  EXPECT_GT(fill(budget, "a", Purpose::kMinimalView), 0U);
}

TEST(TheMemoryBudget, EvictsNothingAndLetsObjectsShrink) {
  MemoryBudget budget(1000);
  fill(budget, "a", Purpose::kNewObject);
  fill(budget, "b", Purpose::kNewObject);  // Now `a` is above its threshold.
  EXPECT_EQ(budget.used("a"), 666U);
  EXPECT_FALSE(budget.try_replace("a", 0, 1, Purpose::kNewObject));
  EXPECT_TRUE(budget.try_replace("a", 600, 500, Purpose::kNewObject));
  EXPECT_TRUE(budget.try_replace("a", 500, 500, Purpose::kKnownObject));
}

TEST(TheMemoryBudget, RefusesAgainWhatItRefusedWhileNothingElseChanges) {
  MemoryBudget budget(1000);
  fill(budget, "a", Purpose::kNewObject);
  EXPECT_FALSE(budget.fits("a", 100, 150, Purpose::kKnownObject));
  budget.replace("a", 100, 20);  // Its minimal view instead.
  EXPECT_FALSE(budget.fits("a", 20, 150, Purpose::kKnownObject));
  budget.replace("a", 200, 0);  // Another object is deleted.
  EXPECT_TRUE(budget.fits("a", 20, 150, Purpose::kKnownObject));
}

/// Regression: a wrong count ended the process.
TEST(TheMemoryBudget, SaysOnceThatItCountedWronglyAndGoesOn) {
  std::vector<std::string> lines;
  LogOptions log;
  log.sink = [&](std::string_view line) { lines.emplace_back(line); };
  MemoryBudget budget(1000, Logger(log));
  budget.replace("a", 0, 100);
  budget.replace("b", 0, 50);
  budget.replace("a", 120, 10);
  EXPECT_EQ(budget.used("a"), 10U);
  EXPECT_EQ(budget.used(), 60U);
  EXPECT_TRUE(budget.try_replace("a", 20, 30, Purpose::kNewObject));
  EXPECT_EQ(budget.used("a"), 30U);
  EXPECT_EQ(budget.used(), 80U);
  EXPECT_EQ(budget.used("b"), 50U);
  EXPECT_EQ(lines.size(), 1U);
}

TEST(TheMemoryBudget, CountsObjectsOfTheClusterWithoutLimit) {
  MemoryBudget budget(1000);
  EXPECT_TRUE(budget.try_replace("", 0, 2000, Purpose::kNewObject));
  EXPECT_FALSE(budget.try_replace("a", 0, 1, Purpose::kNewObject));
}

}  // namespace
}  // namespace tpuslice::runtime
