#include "api/client/json_scan.h"

#include <random>

#include <gtest/gtest.h>

#include "api/types/json.h"

namespace tpuslice::client {
namespace {

TEST(JsonScan, ReturnsMembersInOrder) {
  JsonScanner scanner(R"( { "a" : 1 , "b":{"c":[1,{"d":"}"}]}, "e":"x\"}" ,"f":null,"g":[] } )");
  std::string seen;
  while (const auto member = scanner.next()) seen += std::string(member->name) + "=" + std::string(member->value) + ";";
  EXPECT_EQ(seen, R"(a=1;b={"c":[1,{"d":"}"}]};e="x\"}";f=null;g=[];)");
  EXPECT_TRUE(scanner.complete());
}

TEST(JsonScan, ReturnsElements) {
  JsonScanner scanner(R"([{"a":1}, [2], "3", 4])");
  std::string seen;
  while (const auto member = scanner.next()) seen += std::string(member->value) + ";";
  EXPECT_EQ(seen, R"({"a":1};[2];"3";4;)");
  EXPECT_TRUE(scanner.complete());
}

TEST(JsonScan, AcceptsAnEmptyObject) {
  JsonScanner scanner("{ }");
  EXPECT_FALSE(scanner.next());
  EXPECT_TRUE(scanner.complete());
}

TEST(JsonScan, DetectsMalformedText) {
  for (const char* text : {"", "x", "1", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1 \"b\":2}",
                           "{\"a\":\"", "{\"a\":\"\\", "{\"a\":[1,2}", "{a:1}", "[1,", "{\"a\":}", "{,}", "[1 2]"}) {
    JsonScanner scanner(text);
    int members = 0;
    while (scanner.next() && members < 100) ++members;
    EXPECT_FALSE(scanner.complete()) << text;
    EXPECT_LT(members, 100) << text;
  }
}

TEST(JsonScan, HandlesAnyDepth) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  JsonScanner scanner(deep);
  ASSERT_TRUE(scanner.next());
  EXPECT_FALSE(scanner.next());
  EXPECT_TRUE(scanner.complete());
}

TEST(JsonScan, TerminatesOnRandomBytes) {
  std::mt19937 random(7);  // NOLINT: the same bytes every time
  constexpr std::string_view kBytes = "{}[]\",:\\a1 ";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const auto size = random() % 40;
    for (std::size_t i = 0; i < size; ++i) text += kBytes[random() % kBytes.size()];
    JsonScanner scanner(text);
    std::size_t members = 0;
    while (scanner.next()) ++members;
    ASSERT_LE(members, text.size()) << text;
    // The scanner must accept what the parser accepts.
    if (const auto parsed = parse_json(text); parsed.ok() && parsed->is_object()) {
      EXPECT_TRUE(scanner.complete()) << text;
    }
  }
}

TEST(JsonScan, FindsAMember) {
  EXPECT_EQ(json_member(R"({"x":{"kind":"no"},"kind":"yes"})", "kind"), "\"yes\"");
  EXPECT_EQ(json_member(R"({"x":1})", "kind"), "");
  EXPECT_EQ(json_member("nonsense", "kind"), "");
}

TEST(JsonScan, DecodesEscapes) {
  EXPECT_EQ(json_string("\"plain\""), "plain");
  EXPECT_EQ(json_string(R"("a\"b\u00e9\n")"), "a\"b\xc3\xa9\n");
  EXPECT_EQ(json_string("12"), std::nullopt);
  EXPECT_EQ(json_string(""), std::nullopt);
  EXPECT_EQ(json_string(R"("\x")"), std::nullopt);
}

TEST(JsonScan, FindsTheEndOfAStringBehindBackslashes) {
  JsonScanner scanner(R"({"a\\":"b\\\"","c":"\\\\"})");
  std::string seen;
  while (const auto member = scanner.next()) seen += std::string(member->name) + "=" + std::string(member->value) + ";";
  EXPECT_EQ(seen, R"(a\\="b\\\"";c="\\\\";)");
  EXPECT_TRUE(scanner.complete());
}

TEST(JsonScan, ReadsMembersOfATruncatedObject) {
  JsonScanner members =
      json_members_of(R"({"kind":"Pod","metadata":{"name":"a","uid":"b","managedFields":[{)", "metadata");
  EXPECT_EQ(members.next()->value, R"("a")");
  EXPECT_EQ(members.next()->value, R"("b")");
  EXPECT_FALSE(members.next());
  EXPECT_TRUE(members.broken());
  EXPECT_TRUE(json_members_of(R"({"kind":"Pod"})", "metadata").broken());
}

}  // namespace
}  // namespace tpuslice::client
