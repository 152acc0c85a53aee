#include "api/types/shared_value.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using Text = SharedValue<std::string>;

TEST(SharedValue, IsTheDefaultOfItsType) {
  EXPECT_EQ(*Text(), "");
  EXPECT_EQ(Text()->size(), 0U);
  EXPECT_TRUE(Text::decoded("").shares_with(Text())) << "no allocation";
}

TEST(SharedValue, OfObjectsDecodedOneAfterTheOtherIsShared) {
  const Text first = Text::decoded("a");
  const Text other = Text::decoded("b");
  EXPECT_TRUE(first.shares_with(Text::decoded("a")));
  EXPECT_TRUE(other.shares_with(Text::decoded("b")));
  for (const char* later : {"c", "d", "e", "f"}) EXPECT_EQ(*Text::decoded(later), later);
  EXPECT_FALSE(first.shares_with(Text::decoded("a"))) << "it would be kept";
  EXPECT_EQ(first, Text::decoded("a"));
}

TEST(SharedValue, IsEditedInOneCopyOnly) {
  Text first = Text::decoded("a");
  const Text copy = first;
  first.edit() += "b";
  first.edit() += "c";
  EXPECT_EQ(*first, "abc");
  EXPECT_EQ(*copy, "a");
  EXPECT_EQ(*Text::decoded("a"), "a");
  EXPECT_NE(first, copy);
  Text none;
  none.edit() = "x";
  EXPECT_EQ(*none, "x");
  EXPECT_EQ(*Text(), "");
}

}  // namespace
}  // namespace tpuslice
