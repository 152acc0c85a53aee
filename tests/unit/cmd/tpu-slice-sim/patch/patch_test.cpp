#include "cmd/tpu-slice-sim/patch/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/cmd/tpu-slice-sim/resources.h"

namespace tpuslice::sim {
namespace {

using testing::parse;
using testing::resource;

using ::testing::HasSubstr;

constexpr auto kJsonPatch = "application/json-patch+json";
constexpr auto kMerge = "application/merge-patch+json";
constexpr auto kStrategic = "application/strategic-merge-patch+json";

Result<Json> patch(std::string_view kind, const char* type, const std::string& current, const std::string& change) {
  return apply_patch(resource(kind), parse(current), type, parse(change), {});
}

TEST(JsonPatch, FailsAsTheServerDoes) {
  EXPECT_EQ(*patch("Pod", kJsonPatch, R"({"a":1})", R"([{"op":"replace","path":"/a","value":2}])"),
            parse(R"({"a":2})"));
  const auto failed = patch("Pod", kJsonPatch, R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])");
  EXPECT_THAT(failed, IsError(ErrorCode::kInvalid,
                              HasSubstr("the server rejected our request due to an error in our request")));
  EXPECT_THAT(patch("Pod", kJsonPatch, "{}", "{}"), IsError(ErrorCode::kInvalidArgument));
  for (const char* malformed : {R"([{"op":"merge","path":"/a"}])", R"([{"op":"add"}])"}) {
    const auto refused = patch("Pod", kJsonPatch, "{}", malformed);
    EXPECT_THAT(refused, IsError(ErrorCode::kInvalid)) << malformed;
  }
}

TEST(JsonPatch, ToleratesMissingMembers) {
  EXPECT_EQ(*patch("Pod", kJsonPatch, R"({"a":{}})", R"([{"op":"replace","path":"/a/b","value":2}])"),
            parse(R"({"a":{"b":2}})"));
  EXPECT_EQ(*patch("Pod", kJsonPatch, R"({"a":{}})", R"([{"op":"remove","path":"/a/b"}])"), parse(R"({"a":{}})"));
  EXPECT_THAT(patch("Pod", kJsonPatch, R"({})", R"([{"op":"remove","path":"/a/b"}])"), IsError(ErrorCode::kInvalid));
}

TEST(MergePatch, RemovesNulls) {
  EXPECT_EQ(*patch("Pod", kMerge, R"({"a":1,"b":{"c":1}})", R"({"a":null,"b":{"d":[1]}})"),
            parse(R"({"b":{"c":1,"d":[1]}})"));
}

TEST(Patch, RefusesOtherMediaTypes) {
  EXPECT_THAT(patch("Pod", "application/json", "{}", "{}"), IsError(ErrorCode::kUnsupported));
  Resource custom;
  custom.custom = true;
  const auto refused = apply_patch(custom, parse("{}"), kStrategic, parse("{}"), {});
  ASSERT_THAT(refused, IsError(ErrorCode::kUnsupported));
  EXPECT_EQ(refused.error().reason(), "UnsupportedMediaType");
  EXPECT_TRUE(apply_patch(custom, parse("{}"), "application/merge-patch+json; charset=utf-8", parse("{}"), {}).ok());
}

struct StrategicCase {
  const char* kind;
  const char* before;
  const char* change;
  const char* after;
};

class StrategicMerge : public ::testing::TestWithParam<StrategicCase> {};

TEST_P(StrategicMerge, MergesListsByTheirKeys) {
  const StrategicCase& each = GetParam();
  const auto merged = patch(each.kind, kStrategic, each.before, each.change);
  ASSERT_TRUE(merged.ok()) << merged.error().message();
  EXPECT_EQ(*merged, parse(each.after)) << each.change;
}

INSTANTIATE_TEST_SUITE_P(
    Table, StrategicMerge,
    ::testing::Values(
        StrategicCase{
            "Pod", R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
            R"({"spec":{"containers":[{"name":"b","image":"2"},{"name":"c","image":"3"}]}})",
            R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},{"name":"c","image":"3"}]}})"},
        StrategicCase{
            "Pod",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]}]}})",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","$patch":"delete"},{"name":"Y","value":null}]}]}})",
            R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y"}]}]}})"},
        StrategicCase{"Pod", R"({"spec":{"containers":[{"name":"a"}]}})",
                      R"({"spec":{"containers":[{"$patch":"replace"},{"name":"z"}]}})",
                      R"({"spec":{"containers":[{"name":"z"}]}})"},
        StrategicCase{"Pod", R"({"spec":{"tolerations":[{"key":"a"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})",
                      R"({"spec":{"tolerations":[{"key":"b"}]}})"},
        StrategicCase{"Pod", R"({"spec":{"schedulingGates":[{"name":"a"},{"name":"b"}]}})",
                      R"({"spec":{"schedulingGates":[{"name":"a","$patch":"delete"}]}})",
                      R"({"spec":{"schedulingGates":[{"name":"b"}]}})"},
        StrategicCase{"Pod", R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})",
                      R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"True"}]}})",
                      R"({"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"True"}]}})"},
        StrategicCase{"Pod", R"({"metadata":{"finalizers":["a"]}})", R"({"metadata":{"finalizers":["b","a"]}})",
                      R"({"metadata":{"finalizers":["b","a"]}})"},
        StrategicCase{"Pod", R"({"metadata":{"finalizers":["a","b"]}})",
                      R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})",
                      R"({"metadata":{"finalizers":["b"]}})"},
        StrategicCase{"Pod", R"({"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}})",
                      R"({"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"a"}]}})",
                      R"({"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a"}]}})"},
        StrategicCase{
            "Pod", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
            R"({"spec":{"volumes":[{"name":"v","$retainKeys":["name","configMap"],"configMap":{"name":"m"}}]}})",
            R"({"spec":{"volumes":[{"name":"v","configMap":{"name":"m"}}]}})"},
        StrategicCase{"Pod", R"({"spec":{"nodeSelector":{"a":"1","b":"2"}}})",
                      R"({"spec":{"nodeSelector":{"$patch":"replace","c":"3"}}})",
                      R"({"spec":{"nodeSelector":{"c":"3"}}})"},
        StrategicCase{"Pod", R"({"spec":{"nodeSelector":{"a":"1"}}})",
                      R"({"spec":{"nodeSelector":{"$patch":"delete"}}})", R"({"spec":{}})"},
        StrategicCase{"Service", R"({"spec":{"ports":[{"port":80,"name":"a"}]}})",
                      R"({"spec":{"ports":[{"port":80,"name":"b"},{"port":81}]}})",
                      R"({"spec":{"ports":[{"port":80,"name":"b"},{"port":81}]}})"}));

TEST(StrategicMerge, RefusesMalformedPatches) {
  for (const char* change :
       {R"({"spec":{"containers":[{"image":"x"}]}})", R"({"$patch":"explode"})", R"({"$unknown":[1]})"}) {
    const auto refused = patch("Pod", kStrategic, "{}", change);
    const bool keyless = std::string_view(change).find("containers") != std::string_view::npos;
    EXPECT_THAT(refused, IsError(keyless ? ErrorCode::kInternal : ErrorCode::kInvalidArgument)) << change;
  }
}

}  // namespace
}  // namespace tpuslice::sim
