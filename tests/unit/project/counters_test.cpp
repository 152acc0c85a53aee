// The definitions of counters that plans increment are constants, and each is in a list that its kind or controller
// declares: the operator increments no other.
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "tests/support/source_tree.h"

namespace tpuslice {
namespace {

TEST(Counters, OfPlansAreDeclared) {
  std::set<std::string> constants;
  std::set<std::string> listed;
  for (const SourceFile& file : read_sources({"controllers", "tests/example_kind"})) {
    const std::string text = text_of(file);
    std::string name;
    for (re2::StringPiece rest = text; RE2::FindAndConsume(&rest, R"(const plan::CounterDefinition (k\w+))", &name);) {
      constants.insert(name);
    }
    for (re2::StringPiece rest = text; RE2::FindAndConsume(&rest, R"(&(?:\w+::)*(k\w+))", &name);) listed.insert(name);
  }
  EXPECT_GE(constants.size(), 6U);
  EXPECT_THAT(constants, testing::IsSubsetOf(listed));
}

}  // namespace
}  // namespace tpuslice
