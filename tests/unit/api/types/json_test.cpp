#include "api/types/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ParseJson, BuildsTheDocument) {
  const char* text = R"({"a":[1,-2,3.5,true,false,null,"x\u00e9\n"],"b":{"c":{}},"big":18446744073709551615})";
  EXPECT_EQ(parse_json(text).value(), Json::parse(text));
  EXPECT_EQ(parse_json(" 4 ").value(), 4);
}

TEST(ParseJson, ErrorsNameTheByte) {
  EXPECT_THAT(parse_json(R"({"a":1,})").error().message(), HasSubstr("JSON is malformed at byte 8"));
  for (const char* text : {"", "{", "[1,]", "{\"a\"}", "nul", "1 2", "\"\xff\"", "'a'", "01", "\"a", "{} x"}) {
    EXPECT_THAT(parse_json(text), IsError(ErrorCode::kInvalidArgument)) << text;
  }
}

TEST(ParseJson, ErrorsDoNotRepeatALongText) {
  const std::string text(100'000, 'a');
  EXPECT_LT(parse_json("{\"" + text + "\":1,\"" + text + "\" 2}").error().message().size(), 512U);
  EXPECT_LT(
      parse_json("{\"" + text + "\":1,\"" + text + "\":2}", {.refuse_duplicate_keys = true}).error().message().size(),
      512U);
}

TEST(ParseJson, RefusesInputBeyondItsLimits) {
  EXPECT_TRUE(parse_json(std::string(128, '[') + std::string(128, ']')).ok());
  EXPECT_THAT(parse_json(std::string(129, '[') + std::string(129, ']')).error().message(),
              HasSubstr("deeper than 128"));
  EXPECT_THAT(parse_json(std::string(5'000'000, '[')), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(parse_json("[1,2,3]", {.bytes = 4}).error().message(), HasSubstr("JSON has 7 bytes, at most 4"));
  EXPECT_THAT(parse_json("1e999"), IsError(ErrorCode::kInvalidArgument));
}

TEST(ParseJson, KeepsTheLastOfDuplicateKeysByDefault) {
  EXPECT_EQ(parse_json(R"({"a":1,"a":2})").value(), (Json{{"a", 2}}));
  EXPECT_THAT(parse_json(R"({"a":1,"a":2})", {.refuse_duplicate_keys = true}).error().message(),
              HasSubstr("\"a\" twice"));
}

TEST(FindPath, DescendsIntoObjectsAndArrays) {
  const Json json = Json::parse(R"({"spec":{"containers":[{"name":"a","n":3,"on":true}]},"labels":{"x":"1","y":2}})");
  EXPECT_EQ(string_at(json, {"spec", "containers", "0", "name"}), "a");
  EXPECT_EQ(int_at(json, {"spec", "containers", "0", "n"}), 3);
  EXPECT_TRUE(bool_at(json, {"spec", "containers", "0", "on"}));
  EXPECT_EQ(find_path(json, {"spec", "containers", "1"}), nullptr);
  EXPECT_EQ(find_path(json, {"spec", "containers", "-1"}), nullptr);
  EXPECT_EQ(find_path(json, {"spec", "containers", "0", "name", "deeper"}), nullptr);
  EXPECT_EQ(string_at(json, {"labels", "y"}, "fallback"), "fallback");
  EXPECT_EQ(int_at(json, {"labels", "x"}, -1), -1);
  EXPECT_THAT(string_map_at(json, {"labels"}), ElementsAre(Pair("x", "1")));
  EXPECT_EQ(&object_at(json, {"labels"}), find_path(json, {"labels"}));
  EXPECT_EQ(object_at(json, {"spec", "containers"}), Json::object()) << "an array";
  EXPECT_EQ(find_path(json, {}), &json);
}

TEST(IsNamed, ReadsTheMemberName) {
  EXPECT_TRUE(is_named(Json{{"name", "a"}}, "a"));
  for (const char* text : {R"({"name":"b"})", R"({"name":1})", "{}", "[]", "null"}) {
    EXPECT_FALSE(is_named(Json::parse(text), "a")) << text;
    EXPECT_FALSE(is_named(Json::parse(text), "")) << text;
  }
}

TEST(ParseJson, OmitsMembersAtAnyDepth) {
  constexpr std::string_view kNames[] = {"x", "y"};
  const auto parsed = parse_json(R"({"x": 1, "a": {"x": {"x": [1, {"b": 2}]}, "b": [{"y": "z", "c": 3}]}, "xx": 4})",
                                 {.without = kNames});
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, Json::parse(R"({"a": {"b": [{"c": 3}]}, "xx": 4})"));
  EXPECT_EQ(*parse_json(R"({"x": [[[[18446744073709551616]]]]})", {.depth = 3, .without = kNames}), Json::object());
}

TEST(ParseJson, RefusesTooManyValues) {
  EXPECT_TRUE(parse_json(R"([{}, 1, "a,b,c,[{\",", null])", {.values = 6}).ok()) << "strings hold no values";
  const auto refused = parse_json("[1,2,3,4,5]", {.values = 5});
  EXPECT_THAT(refused, IsError(ErrorCode::kInvalidArgument, "JSON has more than 5 values"));
}

// parse_json() falls back from one parser to another, so both must accept the same numbers.
TEST(ParseJson, KeepsTheTypeOfNumbers) {
  for (const char* text : {"0", "-0", "-1", "9223372036854775807", "9223372036854775808", "18446744073709551615",
                           "-9223372036854775808", "18446744073709551616", "1.5", "-0.0", "1e3", "4.9e-324"}) {
    const auto parsed = parse_json(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->dump(), Json::parse(text).dump());
    const bool negative_zero = std::string_view(text) == "-0";
    EXPECT_TRUE(negative_zero || parsed->type() == Json::parse(text).type()) << text;
  }
  EXPECT_THAT(parse_json({}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(parse_json("1e400"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(parse_json("01"), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(parse_json("\"\\ud800\""), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice
