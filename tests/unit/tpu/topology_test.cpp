#include "tpu/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::tpu {
namespace {

TEST(Topology, ParsesTwoAndThreeDimensions) {
  const auto flat = Topology::parse("4x8");
  ASSERT_TRUE(flat.ok());
  EXPECT_EQ(flat->rank(), 2U);
  EXPECT_EQ(flat->chips(), 32);
  EXPECT_EQ(flat->padded(), (Bounds{4, 8, 1}));
  const auto deep = Topology::parse("2x2x4");
  ASSERT_TRUE(deep.ok());
  EXPECT_EQ(deep->rank(), 3U);
  EXPECT_EQ(deep->chips(), 16);
}

TEST(Topology, PrintsWhatItParsed) {
  for (const std::string text : {"1x1", "2x4", "16x16", "2x2x1", "12x24x24", "9999x9999x9999"}) {
    const auto topology = Topology::parse(text);
    ASSERT_TRUE(topology.ok()) << text;
    EXPECT_EQ(topology->to_string(), text);
  }
}

TEST(Topology, NeverOverflows) { EXPECT_EQ(Topology::parse("9999x9999x9999")->chips(), 9999LL * 9999 * 9999); }

TEST(Topology, RefusesOtherSpellings) {
  for (const std::string text : {"", "4", "x", "4x", "x4", "4x4x", "4x4x4x4", "0x4", "04x4", "-4x4", "4X4", "4 x4",
                                 "4x4 ", "4x+4", "10000x1", "99999999999999999999x1", "4x4.0", "4xx4"}) {
    const auto topology = Topology::parse(text);
    EXPECT_THAT(topology, IsError(ErrorCode::kInvalidArgument)) << text;
  }
}

TEST(Topology, TruncatesTheInputInErrors) {
  EXPECT_LT(Topology::parse(std::string(1U << 20U, '4')).error().message().size(), 200U);
}

TEST(Topology, FitsIfNoAxisIsLonger) {
  const Topology node = *Topology::parse("4x8");
  EXPECT_TRUE(Topology::parse("4x8")->fits_in(node));
  EXPECT_TRUE(Topology::parse("2x2")->fits_in(node));
  EXPECT_FALSE(Topology::parse("8x4")->fits_in(node));
  EXPECT_FALSE(Topology::parse("2x2x1")->fits_in(node));
}

TEST(Bounds, PrintLikeTheDevicePlugin) { EXPECT_EQ(to_string(Bounds{2, 4, 1}), "2,4,1"); }

}  // namespace
}  // namespace tpuslice::tpu
