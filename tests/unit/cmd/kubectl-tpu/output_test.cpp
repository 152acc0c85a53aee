#include "cmd/kubectl-tpu/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

using std::chrono::seconds;

TEST(Output, AgesArePrintedAsByKubectl) {
  EXPECT_EQ(short_age(seconds(-5)), "0s");
  EXPECT_EQ(short_age(seconds(119)), "119s");
  EXPECT_EQ(short_age(seconds(120)), "2m");
  EXPECT_EQ(short_age(seconds(185)), "3m5s");
  EXPECT_EQ(short_age(seconds(52 * 60 + 7)), "52m");
  EXPECT_EQ(short_age(seconds(3 * 3600 + 7 * 60)), "3h7m");
  EXPECT_EQ(short_age(seconds(14 * 3600 + 7 * 60)), "14h");
  EXPECT_EQ(short_age(seconds(53 * 3600)), "2d5h");
  EXPECT_EQ(short_age(seconds(40 * 86400)), "40d");
}

}  // namespace
}  // namespace tpuslice::plugin
