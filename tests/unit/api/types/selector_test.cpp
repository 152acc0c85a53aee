#include "api/types/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

Json json(std::string_view text) { return parse_json(text).value(); }

struct Match {
  const char* selector;
  StringMap labels;
  bool expected;
};

TEST(LabelSelector, MatchesLikeKubectl) {
  const std::vector<Match> table = {
      {"", {}, true},
      {"  ", {{"a", "b"}}, true},
      {"a=b", {{"a", "b"}}, true},
      {"a==b", {{"a", "b"}}, true},
      {"a = b", {{"a", "c"}}, false},
      {"a=", {{"a", ""}}, true},
      {"a=", {}, false},
      {"a!=b", {}, true},
      {"a!=b", {{"a", "b"}}, false},
      {"a in (x,y)", {{"a", "y"}}, true},
      {"a in (x, y)", {{"a", "z"}}, false},
      {"a in (x,)", {{"a", ""}}, true},
      {"a in ()", {{"a", ""}}, true},
      {"a in ()", {{"a", "x"}}, false},
      {"a notin (x)", {}, true},
      {"a notin (x)", {{"a", "x"}}, false},
      {"a", {{"a", ""}}, true},
      {"a", {}, false},
      {"!a", {}, true},
      {"!a", {{"a", "b"}}, false},
      {"a>1", {{"a", "2"}}, true},
      {"a<1", {{"a", "2"}}, false},
      {"a>1", {{"a", "many"}}, false},
      {"a>1", {}, false},
      {"in in (in),notin notin (x)", {{"in", "in"}}, true},
      {"a=b,c!=d,e in (x,y),f notin (z),g,!h", {{"a", "b"}, {"e", "x"}, {"g", "1"}}, true},
      {"a=b,c!=d,e in (x,y),f notin (z),g,!h", {{"a", "b"}, {"e", "x"}, {"g", "1"}, {"h", ""}}, false},
  };
  for (const Match& match : table) {
    const auto selector = LabelSelector::parse(match.selector);
    ASSERT_TRUE(selector.ok()) << match.selector << ": " << selector.error().message();
    EXPECT_EQ(selector->matches(match.labels), match.expected) << match.selector;
    EXPECT_EQ(LabelSelector::parse(selector->to_string()).value(), *selector) << "prints " << selector->to_string();
  }
}

TEST(LabelSelector, ErrorsNameThePosition) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"a=b,", "position 4: ends where a label key was expected"},
      {",a", "position 0: found ',' where a label key was expected"},
      {"a b", "position 2: found 'b' where"},
      {"a in x", "position 5: found 'x' where '(' was expected"},
      {"a in (x", "position 7: ends where ',' or ')' was expected"},
      {"a=b c", "position 4: found 'c' where ',' or the end was expected"},
      {"!", "position 1: ends where"},
      {"a>x", "\"x\" is not an integer"},
      {"a!b", "found '!'"},
      {"-a=b", "name part must consist of"},
      {"a=-", "a valid label must be"},
      {"a/b/c=d", "a qualified name must consist of"},
  };
  for (const auto& [text, expected_error] : table) {
    const auto selector = LabelSelector::parse(text);
    EXPECT_THAT(selector, IsError(ErrorCode::kInvalidArgument, HasSubstr(expected_error))) << text;
  }
}

TEST(LabelSelector, HasAnOppositeIfItIsOneRequirement) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"a", "!a"}, {"!a", "a"}, {"a=b", "a!=b"}, {"a in (b,c)", "a notin (b,c)"}, {"a notin (b,c)", "a in (b,c)"},
  };
  for (const auto& [text, opposite] : table) {
    const LabelSelector selector = LabelSelector::parse(text).value();
    ASSERT_TRUE(selector.opposite()) << text;
    EXPECT_EQ(selector.opposite()->to_string(), opposite);
    for (const StringMap& labels : {StringMap{}, {{"a", ""}}, {{"a", "b"}}, {{"a", "x"}}}) {
      EXPECT_NE(selector.matches(labels), selector.opposite()->matches(labels)) << text;
    }
  }
  for (const char* text : {"", "a,b", "a>1", "a<1"}) {
    EXPECT_FALSE(LabelSelector::parse(text)->opposite()) << text;
  }
  EXPECT_FALSE(LabelSelector::nothing().opposite());
}

TEST(LabelSelector, NullMatchesNothingAndEmptyMatchesEverything) {
  EXPECT_FALSE(LabelSelector::from_json(nullptr)->matches({}));
  EXPECT_TRUE(LabelSelector::from_json(Json::object())->matches({{"a", "b"}}));
  EXPECT_TRUE(LabelSelector::from_json(Json::object())->matches_everything());
}

TEST(LabelSelector, ReadsMatchLabelsAndExpressions) {
  const auto selector = LabelSelector::from_json(json(R"({
    "matchLabels": {"b": "2", "a": "1"},
    "matchExpressions": [{"key": "c", "operator": "In", "values": ["y", "x"]}, {"key": "d", "operator": "DoesNotExist"},
                         {"key": "e", "operator": "NotIn", "values": ["z"]}, {"key": "f", "operator": "Exists"}]})"));
  ASSERT_TRUE(selector.ok()) << selector.error().message();
  EXPECT_EQ(selector->to_string(), "a=1,b=2,c in (x,y),!d,e!=z,f");
  EXPECT_TRUE(selector->matches({{"a", "1"}, {"b", "2"}, {"c", "x"}, {"f", ""}}));
  EXPECT_FALSE(selector->matches({{"a", "1"}, {"b", "2"}, {"c", "x"}, {"f", ""}, {"d", ""}}));
}

TEST(LabelSelector, RefusesInvalidJson) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {R"("a=b")", "must be an object"},
      {R"({"matchLabel": {}})", "label selector has \"matchLabel\""},
      {R"({"matchLabels": {"a": 1}})", "matchLabels[a] is 1, must be a string"},
      {R"({"matchExpressions": {}})", "matchExpressions is a JSON object"},
      {R"({"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "Gt", "values": ["1"]}]})",
       "matchExpressions[1]: operator is \"Gt\", must be In, NotIn, Exists or DoesNotExist"},
      {R"({"matchExpressions": [{"key": "a", "operator": "In"}]})", "must have at least one"},
      {R"({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]})", "must have none"},
      {R"({"matchExpressions": [{"key": "a", "operator": "In", "values": [1]}]})", "values has 1"},
  };
  for (const auto& [text, expected_error] : table) {
    const auto selector = LabelSelector::from_json(json(text));
    EXPECT_THAT(selector, IsError(ErrorCode::kInvalidArgument, HasSubstr(expected_error))) << text;
  }
}

TEST(LabelSelector, OfLabelsMatchesThem) {
  const StringMap labels = {{"a", "1"}, {"b", "2"}};
  EXPECT_TRUE(LabelSelector::of(labels).matches(labels));
  EXPECT_EQ(LabelSelector::of(labels).to_string(), "a=1,b=2");
  EXPECT_FALSE(LabelSelector::nothing().matches(labels));
}

TEST(NodeSelector, MatchesIfOneTermMatches) {
  const Json selector = json(R"({"nodeSelectorTerms": [
    {},
    {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-9"]}]}]})");
  EXPECT_TRUE(matches_node_selector(selector, {{"cores", "8"}}, "node-1").value());
  EXPECT_FALSE(matches_node_selector(selector, {{"cores", "4"}}, "node-1").value());
  EXPECT_TRUE(matches_node_selector(selector, {}, "node-9").value());
}

TEST(NodeSelector, RefusesInvalidTerms) {
  EXPECT_THAT(matches_node_selector(Json::object(), {}, "n"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(matches_node_selector(
                  json(R"({"nodeSelectorTerms":[{"matchFields":[{"key":"spec.x","operator":"Exists"}]}]})"), {}, "n")
                  .error()
                  .message(),
              HasSubstr("nodeSelectorTerms[0].matchFields"));
}

TEST(FieldSelector, ComparesFields) {
  const auto lookup = [](std::string_view field) {
    return std::string(field == "metadata.name" ? "a" : field == "spec.nodeName" ? "n,1" : "");
  };
  const std::vector<std::pair<const char*, bool>> table = {{"", true},
                                                           {"metadata.name=a", true},
                                                           {"metadata.name==a", true},
                                                           {"metadata.name!=a", false},
                                                           {"metadata.name=a,spec.nodeName=n\\,1", true},
                                                           {"status.phase=", true},
                                                           {"metadata.name=a,status.phase!=", false}};
  for (const auto& [text, expected] : table) {
    const FieldSelector selector = FieldSelector::parse(text).value();
    EXPECT_EQ(selector.matches(lookup), expected) << text;
    EXPECT_EQ(FieldSelector::parse(selector.to_string()).value(), selector);
  }
}

TEST(FieldSelector, ErrorsNameThePosition) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"a", "position 0: a term has no '='"},
      {"a=b,c", "position 4"},
      {"=b", "no field name"},
      {"a!b", "position 1"},
      {"a=b\\", "lone backslash"},
      {"a=b=c", "must be written"},
      {"a=\\n", "can be escaped"},
  };
  for (const auto& [text, expected_error] : table) {
    EXPECT_THAT(FieldSelector::parse(text), IsError(ErrorCode::kInvalidArgument, HasSubstr(expected_error))) << text;
  }
}

}  // namespace
}  // namespace tpuslice
