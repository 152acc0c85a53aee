#include "api/base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Split, GivesWhatIsBetweenTheSeparators) {
  EXPECT_THAT(split("a,bc,d", ','), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split("a", ','), ElementsAre("a"));
  EXPECT_THAT(split(",a,", ','), ElementsAre("", "a", ""));
}

TEST(Split, GivesNothingForNothing) { EXPECT_THAT(split("", ','), IsEmpty()); }

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_EQ(whole_number("0"), 0);
  EXPECT_EQ(whole_number("12"), 12);
  EXPECT_EQ(whole_number("2147483647"), 2147483647);
  for (const char* none : {"", "-1", "+1", " 1", "1 ", "1x", "x", "2147483648"})
    EXPECT_EQ(whole_number(none), std::nullopt) << none;
}

TEST(Trimmed, LeavesNoSpaceAtEitherSide) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

}  // namespace
}  // namespace tpuslice
