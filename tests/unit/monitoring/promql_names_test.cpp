#include "tests/unit/monitoring/promql_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(PromqlNames, AreMetricsMatchersAndGroups) {
  const auto names = read_promql(
      R"(histogram_quantile(0.99, sum by (le, name) (rate(a_bucket{job="x y",code=~"4..|{"}[5m]))) > 2 * 60
         unless on (name) max without (pod) (b offset 5m))");
  ASSERT_TRUE(names.ok()) << names.error().message();
  ASSERT_THAT(names->selectors, SizeIs(2));
  EXPECT_EQ(names->selectors[0].metric, "a_bucket");
  EXPECT_THAT(names->selectors[0].labels, ElementsAre("code", "job"));
  EXPECT_EQ(names->selectors[1].metric, "b");
  EXPECT_THAT(names->selectors[1].labels, IsEmpty());
  EXPECT_THAT(names->grouping, ElementsAre("le", "name", "pod"));
}

TEST(PromqlNames, ReportErrors) {
  const std::pair<const char*, const char*> kErrors[] = {
      {"sum(a", "not closed"},
      {"sum(a))", "not open"},
      {"rat(a[5m])", "unknown function rat"},
      {"rate(a[5x])", "invalid duration"},
      {"a{job=x}", "comparison with a string"},
      {"a{job=\"x}", "string does not end"},
      {"a{job=\"x\"", "matchers do not end"},
      {"sum by le (a)", "expected labels"},
      {"1 + 2", "no metric"},
      {"a & b", "unexpected character"},
  };
  for (const auto& [expression, message] : kErrors) {
    const auto names = read_promql(expression);
    EXPECT_THAT(names, IsError(ErrorCode::kInvalidArgument, HasSubstr(message))) << expression;
  }
}

}  // namespace
}  // namespace tpuslice::testing
