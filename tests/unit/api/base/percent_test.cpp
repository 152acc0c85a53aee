#include "api/base/percent.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

TEST(PercentEncoding, KeepsOnlyUnreservedCharacters) {
  EXPECT_EQ(percent_encode("a-Z.0_~"), "a-Z.0_~");
  EXPECT_EQ(percent_encode("app in (a,b)"), "app%20in%20%28a%2Cb%29");
  EXPECT_EQ(percent_encode("a/b?c&d=\xc3\xa9"), "a%2Fb%3Fc%26d%3D%C3%A9");
}

TEST(PercentEncoding, DecodesWhatItEncodes) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  EXPECT_EQ(percent_decode(percent_encode(every)).value(), every);
}

TEST(PercentEncoding, RefusesIncompleteEscapes) {
  for (const char* text : {"%", "%4", "a%zz", "%4g"})
    EXPECT_THAT(percent_decode(text), IsError(ErrorCode::kInvalidArgument)) << text;
}

TEST(PercentEncoding, ReadsPlusAsSpaceOnlyInQueries) {
  EXPECT_EQ(percent_decode("a+b").value(), "a+b");
  EXPECT_EQ(percent_decode("a+b", true).value(), "a b");
}

}  // namespace
}  // namespace tpuslice
