#include "cmd/tpu-slice-sim/schema/cel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::sim::cel {
namespace {

using ::testing::HasSubstr;

const Json& object() {
  static const Json kObject = Json::parse(R"({
    "replicas": 3, "size": 4, "name": "train", "on": true,
    "labels": {"app": "ray", "google.com/tpu": "4"},
    "items": [{"name": "a", "limit": 4}, {"name": "b"}], "numbers": [1, 2, 3]})");
  return kObject;
}

Result<bool> run(const std::string& text) {
  const auto parsed = Expression::parse(text, {"self", "oldSelf"});
  if (!parsed) return parsed.error();
  return parsed->holds({{"self", &object()}});
}

TEST(Cel, EvaluatesExpressions) {
  for (const char* text : {
           "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9",
           "(self.size - 1) % self.replicas == 0",
           "[1, 2] + [3] == [1, 2, 3]",
           "self.replicas >= 3 && self.name == 'train' && self.name != \"test\"",
           "self.replicas == 1 || self.on",
           "!(self.replicas in [1, 2])",
           "(self.replicas > 2 ? 'big' : 'small') == 'big'",
           "false ? false : true ? true : false",
           "has(self.labels.app) && !has(self.labels.team)",
           "'google.com/tpu' in self.labels && self.labels['google.com/tpu'] == '4'",
           "self.numbers[2] == 3",
           "size(self.items) == 2 && self.items.size() == 2 && size('é') == 1",
           "self.name.matches('^t.*n$') && !self.name.matches('^a')",
           "self.items.exists(i, has(i.limit) && i.limit == 4)",
           "self.items.all(i, i.name != '')",
           "self.labels.all(k, k.size() > 2)",
           "self.items.exists(i, self.numbers.exists(n, has(i.limit) && n == i.limit - 1))",
           "string(5) == '5' && string('x') == 'x'",
           "!('x' == 1)",
       }) {
    const Result<bool> result = run(text);
    ASSERT_TRUE(result.ok()) << text << ": " << result.error().message();
    EXPECT_TRUE(*result) << text;
  }
}

TEST(Cel, FailsAtEvaluationInCelsWords) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"self.missing", "no such key: missing"},
      {"self.labels['x'] == ''", "no such key: x"},
      {"self.numbers[7] == 1", "index out of bounds: 7"},
      {"self.name > 1", "no such overload"},
      {"self.name && true", "no such overload: expected bool, found string"},
      {"1 % 0 == 0", "modulus by zero"},
      {"9223372036854775807 + 1 == 0", "integer overflow"},
      {"self.replicas.all(i, true)", "no such overload: all() on int"},
      {"oldSelf == 1", "no such attribute: oldSelf"},
      {"self.name", "expected bool, found string"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<bool> result = run(text);
    EXPECT_THAT(result, IsError(ErrorCode::kInvalidArgument, HasSubstr(expected))) << text;
  }
}

TEST(Cel, RefusesExpressionsOutsideOfTheSubset) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "unexpected end"},
      {"self.", "unexpected end"},
      {"1 +", "unexpected end"},
      {"(1", "expected ')'"},
      {"a == 1", "undeclared reference to 'a'"},
      {"self.items.exists(i, j)", "undeclared reference to 'j'"},
      {"self.items.exists(i, true) && i", "undeclared reference to 'i'"},
      {"self.items.sort()", "undeclared reference to 'sort'"},
      {"self.items.map(i, i)", "undeclared reference to 'map'"},
      {"quantity('1')", "undeclared reference to 'quantity'"},
      {"has(self)", "invalid argument to has()"},
      {"'open", "string is not closed"},
      {"'\\n'", "escapes in strings are not supported"},
      {"self.name.matches('(')", "invalid matches argument"},
      {"self.?name", "unexpected '?'"},
      {"1 2", "unexpected '2'"},
      {"1.5 == 1", "unexpected"},
      {"self # x", "unexpected character '#'"},
      {"99999999999999999999", "out of range"},
      {std::string(300, '(') + "1", "nested deeper"},
      {std::string(300, '!') + "true", "nested deeper"},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = Expression::parse(text, {"self"});
    EXPECT_THAT(parsed, IsError(ErrorCode::kInvalidArgument, HasSubstr(expected))) << text;
  }
}

TEST(Cel, IgnoresTheErrorOfOneSideIfTheOtherSideDecides) {
  EXPECT_EQ(*run("self.missing == 1 || true"), true);
  EXPECT_EQ(*run("true || self.missing == 1"), true);
  EXPECT_EQ(*run("self.missing == 1 && false"), false);
  EXPECT_THAT(run("self.missing == 1 && true"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_EQ(*run("self.items.exists(i, i.limit == 4)"), true);
  EXPECT_THAT(run("self.items.exists(i, i.limit == 5)"), IsError(ErrorCode::kInvalidArgument));
}

TEST(Cel, ReportsTheVariablesThatAnExpressionReads) {
  const auto parsed = Expression::parse("self.list.all(x, x.y == self.z)", {"self", "oldSelf"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->uses("self"));
  EXPECT_FALSE(parsed->uses("oldSelf"));
}

}  // namespace
}  // namespace tpuslice::sim::cel
