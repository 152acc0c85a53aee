// A test of an error names its code: EXPECT_THAT(result, IsError(ErrorCode::kConflict)).
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;

// An ExecutionReport is not a Result; a real API server chooses the codes in tests/e2e.
TEST(ErrorAssertions, NameTheCode) {
  static const RE2 kBare(R"((EXPECT|ASSERT)_FALSE\(.*\.ok\(\)\))");
  static const RE2 kReport(R"(_FALSE\(report_?\.ok\(\)\))");
  std::vector<std::string> found;
  for (const SourceFile& file : read_sources({"tests"})) {
    if (file.path.starts_with("tests/e2e/")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (!RE2::PartialMatch(line, kBare) || RE2::PartialMatch(line, kReport)) continue;
      found.push_back(fmt::format("{}:{}: {}", file.path, i + 1, line));
    }
  }
  EXPECT_THAT(found, IsEmpty()) << "write: EXPECT_THAT(result, IsError(ErrorCode::k...))";
}

}  // namespace
}  // namespace tpuslice
