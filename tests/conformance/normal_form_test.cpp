#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/normal_form.h"
#include "tests/conformance/player.h"

namespace tpuslice::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json object(const std::string& version) {
  return {{"kind", "ConfigMap"}, {"metadata", {{"resourceVersion", version}}}};
}

TEST(NormalForm, KeepsTheOrderAndEqualityOfVersions) {
  const Json replies = Json::array({object("70"), object("9"), object("70")});
  const Json normal = normal_form(replies, "space", {});
  EXPECT_EQ(normal[0], object("<rv 2>"));
  EXPECT_EQ(normal[1], object("<rv 1>"));
  EXPECT_EQ(normal[2], object("<rv 2>"));
}

TEST(NormalForm, HidesVersionsThatOtherWritesChange) {
  const Json list = {{"kind", "ConfigMapList"}, {"metadata", {{"resourceVersion", "5"}}}, {"items", Json::array()}};
  EXPECT_EQ(normal_form(list, "space", {})["metadata"]["resourceVersion"], "<rv>");
  const Json bookmark = {{"type", "BOOKMARK"}, {"object", object("5")}};
  EXPECT_EQ(normal_form(bookmark, "space", {})["object"]["metadata"]["resourceVersion"], "<rv>");
}

TEST(NormalForm, ReplacesValuesThatDifferBetweenRuns) {
  const auto normal = [](const std::string& text) {
    return normal_form(Json{{"message", text}}, "my-space", {"made-"})["message"].get<std::string>();
  };
  EXPECT_EQ(normal("my-space/made-x7k2p"), "<ns>/made-<random>");
  EXPECT_EQ(normal("at 2026-01-02T03:04:05Z on 10.96.0.7"), "at <time> on <ip>");
  EXPECT_EQ(normal("11111111-2222-3333-4444-555555555555"), "<uid 1>");
  EXPECT_EQ(normal("too old resource version: 1 (245)"), "too old resource version: 1 (<rv>)");
  EXPECT_EQ(normal("must be between 1 and 65535"), "must be between 1 and 65535");
}

TEST(Compare, NamesThePathOfADifference) {
  Exchange exchange;
  const Json recorded = Json::array({{{"code", 200}, {"body", {{"a", 1}}}}});
  EXPECT_THAT(compare(exchange, recorded, recorded).differences, IsEmpty());
  const Json other = Json::array({{{"code", 404}, {"body", {{"b", 1}}}}});
  EXPECT_THAT(compare(exchange, recorded, other).differences,
              ElementsAre(HasSubstr("/0/body/a: recorded 1"), HasSubstr("/0/body/b: recorded nothing"),
                          HasSubstr("/0/code: recorded 200")));
}

TEST(Compare, AcceptsKnownDifferencesOnlyWhileTheyExist) {
  Exchange exchange;
  exchange.known = {{"/0/body", "a reason"}};
  const Json recorded = Json::array({{{"code", 200}, {"body", {{"a", 1}}}}});
  const Json other = Json::array({{{"code", 200}, {"body", {{"a", 2}}}}});
  EXPECT_EQ(compare(exchange, recorded, other).kind, Verdict::Kind::kKnown);
  EXPECT_THAT(compare(exchange, recorded, recorded).differences, ElementsAre(HasSubstr("agrees")));
}

}  // namespace
}  // namespace tpuslice::conformance
