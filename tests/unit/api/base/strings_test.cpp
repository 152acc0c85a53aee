#include "api/base/strings.h"

#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Split, ReturnsThePartsBetweenSeparators) {
  EXPECT_THAT(split("a,bc,d", ','), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(split("a", ','), ElementsAre("a"));
  EXPECT_THAT(split(",a,", ','), ElementsAre("", "a", ""));
  EXPECT_THAT(split("", ','), IsEmpty());
}

TEST(IsLetter, KnowsThoseOfAscii) {
  for (const char c : {'a', 'm', 'z', 'A', 'Z'}) EXPECT_TRUE(is_letter(c) && is_letter_or_digit(c)) << c;
  for (const char c : {'0', '5', '9'}) EXPECT_TRUE(!is_letter(c) && is_letter_or_digit(c)) << c;
  for (const char c : {'@', '[', '`', '{', '/', ':', '-', '\xe4'}) EXPECT_FALSE(is_letter_or_digit(c)) << c;
  for (const char c : {'a', 'z', '0', '9'}) EXPECT_TRUE(is_lower_or_digit(c)) << c;
  for (const char c : {'A', 'Z', '`', '{', '/', ':', '-', '\xe4'}) EXPECT_FALSE(is_lower_or_digit(c)) << c;
}

TEST(ParseInteger, ReadsTheWholeText) {
  EXPECT_EQ(parse_integer<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(parse_integer<std::uint16_t>("65536"), std::nullopt);
  EXPECT_EQ(parse_integer<std::uint64_t>("-1"), std::nullopt);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "0x1"}) {
    EXPECT_EQ(parse_integer<int>(text), std::nullopt) << text;
  }
}

TEST(ParseCount, ReadsIntegersFromZero) {
  EXPECT_EQ(parse_count("0"), 0);
  EXPECT_EQ(parse_count("12"), 12);
  EXPECT_EQ(parse_count("2147483647"), 2147483647);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1x", "x", "2147483648"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

TEST(Trimmed, RemovesWhiteSpaceAtBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(LetterCase, AppliesToAsciiOnly) {
  EXPECT_EQ(to_lower("AZaz0\u00c9"), "azaz0\u00c9");
  EXPECT_TRUE(equals_ignoring_case("Content-Type", "content-type"));
  EXPECT_FALSE(equals_ignoring_case("Content-Type", "content-typ"));
  EXPECT_FALSE(equals_ignoring_case("\u00c9", "\u00e9"));
}

}  // namespace
}  // namespace tpuslice
