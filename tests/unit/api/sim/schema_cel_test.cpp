#include "api/sim/schema/cel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::sim::cel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Json& world() {
  static const Json kWorld = Json::parse(R"({
    "replicas": 3, "ratio": 0.5, "name": "train", "gone": null, "on": true,
    "labels": {"app": "ray", "google.com/tpu": "4"}, "namespace": "default", "a-b": 1,
    "items": [{"name": "a", "limit": 4}, {"name": "b"}], "numbers": [1, 2, 3]})");
  return kWorld;
}

Result<Json> run(const std::string& text) {
  const auto parsed = Expression::parse(text, {"self", "oldSelf"});
  if (!parsed) return parsed.error();
  return parsed->evaluate({{"self", &world()}});
}

TEST(Cel, EvaluatesExpressions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 / 2", "3"},
      {"-7 % 3", "-1"},
      {"0x10", "16"},
      {"1.5 + 1.0", "2.5"},
      {"2u == 2", "true"},
      {"1 == 1.0", "true"},
      {"'a' + \"b\"", "\"ab\""},
      {"'it\\'s'", "\"it's\""},
      {"r'\\d'", R"("\\d")"},
      {"[1, 2] + [3]", "[1,2,3]"},
      {"{'a': 1}.a", "1"},
      {"{'a': [5]}['a'][0]", "5"},
      {"self.replicas >= 3 && self.name == 'train'", "true"},
      {"self.replicas == 1 || self.on", "true"},
      {"!(self.replicas in [1, 2])", "true"},
      {"self.replicas > 2 ? 'big' : 'small'", "\"big\""},
      {"false ? 1 : true ? 2 : 3", "2"},
      {"has(self.name)", "true"},
      {"has(self.labels.app) && !has(self.labels.team)", "true"},
      {"'google.com/tpu' in self.labels", "true"},
      {"self.labels['google.com/tpu']", "\"4\""},
      {"size(self.items) == 2 && self.items.size() == 2", "true"},
      {"size('é')", "1"},
      {"self.name.startsWith('tr') && self.name.endsWith('in') && self.name.contains('rai')", "true"},
      {"self.name.matches('^t.*n$')", "true"},
      {"matches(self.name, '^a')", "false"},
      {"self.items.exists(i, has(i.limit) && i.limit == 4)", "true"},
      {"self.items.all(i, i.name != '')", "true"},
      {"self.items.exists_one(i, has(i.limit))", "true"},
      {"self.numbers.filter(n, n > 1)", "[2,3]"},
      {"self.numbers.map(n, n * 2)", "[2,4,6]"},
      {"self.numbers.map(n, n > 1, n * 2)", "[4,6]"},
      {"self.labels.all(k, k.size() > 2)", "true"},
      {"self.items.exists(i, self.numbers.exists(n, has(i.limit) && n == i.limit - 1))", "true"},
      {"int('12') + int(1.9)", "13"},
      {"string(5) + string(true)", "\"5true\""},
      {"self.gone == null", "true"},
      {"self.__namespace__ == 'default' && self.a__dash__b == 1", "true"},
      {"'B'.lowerAscii()", "\"b\""},
      {"1 < 2 // a comment", "true"},
      {"'x' == 1", "false"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Json> result = run(text);
    ASSERT_TRUE(result.ok()) << text << ": " << result.error().message();
    EXPECT_EQ(result->dump(), expected) << text;
  }
}

TEST(Cel, FailsAtEvaluationInCelsWords) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"self.missing", "no such key: missing"},
      {"self.labels['x']", "no such key: x"},
      {"self.numbers[7]", "index out of bounds: 7"},
      {"self.name > 1", "no such overload"},
      {"self.name && true", "no such overload: expected bool, found string"},
      {"1 / 0", "division by zero"},
      {"1 % 0", "modulus by zero"},
      {"9223372036854775807 + 1", "integer overflow"},
      {"int('x')", "type conversion error"},
      {"self.replicas.all(i, true)", "no such overload: all() on int"},
      {"oldSelf == 1", "no such attribute: oldSelf"},
      {"self.name.matches('(' + self.name)", "error parsing regexp"},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Json> result = run(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(result.error().message(), HasSubstr(expected)) << text;
  }
}

TEST(Cel, RefusesWhatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "unexpected end"},
      {"self.", "unexpected end"},
      {"1 +", "unexpected end"},
      {"(1", "expected ')'"},
      {"a == 1", "undeclared reference to 'a'"},
      {"self.items.exists(i, j)", "undeclared reference to 'j'"},
      {"self.items.exists(i, true) && i", "undeclared reference to 'i'"},
      {"self.items.sort()", "undeclared reference to 'sort'"},
      {"quantity('1')", "undeclared reference to 'quantity'"},
      {"self.name.startsWith()", "undeclared reference to 'startsWith' (with 0 arguments)"},
      {"has(self)", "invalid argument to has()"},
      {"'open", "string is not closed"},
      {"'\\q'", "unsupported escape"},
      {"self.name.matches('(')", "invalid matches argument"},
      {"b'x'", "bytes are not supported"},
      {"self.?name", "unexpected '?'"},
      {"1 2", "unexpected '2'"},
      {"self # x", "unexpected character '#'"},
      {"99999999999999999999", "out of range"},
      {std::string(300, '(') + "1", "nested deeper"},
      {std::string(300, '!') + "true", "nested deeper"},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = Expression::parse(text, {"self"});
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().message(), HasSubstr(expected)) << text;
  }
}

TEST(Cel, AFailingSideDoesNotMatterWhereTheOtherDecides) {
  EXPECT_EQ(*run("self.missing == 1 || true"), Json(true));
  EXPECT_EQ(*run("true || self.missing == 1"), Json(true));
  EXPECT_EQ(*run("self.missing == 1 && false"), Json(false));
  EXPECT_FALSE(run("self.missing == 1 && true").ok());
  EXPECT_EQ(*run("self.items.exists(i, i.limit == 4)"), Json(true));
  EXPECT_FALSE(run("self.items.exists(i, i.limit == 5)").ok());
}

TEST(Cel, TellsWhatAnExpressionReads) {
  const auto parsed =
      Expression::parse("self.a.b == oldSelf.c && self.list.all(x, x.y == self.z)", {"self", "oldSelf"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_THAT(parsed->uses(), ElementsAre("oldSelf", "self"));
  EXPECT_THAT(parsed->chains(), ElementsAre(ElementsAre("self", "a", "b"), ElementsAre("oldSelf", "c"),
                                            ElementsAre("self", "list"), ElementsAre("self", "z")));
}

TEST(Cel, HoldsOnlyForTruthValues) {
  const auto parsed = Expression::parse("self.name", {"self"});
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->holds({{"self", &world()}}).ok());
}

}  // namespace
}  // namespace tpuslice::sim::cel
