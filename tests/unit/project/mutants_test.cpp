// The patches of `make mutants` (tests/laws/mutants) apply exactly, as mutants.sh demands hours later.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;
using testing::Not;

/// The lines of a patch that the patched file has, by hunk.
std::vector<std::vector<std::string>> old_lines(const SourceFile& patch) {
  std::vector<std::vector<std::string>> hunks;
  for (const std::string& line : patch.lines) {
    if (line.starts_with("--- ") || line.starts_with("+++ ")) continue;
    if (line.starts_with("@@")) {
      hunks.emplace_back();
    } else if (!hunks.empty() && (line.starts_with(' ') || line.starts_with('-'))) {
      hunks.back().push_back(line.substr(1));
    }
  }
  return hunks;
}

TEST(Mutants, ApplyToTheSources) {
  std::vector<std::string> outdated;
  const std::vector<SourceFile> patches = read_files({"tests/laws/mutants"}, {".patch"});
  ASSERT_THAT(patches, Not(IsEmpty()));
  for (const SourceFile& patch : patches) {
    const auto header = std::ranges::find_if(patch.lines, [](const auto& line) { return line.starts_with("+++ "); });
    ASSERT_NE(header, patch.lines.end()) << patch.path;
    const std::vector<SourceFile> patched = read_files({header->substr(4)}, {".cpp", ".h"});
    const auto is_in_file = [&](const std::vector<std::string>& lines) {
      return patched.size() == 1 && !std::ranges::search(patched[0].lines, lines).empty();
    };
    const auto hunks = old_lines(patch);
    EXPECT_THAT(hunks, Not(IsEmpty())) << patch.path;
    if (!std::ranges::all_of(hunks, is_in_file)) outdated.push_back(patch.path);
  }
  EXPECT_THAT(outdated, IsEmpty()) << "write them again for the sources as they are now";
}

}  // namespace
}  // namespace tpuslice
