// Pages and comments name files, folders and functions: all of them must exist.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

namespace fs = std::filesystem;

using testing::IsEmpty;
using testing::SizeIs;

std::vector<SourceFile> pages() {
  return read_files({"README.md", "CONTRIBUTING.md", "docs", "deploy", "tests/example_kind"}, {".md"});
}

std::vector<SourceFile> commented_sources() {
  return read_sources({"api", "cmd", "controllers", "fleet", "tests", "tpu", "webhook"});
}

/// All of `text` that the group of `pattern` matches.
std::vector<std::string> matches_in(const std::string& text, const RE2& pattern) {
  std::vector<std::string> found;
  re2::StringPiece rest(text);
  for (std::string match; RE2::FindAndConsume(&rest, pattern, &match);) found.push_back(match);
  return found;
}

/// Whether a source file has this name, which may lack the first folders of its path.
bool is_source(const std::string& name) {
  static const std::set<std::string> kEnds = [] {
    std::set<std::string> ends;
    for (const SourceFile& file : commented_sources()) {
      ends.insert(file.path);
      for (std::size_t at = 0; (at = file.path.find('/', at)) != std::string::npos;)
        ends.insert(file.path.substr(++at));
    }
    return ends;
  }();
  return kEnds.contains(name);
}

TEST(PagePaths, AreFilesOrFolders) {
  // Not the parts of an address, a link or a longer path.
  static const RE2 kPath(R"([^\w./:@(-]((?:api|cmake|cmd|controllers|deploy|docs|tests|tpu|webhook)/[\w./*<>{},-]*))");
  std::vector<std::string> paths;
  std::vector<std::string> missing;
  for (const SourceFile& page : pages()) {
    for (std::string path : matches_in(text_of(page), kPath)) {
      // Of "tests/e2e/scenarios/<name>.yaml" the folder.
      const std::size_t placeholder = path.find_first_of("*<{");
      if (placeholder != std::string::npos) path.resize(path.rfind('/', placeholder));
      path.resize(path.find_last_not_of(".,/") + 1);
      paths.push_back(path);
      if (!fs::exists(path)) missing.push_back(fmt::format("{}: {}", page.path, path));
    }
  }
  EXPECT_THAT(paths, SizeIs(testing::Gt(100U)));
  EXPECT_THAT(missing, IsEmpty());
}

TEST(PagePaths, OfLinksLeadToFiles) {
  static const RE2 kLink(R"(\]\(([^()#:\s]+)(?:#[^()\s]*)?\))");
  std::vector<std::string> missing;
  for (const SourceFile& page : pages()) {
    for (const std::string& link : matches_in(text_of(page), kLink)) {
      if (!fs::exists(fs::path(page.path).parent_path() / link)) missing.push_back(page.path + ": " + link);
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(PagePaths, OfSourcesMayLackTheFirstFolders) {
  static const RE2 kName(R"(`([\w/-]+\.(?:h|cpp))`)");
  std::vector<std::string> missing;
  for (const SourceFile& page : pages()) {
    for (const std::string& name : matches_in(text_of(page), kName)) {
      if (!is_source(name)) missing.push_back(page.path + ": " + name);
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(PagePaths, OfSourcesInCommentsExist) {
  static const RE2 kName(R"([^\w./:"<>-]([\w/-]+\.(?:h|cpp))\b)");
  std::vector<std::string> missing;
  for (const SourceFile& file : commented_sources()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::size_t comment = file.lines[i].find("//");
      if (comment == std::string::npos) continue;
      for (const std::string& name : matches_in(file.lines[i].substr(comment), kName)) {
        if (!is_source(name)) missing.push_back(fmt::format("{}:{}: {}", file.path, i + 1, name));
      }
    }
  }
  EXPECT_THAT(missing, IsEmpty());
}

// "    Store::put   controllers/runtime/watch/store.h   indexes, then the listeners"
TEST(PagePaths, OfWalksContainTheirFunctions) {
  static const RE2 kStep(R"(\s+(?:(\w+)::)?(\w+)\s+((?:api|cmd|controllers|tpu|webhook)/[\w/-]+\.(?:h|cpp))(?:\s.*)?)");
  int steps = 0;
  std::vector<std::string> missing;
  for (const SourceFile& page : read_files({"docs/architecture.md"}, {})) {
    for (const std::string& line : page.lines) {
      std::string type;
      std::string function;
      std::string path;
      if (!RE2::FullMatch(line, kStep, &type, &function, &path)) continue;
      ++steps;
      const std::vector<SourceFile> file = read_files({path}, {});
      const std::string text = text_of(file.front());
      const bool has_function = RE2::PartialMatch(text, fmt::format(R"(\b{}\()", function));
      if (!has_function || !RE2::PartialMatch(text, fmt::format(R"(\b{}\b)", type))) missing.push_back(line);
    }
  }
  EXPECT_GT(steps, 50);
  EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace tpuslice
