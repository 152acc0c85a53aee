#include "api/types/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

Json json(std::string_view text) { return parse_json(text).value(); }

struct Case {
  const char* document;
  const char* patch;
  const char* expected;
};

TEST(JsonPatch, FollowsRfc6902) {
  const std::vector<Case> table = {
      {R"({"a":1})", R"([])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":[]}])", R"([])"},
      {R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
      {R"([1,2,3])", R"([{"op":"remove","path":"/1"}])", R"([1,3])"},
      {R"({"a":1})", R"([{"op":"replace","path":"/a","value":null}])", R"({"a":null})"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
      {R"([1,2,3])", R"([{"op":"move","from":"/0","path":"/2"}])", R"([2,3,1])"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])", R"({"a":{"b":1},"c":{"b":1}})"},
      {R"({"a/b":{"c~d":1}})", R"([{"op":"test","path":"/a~1b/c~0d","value":1}])", R"({"a/b":{"c~d":1}})"},
      {R"({"":1})", R"([{"op":"remove","path":"/"}])", R"({})"},
  };
  for (const Case& test : table) {
    const Result<Json> result = apply_json_patch(json(test.document), json(test.patch));
    ASSERT_TRUE(result.ok()) << test.patch << result.error().message();
    EXPECT_EQ(*result, json(test.expected)) << test.patch;
  }
}

TEST(JsonPatch, ErrorsNameTheFailedOperation) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {R"({})", "must be an array"},
      {R"([1])", "operation 0 (? \"?\"): path must be a string"},
      {R"([{"op":"jump","path":"/a"}])", "operation 0 (jump \"/a\"): op is \"jump\", must be"},
      {R"([{"op":"test","path":"/s","value":"x"},{"op":"remove","path":"/nope"}])",
       "operation 1 (remove \"/nope\"): it does not"},
      {R"([{"op":"add","path":"/nope/b","value":1}])", "its parent does not exist"},
      {R"([{"op":"add","path":"/s/b","value":1}])", "its parent is a JSON string"},
      {R"([{"op":"add","path":"/l/3","value":1}])", "\"3\" is not an index of an array of 2"},
      {R"([{"op":"add","path":"/l/01","value":1}])", "\"01\" is not an index"},
      {R"([{"op":"add","path":"/l/99999999999999999999","value":1}])", "is not an index"},
      {R"([{"op":"remove","path":"/l/-"}])", "does not exist"},
      {R"([{"op":"add","path":"/b"}])", "it has no value"},
      {R"([{"op":"add","path":"b","value":1}])", "path: \"b\" must be empty or start with '/'"},
      {R"([{"op":"add","path":"/~2","value":1}])", "neither"},
      {R"([{"op":"test","path":"/s","value":"y"}])", "found \"x\", must be \"y\""},
      {R"([{"op":"move","from":"/o","path":"/o/p/q"}])", "into itself"},
      {R"([{"op":"copy","path":"/z"}])", "from must be a string"},
      {R"([{"op":"replace","path":"/nope","value":1}])", "it does not exist"},
  };
  const Json document = json(R"({"s":"x","l":[1,2],"o":{"p":{}}})");
  for (const auto& [patch, expected_error] : table) {
    const Result<Json> result = apply_json_patch(document, json(patch));
    EXPECT_THAT(result, IsError(ErrorCode::kInvalidArgument, HasSubstr(expected_error))) << patch;
  }
}

TEST(JsonPatch, LimitsDepthAndCopiedValues) {
  Json deep = Json::array();
  Json wide = Json::array();
  for (int i = 0; i < 200; ++i) {
    deep.push_back({{"op", "copy"}, {"from", ""}, {"path", "/a"}});
    wide.push_back({{"op", "copy"}, {"from", "/l"}, {"path", "/l/-"}});
  }
  EXPECT_THAT(apply_json_patch(json("{}"), deep).error().message(), HasSubstr("nested deeper"));
  EXPECT_THAT(apply_json_patch(json(R"({"l":[1]})"), wide).error().message(), HasSubstr("values are copied"));
}

TEST(JsonDiff, KeepsEqualItemsAtBothEndsOfAnArray) {
  const Json before = json(R"({"env": [{"name": "A"}, {"name": "B"}]})");
  const Json after = json(R"({"env": [{"name": "X"}, {"name": "A"}, {"name": "B"}]})");
  EXPECT_EQ(json_diff(before, after), json(R"([{"op": "add", "path": "/env/0", "value": {"name": "X"}}])"));
  EXPECT_EQ(json_diff(after, before), json(R"([{"op": "remove", "path": "/env/0"}])"));
}

TEST(JsonDiff, DescendsIntoItemsThatDiffer) {
  EXPECT_EQ(json_diff(json(R"([1, {"a/b": [1], "c~": 2}, 3])"), json(R"([1, {"a/b": [], "c~": 2, "d": 4}, 3])")),
            json(R"([{"op": "remove", "path": "/1/a~1b/0"}, {"op": "add", "path": "/1/d", "value": 4}])"));
  EXPECT_EQ(json_diff(json("1"), json("{}")), json(R"([{"op": "replace", "path": "", "value": {}}])"));
}

TEST(JsonDiff, IsThePatchBetweenTwoDocuments) {
  const Json before = json(R"({"a":1,"b":[1,2,3],"c":{"d":"x"}})");
  const Json after = json(R"({"b":[1,3],"c":{"d":"y","e/f":null},"g":[]})");
  EXPECT_EQ(apply_json_patch(before, json_diff(before, after)).value(), after);
  EXPECT_EQ(json_diff(before, before), Json::array());
}

TEST(MergePatch, FollowsRfc7386) {
  const std::vector<Case> table = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"(["a"])", R"({"a":"b"})", R"({"a":"b"})"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
  };
  for (const Case& test : table) {
    EXPECT_EQ(apply_merge_patch(json(test.document), json(test.patch)), json(test.expected)) << test.patch;
  }
}

TEST(MergeDiff, IsTheSmallestMergePatchBetweenTwoDocuments) {
  const Json before = json(R"({"a":1,"removed":{"x":1},"n":{"keep":1,"change":[1,2]},"s":"x"})");
  const Json after = json(R"({"a":1,"n":{"keep":1,"change":[2]},"s":{"now":"object"},"new":{}})");
  const Json patch = merge_diff(before, after);
  EXPECT_EQ(patch, json(R"({"removed":null,"n":{"change":[2]},"s":{"now":"object"},"new":{}})"));
  EXPECT_EQ(apply_merge_patch(before, patch), after);
  EXPECT_EQ(merge_diff(before, before), Json::object());
  EXPECT_EQ(merge_diff(json("{}"), json("[1]")), json("[1]"));
}

}  // namespace
}  // namespace tpuslice
