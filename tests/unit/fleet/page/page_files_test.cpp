#include "fleet/page/page_files.h"

#include <filesystem>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "tests/support/source_tree.h"

namespace tpuslice::fleet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PageFiles, AreThoseOfTheSourceTree) {
  std::set<std::string> expected;
  for (const auto& entry : std::filesystem::directory_iterator("fleet/page")) {
    const std::string name = entry.path().filename();
    const std::string extension = entry.path().extension();
    // types.js has types for the checker alone.
    if ((extension == ".html" || extension == ".css" || extension == ".js" || extension == ".svg") &&
        name != "types.js") {
      expected.insert(name);
    }
  }
  std::set<std::string> found;
  for (const PageFile& file : page_files()) {
    found.insert(std::string(file.name));
    EXPECT_EQ(file.text, read_file("fleet/page/" + std::string(file.name)).value()) << file.name;
  }
  EXPECT_EQ(found, expected);
  EXPECT_EQ(page_files().front().name, "index.html");
}

TEST(PageFiles, AreFoundByName) {
  ASSERT_NE(find_page_file("main.js"), nullptr);
  EXPECT_EQ(find_page_file("main.js")->name, "main.js");
  EXPECT_EQ(find_page_file("types.js"), nullptr);
  EXPECT_EQ(find_page_file("../main.js"), nullptr);
}

// Texts of users must not become markup, and nothing is loaded from elsewhere.
TEST(PageFiles, MakeNoMarkupOfTextsAndNameNoOtherServer) {
  for (const PageFile& file : page_files()) {
    const std::string text(file.text);
    for (const char* word : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                             " style=\"", "onclick="}) {
      EXPECT_THAT(text, Not(HasSubstr(word))) << file.name;
    }
    if (file.name == "icon.svg") continue;  // It names its XML namespace.
    EXPECT_THAT(text, Not(HasSubstr("://"))) << file.name;
  }
}

TEST(PageFiles, AreShort) {
  for (const SourceFile& file : read_files({"fleet/page", "tests/page"}, {".js", ".mjs", ".css", ".html"})) {
    EXPECT_LE(file.lines.size(), 400U) << file.path;
  }
}

}  // namespace
}  // namespace tpuslice::fleet
