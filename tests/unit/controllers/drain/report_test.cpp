#include "controllers/drain/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::drain {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(DrainReport, NamesTheLargestNumbersFirst) {
  Report report;
  report.pods = {{"a", 4}, {"b", 12}};
  report.slices = 4;
  report.configurations = {"MutatingWebhookConfiguration tpu-slice-operator"};
  EXPECT_THAT(report.to_string(), AllOf(StartsWith("deleted: MutatingWebhookConfiguration tpu-slice-operator\n"),
                                        HasSubstr("gate removed from pods: 16 (b: 12, a: 4), of 4 slices\n"),
                                        HasSubstr("scout pods deleted: 0\n"),
                                        EndsWith("nothing of tpu-slice-operator holds pods or objects any more\n")));
}

TEST(DrainReport, IsOfBoundedLength) {
  Report report;
  for (int i = 0; i < 500; ++i) {
    report.pods[fmt::format("team-{:03}", i)] = 1;
    report.remaining.push_back({fmt::format("pod default/p-{:03}: refused", i), "kubectl do"});
  }
  const std::string text = report.to_string();
  EXPECT_THAT(text, AllOf(HasSubstr("500 (team-000: 1, "), HasSubstr("team-009: 1, 490 more namespaces)"),
                          Not(HasSubstr("team-010"))));
  EXPECT_THAT(text, AllOf(HasSubstr("remaining: 500\n- pod default/p-000: refused\n    kubectl do\n"),
                          EndsWith("- 480 more\n"), Not(HasSubstr("p-020")), Not(HasSubstr("any more"))));
}

TEST(DrainReport, OfADryRunDoesNotSayThatAnythingWasDone) {
  Report report;
  report.dry_run = true;
  EXPECT_THAT(report.to_string(), AllOf(StartsWith("dry run: nothing was changed"), Not(HasSubstr("any more"))));
}

}  // namespace
}  // namespace tpuslice::drain
