#include "cmd/tpu-slice-sim/cluster/jobs/job_indexes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IndexSet, PrintsThreeInARowAsARange) {
  IndexSet set;
  for (const int index : {7, 1, 5, 6, 3, 0, 9}) set.add(index);
  EXPECT_EQ(set.to_string(), "0,1,3,5-7,9");
  set.add(2);
  EXPECT_EQ(set.to_string(), "0-3,5-7,9");
  EXPECT_EQ(set.size(), 8);
  EXPECT_TRUE(set.has(6));
  EXPECT_FALSE(set.has(4));
}

TEST(IndexSet, ReadsWhatItPrints) {
  EXPECT_EQ(IndexSet::parse("0,1,3,5-7,9", 100).to_string(), "0,1,3,5-7,9");
  EXPECT_EQ(IndexSet::parse("", 100).to_string(), "");
}

TEST(IndexSet, IgnoresNumbersThatAreNotBelowTheLimit) { EXPECT_EQ(IndexSet::parse("0,2-5,8", 4).to_string(), "0,2,3"); }

TEST(IndexSet, IgnoresText) { EXPECT_EQ(IndexSet::parse("0,x,3-y,-,5", 10).to_string(), "0,5"); }

TEST(IndexSet, ReturnsTheLowestMissingIndexes) {
  const IndexSet set = IndexSet::parse("1,3-4", 10);
  EXPECT_THAT(set.lowest_missing(3, 10), ElementsAre(0, 2, 5));
  EXPECT_THAT(set.lowest_missing(9, 6), ElementsAre(0, 2, 5));
  EXPECT_THAT(set.lowest_missing(2, 1), ElementsAre(0));
  EXPECT_THAT(set.lowest_missing(2, 0), IsEmpty());
}

TEST(IndexSet, CountsCommonIndexes) {
  EXPECT_EQ(IndexSet::parse("0-3,7,9", 10).common_with(IndexSet::parse("2-7,9", 10)), 4);
  EXPECT_EQ(IndexSet::parse("0-3", 10).common_with(IndexSet{}), 0);
}

TEST(IndexSet, MergesWithAnotherSet) {
  IndexSet set = IndexSet::parse("0,4-5", 10);
  set.add(IndexSet::parse("1-3,8", 10));
  EXPECT_EQ(set.to_string(), "0-5,8");
}

}  // namespace
}  // namespace tpuslice::sim
