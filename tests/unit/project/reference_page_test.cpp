// docs/reference.md lists every name that users see: annotations, labels, conditions, event reasons, metrics, flags.
// These tests compare the page with the string literals of the source code, in both directions.
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

using testing::ElementsAreArray;
using testing::IsSubsetOf;
using Names = std::set<std::string>;

/// What the first group of `pattern` matches in `text`.
void collect(const std::string& text, const std::regex& pattern, Names& names) {
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    names.insert((*match)[1].str());
  }
}

/// The names in the code of the operator.
Names in_code(const std::string& pattern,
              const std::vector<std::string>& folders = {"api/base", "api/client", "api/http", "api/types",
                                                         "cmd/tpu-slice-operator", "controllers", "tpu", "webhook"}) {
  Names names;
  const std::regex regex(pattern);
  for (const SourceFile& file : read_sources(folders)) collect(text_of(file), regex, names);
  return names;
}

/// The names on the page, which stand in backticks.
Names on_page(const std::string& pattern) {
  Names names;
  collect(text_of(read_files({"docs/reference.md"}, {}).front()), std::regex("`" + pattern + "`"), names);
  return names;
}

Names without(Names names, const Names& others) {
  for (const std::string& other : others) names.erase(other);
  return names;
}

TEST(ReferencePage, ListsTheAnnotationsLabelsAndConditions) {
  // The prefix alone selects annotations; the other one is the reportingController of events.
  const Names code = without(in_code(R"re("(tpuslice\.dev/[A-Za-z-]+)")re"), {"tpuslice.dev/operator"});
  EXPECT_THAT(on_page("(tpuslice\\.dev/[A-Za-z-]+)"), ElementsAreArray(code));
}

TEST(ReferencePage, ListsTheMetrics) {
  const std::string name = "((?:tpuslice|kuberay|controller_runtime|workqueue|rest_client|leader_election)_[a-z_]+)";
  EXPECT_THAT(on_page(name), ElementsAreArray(in_code("\"" + name + "\"")));
}

TEST(ReferencePage, ListsTheFlags) {
  EXPECT_THAT(on_page("(--[a-z-]+)"),
              ElementsAreArray(in_code(R"re("(--[a-z-]+)")re", {"cmd/tpu-slice-operator/options.cpp"})));
}

TEST(ReferencePage, ListsTheEventReasons) {
  const Names code = in_code(R"re(EventType::k(?:Normal|Warning),\s*"([A-Za-z]+)")re", {"controllers"});
  EXPECT_GT(code.size(), 10U);
  EXPECT_THAT(code, IsSubsetOf(on_page("([A-Z][A-Za-z]+)")));
}

/// The reasons of the events of golden plans. Unlike a condition, an event has the type Normal or Warning.
Names in_golden_plans() {
  Names names;
  for (const SourceFile& file : read_files({"tests/golden"}, {".yaml"})) {
    if (!file.path.ends_with("/plan.yaml")) continue;
    std::string reason;
    for (const std::string& line : file.lines) {
      const std::string_view field = std::string_view(line).substr(std::min(line.find_first_not_of(" -"), line.size()));
      if (field.starts_with("reason: ")) reason = field.substr(8);
      if (field == "type: Normal" || field == "type: Warning") names.insert(reason);
    }
  }
  return names;
}

TEST(ReferencePage, ListsTheEventReasonsOfGoldenPlans) {
  Names plans = in_golden_plans();
  EXPECT_GT(plans.size(), 20U);
  std::erase_if(plans, [](const std::string& reason) { return reason.starts_with("FailurePolicy_"); });
  EXPECT_THAT(plans, IsSubsetOf(on_page("([A-Z][A-Za-z]+)")));
}

}  // namespace
}  // namespace tpuslice
