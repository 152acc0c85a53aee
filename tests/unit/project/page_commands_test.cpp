// Every command in a code block of a page is run by a test, or stands in tests/support/page_commands_without_test.cpp
// with the reason why no test can run it.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/page_commands.h"
#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// The test runs all commands below the heading that it can run, as they stand on the page.
struct TestedSection {
  std::string page;
  std::string heading;  ///< Empty: those of the whole page.
  std::string test;     ///< The folder with its sources, which name page and heading.
};

const std::vector<TestedSection>& tested_sections() {
  static const std::vector<TestedSection> kSections = {
      {"README.md", "## Try it", "tests/e2e/docs"},
      {"README.md", "## Install it", "tests/e2e/docs"},
      {"docs/install.md", "# Install", "tests/e2e/uninstall"},
      {"docs/install.md", "## Kustomize", "tests/e2e/install"},
      {"docs/install.md", "## Helm", "tests/e2e/install"},
      {"docs/install.md", "### Other values", "tests/e2e/docs"},
      {"docs/install.md", "### Uninstall the chart", "tests/e2e/docs"},
      {"docs/install.md", "## Remove", "tests/e2e/uninstall"},
      {"docs/install.md", "### Jobs that still have the gate", "tests/e2e/docs"},
      {"docs/install.md", "### Pods from before the installation", "tests/e2e/docs"},
      {"docs/install.md", "### Install again", "tests/e2e/uninstall"},
      {"docs/observability.md", "", "tests/e2e/docs"},
      {"docs/simulator.md", "", "tests/e2e/docs"},
      {"docs/slices.md", "", "tests/e2e/docs"},
      {"docs/troubleshooting.md", "", "tests/e2e/docs"},
      {"docs/upgrade.md", "## From upstream's CRDs", "tests/e2e/crds"},
      {"docs/upgrade.md", "### Remove upstream's controller and keep the definitions", "tests/e2e/install"},
      {"docs/upgrade.md", "### Objects stored as v1alpha1", "tests/e2e/crds"},
      {"docs/upgrade.md", "### A conversion webhook that is left", "tests/e2e/crds"},
      {"docs/upgrade.md", "## Between versions of the operator", "tests/e2e/docs"},
  };
  return kSections;
}

bool contains(const TestedSection& section, const PageCommand& command) {
  return section.page == command.page && (section.heading.empty() || section.heading == command.heading);
}

std::vector<PageCommand> all_commands() {
  std::vector<PageCommand> commands;
  for (const SourceFile& page : read_files({"README.md", "CONTRIBUTING.md", "docs", "deploy"}, {".md"})) {
    for (PageCommand& command : commands_of_text(page.path, text_of(page))) commands.push_back(std::move(command));
  }
  return commands;
}

TEST(PageCommands, AreRunByATestOrCannotBe) {
  const auto commands = all_commands();
  EXPECT_THAT(commands, SizeIs(testing::Gt(100U)));
  std::vector<std::string> untested;
  for (const PageCommand& command : commands) {
    const bool tested =
        std::ranges::any_of(tested_sections(), [&](const auto& section) { return contains(section, command); });
    if (tested || !reason_without_test(command).empty()) continue;
    untested.push_back(fmt::format("{}: {}", command.where(), command.text));
  }
  EXPECT_THAT(untested, IsEmpty()) << "run them in a test that is listed above, as tests/e2e/docs does";
}

TEST(PageCommands, ThatNoTestRunsAreOnAPage) {
  std::set<std::string> on_pages;
  for (const PageCommand& command : all_commands()) on_pages.insert(command.text);
  for (const auto& [text, reason] : commands_without_test()) {
    EXPECT_TRUE(on_pages.contains(text)) << text << ": on no page";
  }
}

TEST(PageCommands, TestsNameTheSectionsThatTheyRun) {
  const auto commands = all_commands();
  for (const TestedSection& section : tested_sections()) {
    const bool some = std::ranges::any_of(commands, [&](const PageCommand& command) {
      return contains(section, command) && reason_without_test(command).empty();
    });
    EXPECT_TRUE(some) << section.page << " has no commands below \"" << section.heading << "\"";
    std::string sources;
    for (const SourceFile& file : read_sources({section.test})) sources += text_of(file);
    EXPECT_THAT(sources, HasSubstr("\"" + section.page + "\"")) << section.test;
    EXPECT_THAT(sources, HasSubstr(section.heading.empty() ? "" : "\"" + section.heading + "\"")) << section.test;
  }
}

TEST(PageCommands, AreLinesWithoutTheirComments) {
  const auto commands = commands_of_text("a.md",
                                         "# A\n```sh\n# none\necho '#'  # prints\n\nmake x ARGS=\"a # b\"\n```\n"
                                         "```yaml\nkey: value\n```\n## B\n- item\n  ```bash\n  two\n  ```\n");
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_EQ(commands[0].text, "echo '#'");
  EXPECT_EQ(commands[0].comment, "prints");
  EXPECT_EQ(commands[0].heading, "# A");
  EXPECT_EQ(commands[0].where(), "a.md:4");
  EXPECT_EQ(commands[1].text, "make x ARGS=\"a # b\"");
  EXPECT_EQ(commands[2].text, "two");
  EXPECT_EQ(commands[2].heading, "## B");
}

TEST(PageCommands, GoOnBehindABackslashAndWithinQuotes) {
  const auto commands = commands_of_text("a.md", "```sh\none \\\n  --flag\njq 'a\n  | b'   # c\nthree\n```\n");
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_EQ(commands[0].text, "one \\\n  --flag");
  EXPECT_EQ(commands[1].text, "jq 'a\n  | b'");
  EXPECT_EQ(commands[1].comment, "c");
  EXPECT_EQ(commands[2].where(), "a.md:6");
}

TEST(PageCommands, OfAConsoleHaveOutput) {
  const auto commands = commands_of_text("a.md", "```\n$ one\nout\nput\n$ two\n```\n```\n A -> B\n```\n");
  ASSERT_THAT(commands, SizeIs(2));
  EXPECT_EQ(commands[0].text, "one");
  EXPECT_EQ(commands[0].output, "out\nput\n");
  EXPECT_EQ(commands[1].text, "two");
}

TEST(PageCommands, AreFoundBySection) {
  EXPECT_THAT(commands_of_section("docs/install.md", "### Install again"),
              ElementsAre("kubectl delete --ignore-not-found -f deploy/drain/gate-policy.yaml"));
  EXPECT_THAT(commands_of_section("docs/install.md", "## Remove", 1), ElementsAre(HasSubstr("--drain")));
  EXPECT_THAT(commands_of_section("docs/install.md", "## Remove", 2), IsEmpty());
  EXPECT_THAT(commands_of_page("docs/none.md"), IsEmpty());
  EXPECT_THAT(commands_of_page("docs/observability.md"), Not(IsEmpty()));
}

}  // namespace
}  // namespace tpuslice
