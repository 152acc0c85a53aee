#include "api/types/utf8.h"

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

TEST(Utf8, IsValidated) {
  EXPECT_TRUE(is_utf8("plain, \u00e9, \u20ac, \U0001f600"));
  for (const std::string_view bytes :
       {"\x80", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xf0\x80\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bytes));
  }
}

TEST(Utf8, LengthCountsCharacters) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length("a\u00e9\u20ac\U0001f600"), 4U);
}

TEST(Utf8, TruncatingKeepsWholeCharacters) {
  EXPECT_EQ(truncate_utf8("a\u20acb", 5), "a\u20acb");
  EXPECT_EQ(truncate_utf8("a\u20acb", 4), "a\u20ac");
  EXPECT_EQ(truncate_utf8("a\u20acb", 3), "a");
  EXPECT_EQ(truncate_utf8("\u20ac", 2), "");
  EXPECT_EQ(first_utf8_characters("a\u20acb", 2), "a\u20ac");
  EXPECT_EQ(first_utf8_characters("a\u20acb", 3), "a\u20acb");
}

}  // namespace
}  // namespace tpuslice
