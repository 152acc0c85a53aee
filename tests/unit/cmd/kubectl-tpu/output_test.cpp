#include "cmd/kubectl-tpu/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

TEST(Output, FormatsHaveTheNamesOfKubectl) {
  EXPECT_EQ(parse_format("wide"), Format::kWide);
  EXPECT_EQ(parse_format("json"), Format::kJson);
  EXPECT_EQ(parse_format("yaml"), Format::kYaml);
  EXPECT_EQ(parse_format("name"), Format::kName);
  EXPECT_EQ(parse_format(""), Format::kTable);
}

TEST(Output, ColourEndsWithTheText) { EXPECT_EQ(with_colour(Colour::kRed, "broken") + "|", "\x1b[31mbroken\x1b[0m|"); }

}  // namespace
}  // namespace tpuslice::plugin
