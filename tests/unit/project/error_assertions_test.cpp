// A test of an error names its code: EXPECT_THAT(result, IsError(ErrorCode::kConflict)).
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "tests/unit/project/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;

TEST(ErrorAssertions, NameTheCodeInFilesThatHaveTheMatcher) {
  static const RE2 kBare(R"((EXPECT|ASSERT)_FALSE\(.*\.ok\(\)\))");
  const std::string matcher = "#include \"tests/support/error_matchers.h\"";
  std::vector<std::string> found;
  for (const SourceFile& file : read_sources({"tests"})) {
    if (std::ranges::find(file.lines, matcher) == file.lines.end()) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (RE2::PartialMatch(file.lines[i], kBare)) found.push_back(fmt::format("{}:{}", file.path, i + 1));
    }
  }
  EXPECT_THAT(found, IsEmpty()) << "write: EXPECT_THAT(result, IsError(ErrorCode::k...))";
}

}  // namespace
}  // namespace tpuslice
