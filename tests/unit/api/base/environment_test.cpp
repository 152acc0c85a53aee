#include "api/base/environment.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Environment, HasTheVariablesOfThisProcess) {
  setenv("TPUSLICE_ENVIRONMENT_TEST", "a=b", 1);
  EXPECT_THAT(environment_with({}), Contains("TPUSLICE_ENVIRONMENT_TEST=a=b"));
}

TEST(Environment, IsAddedTo) {
  const std::vector<std::string> entries = environment_with({{"PATH", "/a"}, {"A_NAME", "v=1"}, {"PATH", "/b"}});
  EXPECT_THAT(entries, Contains("PATH=/b").Times(1));
  EXPECT_THAT(entries, Contains("A_NAME=v=1"));
  EXPECT_THAT(entries, Not(Contains("PATH=/a")));
}

}  // namespace
}  // namespace tpuslice
