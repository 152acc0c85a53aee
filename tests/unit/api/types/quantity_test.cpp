#include "api/types/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

Quantity q(std::string_view text) { return Quantity::parse(text).value(); }

TEST(Quantity, PrintsTheCanonicalForm) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"0", "0"},
      {"0.0", "0"},
      {"-0", "0"},
      {"0Gi", "0"},
      {"1", "1"},
      {"100", "100"},
      {"1000", "1k"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"1.5", "1500m"},
      {"0.1", "100m"},
      {".5", "500m"},
      {"-1.5", "-1500m"},
      {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},
      {"1Ki", "1Ki"},
      {"1000Ki", "1000Ki"},
      {"0.5Ki", "512"},
      {"1023", "1023"},
      {"1.1Ki", "1126400m"},
      {"-2048Ki", "-2Mi"},
      {"1n", "1n"},
      {"1000n", "1u"},
      {"1000000u", "1"},
      {"0.000000001", "1n"},
      {"12e6", "12e6"},
      {"12000e3", "12e6"},
      {"1e3", "1e3"},
      {"100e1", "1e3"},
      {"5e-3", "5e-3"},
      {"1E", "1E"},
      {"1000P", "1E"},
      {"1000E", "1e21"},
      {"1e21", "1e21"},
      {"800G", "800G"},
      {"123456789012345678901234567", "123456789012345678901234567"},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(q(text).to_string(), expected) << text;
}

TEST(Quantity, IsMadeOfThousandths) {
  EXPECT_EQ(Quantity::of_milli(1500).to_string(), "1500m");
  EXPECT_EQ(Quantity::of_milli(180'000), q("180"));
}

TEST(Quantity, KeepsTextThatUpstreamTakesForCanonical) {
  // Upstream prints these unchanged.
  for (const char* text : {"1.500", "1E3", "+5", "5.", "1.G", "007"}) EXPECT_EQ(q(text).to_string(), text);
  EXPECT_EQ((q("1.500") + Quantity()).to_string(), "1500m");
}

TEST(Quantity, RoundsUpBelowNano) {
  EXPECT_EQ(q("0.9n").to_string(), "1n");
  EXPECT_EQ(q("1.1n").to_string(), "2n");
  EXPECT_EQ(q("-0.1n").to_string(), "-1n");
  EXPECT_EQ(q("1e-400").to_string(), "1e-9");
  EXPECT_EQ(q("0.0000000001Ki").to_string(), "103n");  // 102.4 nano
}

TEST(Quantity, CapsBinaryAmountsAndRefusesHugeDecimals) {
  EXPECT_EQ(q("8Ei"), Quantity(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(q("-100Ei"), Quantity(-std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(q("18446744073709551616").to_string(), "18446744073709551616");
  EXPECT_THAT(Quantity::parse("1e30").error().message(), HasSubstr("beyond"));
  EXPECT_THAT(Quantity::parse("1e2000000000").error().message(), HasSubstr("beyond"));
  EXPECT_TRUE(q("0e2000000000").is_zero());
}

TEST(Quantity, RefusesInvalidText) {
  for (const char* text :
       {"",     " 1",    "1 ",  "aoeu", "1.1.M", "1+1.0M", "0.1mi", "0.1am", ".5i",   "1i",  "-3.01i", "-3.01e-",
        "1Kib", "1KiKi", "--1", "1e",   "1e+",   "1e1.5",  "1e5m",  "0x10",  "1_000", "e5x", "1ki"}) {
    const Result<Quantity> result = Quantity::parse(text);
    EXPECT_THAT(result, IsError(ErrorCode::kInvalidArgument, HasSubstr("quantit"))) << text;
  }
  EXPECT_THAT(Quantity::parse(std::string(1000, '9')), IsError(ErrorCode::kInvalidArgument));
}

TEST(Quantity, PrintsSumsLikeKubernetes) {
  EXPECT_EQ((q("8") + q("8") * 4).to_string(), "40");
  EXPECT_EQ((q("16Gi") + q("200G") * 4).to_string(), "798027216Ki");
  EXPECT_EQ((q("200G") * 4 + q("16Gi")).to_string(), "817179869184");
  EXPECT_EQ((q("500m") + q("1")).to_string(), "1500m");
  EXPECT_EQ((q("1") - q("1Mi")).to_string(), "-1048575");
  EXPECT_EQ((q("1Gi") - q("512Mi")).to_string(), "512Mi");
}

TEST(Quantity, ZeroTakesTheFormatOfTheOtherOperand) {
  EXPECT_EQ((Quantity() + q("2048Ki")).to_string(), "2Mi");
  EXPECT_EQ((q("0") + q("3e3")).to_string(), "3e3");
  EXPECT_EQ((q("1Gi") - q("1Gi") + q("5G")).to_string(), "5G");
}

TEST(Quantity, SaturatesAtItsLimits) {
  const Quantity large = q("1e29");
  EXPECT_GT(large + large, large);
  EXPECT_LT(large * -5, Quantity());
  EXPECT_EQ(large.value(), std::numeric_limits<std::int64_t>::max());
}

TEST(Quantity, SubtractionSaturatesAtANegatableMinimum) {
  const Quantity min = q("-170141183460469231731687303715884105727n");
  EXPECT_EQ(min - q("1n"), min);
  EXPECT_EQ(q("-85070591730234615865843651857942052864n") * 2, min);
  EXPECT_TRUE((q("0") - (min - q("1n")) + min).is_zero());
}

TEST(Quantity, RoundsIntegersAwayFromZero) {
  EXPECT_EQ(q("1.1").value(), 2);
  EXPECT_EQ(q("-1.1").value(), -2);
  EXPECT_EQ(q("100m").milli_value(), 100);
  EXPECT_EQ(q("1n").milli_value(), 1);
  EXPECT_EQ(q("4").value(), 4);
}

TEST(Quantity, ComparesByAmount) {
  EXPECT_EQ(q("1Ki"), q("1024"));
  EXPECT_LT(q("1G"), q("1Gi"));
  EXPECT_GT(q("1"), q("999m"));
}

TEST(Quantity, ReadsBackWhatItPrints) {
  for (const char* text : {"1", "1500m", "3Gi", "12e6", "-7n", "1000E", "123456789u", "1026Ki"}) {
    const Quantity first = q(text) + Quantity();
    EXPECT_EQ(q(first.to_string()), first) << text;
  }
}

TEST(Quantity, ReadsJsonStringsAndNumbers) {
  EXPECT_EQ(Quantity::from_json("4")->value(), 4);
  EXPECT_EQ(Quantity::from_json(4)->value(), 4);
  EXPECT_EQ(Quantity::from_json(0.5)->to_string(), "500m");
  EXPECT_EQ(Quantity::from_json(true).error().message(), "quantity is a JSON boolean, must be a string or a number");
}

}  // namespace
}  // namespace tpuslice
