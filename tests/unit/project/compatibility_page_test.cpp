// Each row of the tables in docs/compatibility.md names what tests it in its last column: scenarios by file name, for
// JobSet and LeaderWorkerSet also without the kind; test files; or golden files. All of them must exist.
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/strings.h"
#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::IsEmpty;
using Names = std::set<std::string>;

constexpr std::string_view kLastColumn = "tested by";

/// File names without extension below `folder`.
Names stems(const std::string& folder, const Names& extensions) {
  Names names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (extensions.contains(entry.path().extension().string())) names.insert(entry.path().stem().string());
  }
  return names;
}

struct Row {
  std::string text;
  std::string section;
  std::vector<std::string> cells;
};

/// Of "| a | b |". Code in a cell has no '|'.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  const std::string_view inner = std::string_view(line).substr(1, line.rfind('|') - 1);
  for (const std::string_view cell : split(inner, '|')) cells.push_back(trimmed(cell));
  return cells;
}

/// Rows of all tables with the column `tested by`; the table of limits has none. A row that lacks a cell is in it
/// without cells.
std::vector<Row> tested_rows() {
  std::vector<Row> rows;
  std::string section;
  std::vector<std::string> header;
  const std::vector<SourceFile> page = read_files({"docs/compatibility.md"}, {});
  for (const std::string& line : page.front().lines) {
    if (line.starts_with("#")) section = line;
    if (!line.starts_with("|")) {
      header.clear();
    } else if (header.empty()) {
      header = cells_of(line);
    } else if (header.back() == kLastColumn && !line.starts_with("| ---")) {
      const std::vector<std::string> cells = cells_of(line);
      rows.push_back({line, section, cells.size() == header.size() ? cells : std::vector<std::string>()});
    }
  }
  return rows;
}

TEST(CompatibilityPage, NamesAScenarioOrTestInEveryRow) {
  const Names scenarios = stems("tests/e2e/scenarios", {".yaml"});
  const Names tests = stems("tests", {".cpp", ".py"});
  const RE2 name("([a-z0-9_-]+)");
  std::vector<std::string> unknown;
  const std::vector<Row> rows = tested_rows();
  EXPECT_GT(rows.size(), 100U);
  for (const Row& row : rows) {
    const std::string kind = row.section.starts_with("## JobSet") ? "jobset-" : "leaderworkerset-";
    int known = 0;
    if (row.cells.empty()) unknown.push_back("another number of cells than the header: " + row.text);
    for (const std::string& part : row.cells.empty() ? row.cells : split(row.cells.back(), ',')) {
      const std::string each = trimmed(part);
      if (each == "golden files" || tests.contains(each) || scenarios.contains(each) ||
          scenarios.contains(kind + each)) {
        ++known;
      } else if (RE2::FullMatch(each, name)) {
        unknown.push_back(fmt::format("{}: {}", each, row.text));
      }
    }
    if (known == 0) unknown.push_back("names no test: " + row.text);
  }
  EXPECT_THAT(unknown, IsEmpty());
}

}  // namespace
}  // namespace tpuslice
