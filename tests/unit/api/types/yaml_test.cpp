#include "api/types/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "api/base/random.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/api/types/sample_pod.h"

namespace tpuslice {
namespace {

using ::testing::HasSubstr;

Json yaml(std::string_view text) {
  const Result<Json> result = parse_yaml(text);
  EXPECT_TRUE(result.ok()) << text << "\n" << (result.ok() ? "" : result.error().message());
  return result.value_or("failed");
}

TEST(Yaml, ResolvesScalarsLikeTheCoreSchema) {
  const std::vector<std::pair<const char*, Json>> table = {
      {"4", 4},
      {"\"4\"", "4"},
      {"'4'", "4"},
      {"-17", -17},
      {"+5", 5},
      {"0x1F", 31},
      {"0o17", 15},
      {"0644", 420},
      {"0899", 899},
      {"1.5", 1.5},
      {".5", 0.5},
      {"1e3", 1000.0},
      {"1.", 1.0},
      {"true", true},
      {"False", false},
      {"null", Json()},
      {"~", Json()},
      {"Null", Json()},
      {"\"\"", ""},
      {"on", "on"},
      {"off", "off"},
      {"yes", "yes"},
      {"no", "no"},
      {"y", "y"},
      {"nULL", "nULL"},
      {"1_000", "1_000"},
      {"12:30", "12:30"},
      {"v5p", "v5p"},
      {"2x2x4", "2x2x4"},
      {"1.2.3", "1.2.3"},
      {"0b1", "0b1"},

      {"e3", "e3"},
      {"2026-01-01", "2026-01-01"},
      {"18446744073709551615", 18446744073709551615ULL},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"18446744073709551616", 18446744073709551616.0},
      {"!!str 4", "4"},
      {"!!int 4", 4},
      {"!!float 4", 4.0},
      {"|\n  a\n  b\n", "a\nb\n"},
      {">-\n  a\n  b\n", "a b"},
  };
  for (const auto& [text, expected] : table) {
    const Json value = yaml("k: " + std::string(text));
    EXPECT_EQ(value, (Json{{"k", expected}})) << text;
    EXPECT_EQ(value.at("k").is_number_float(), expected.is_number_float()) << text;
  }
}

TEST(Yaml, ReadsEmptyValuesAsNull) {
  EXPECT_EQ(yaml("a:\nb: {}\nc: []\n"), Json::parse(R"({"a":null,"b":{},"c":[]})"));
}

TEST(Yaml, ReadsKeysAsStrings) {
  EXPECT_EQ(yaml("80: a\ntrue: b\n'x y': c\n1.0: d"), Json::parse(R"({"80":"a","true":"b","x y":"c","1.0":"d"})"));
}

TEST(Yaml, ReadsJson) {
  EXPECT_EQ(yaml(kSamplePod), Json::parse(kSamplePod));
  EXPECT_EQ(yaml("{\n\t\"a\": \"\\ud83d\\ude00\\/\"\n}"), (Json{{"a", "\U0001f600/"}}));
}

TEST(Yaml, ExpandsAliasesAndMergeKeys) {
  EXPECT_EQ(yaml("a: &x {k: [1, 2]}\nb: *x\n"), Json::parse(R"({"a":{"k":[1,2]},"b":{"k":[1,2]}})"));
  EXPECT_EQ(yaml("base: &b {p: 1, q: 2}\nuse:\n  <<: *b\n  q: 3\n").at("use"), Json::parse(R"({"p":1,"q":3})"));
  EXPECT_EQ(yaml("a: &a {p: 1}\nb: &b {p: 2, q: 2}\nuse:\n  q: 3\n  <<: [*a, *b]\n").at("use"),
            Json::parse(R"({"p":1,"q":3})"));
  EXPECT_EQ(yaml("'<<': 1"), (Json{{"<<", 1}}));
}

TEST(Yaml, SplitsDocumentsWithTheirLines) {
  const auto documents =
      parse_yaml_documents("# only a comment\n---\na: 1\n---\n---\n\n# two\nb: 2\n...\n---\n- 3\n").value();
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].value, (Json{{"a", 1}}));
  EXPECT_EQ(documents[0].line, 3);
  EXPECT_EQ(documents[1].line, 8);
  EXPECT_EQ(documents[2].value, Json::array({3}));
  EXPECT_EQ(documents[2].line, 11);
  EXPECT_TRUE(parse_yaml_documents("").value().empty());
  EXPECT_TRUE(parse_yaml_documents("# nothing\n").value().empty());
  EXPECT_EQ(parse_yaml("a: 1\n---\nb: 2\n").error().message(), "YAML line 3: a second document, must be one");
}

TEST(Yaml, DoesNotDetectUtf32) {
  using namespace std::string_view_literals;
  const auto result = parse_yaml("-\0\0\0[\0\0\0.0node]"sv);
  EXPECT_THAT(result, IsError(ErrorCode::kInvalidArgument, "YAML has the control character 0x00 at byte 1"));
}

TEST(Yaml, ErrorsNameLineAndColumn) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"a: 1\nb: 2\na: 3\n", "YAML line 3, column 1: key \"a\" is there twice"},
      {"a: .inf", "YAML line 1, column 4: .inf has no JSON value"},
      {"a: -.INF", "has no JSON value"},
      {"a: .nan", "has no JSON value"},
      {"a: 1e999", "number 1e999 is too large"},
      {"a: 0xFFFFFFFFFFFFFFFFF", "does not fit 64 bits"},
      {"a:\n  - b\n c: d\n", "YAML line 3"},
      {"a: [1, 2\nb: 3", "YAML line"},
      {"a: 'open", "YAML line"},
      {"a: *nope", "YAML line 1, column 4"},
      {"a: &x [*x]", "an alias stands inside the value it names"},
      {"? [a, b]\n: c", "a key must be a scalar"},
      {"? {a: b}\n: c", "a key must be a scalar"},
      {"a: !!binary aGk=", "is not supported"},
      {"a: !mine b", "tag \"!mine\" is not supported"},
      {"a: !!int b", "\"b\" is not of type int"},
      {"a: !!set {b}", "is not supported"},
      {"a: {<<: 1}", "must be followed by a map"},
      {"a:\n\tb: 1", "YAML line"},
      {"a: \xff", "not UTF-8"},
      {R"({"a": 1, "a": 2})", "\"a\" is there twice"},
  };
  for (const auto& [text, expected_error] : table) {
    const auto result = parse_yaml(text);
    EXPECT_THAT(result, IsError(ErrorCode::kInvalidArgument, HasSubstr(expected_error))) << text;
  }
}

TEST(Yaml, LimitsAliasExpansion) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    text +=
        fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(parse_yaml(text).error().message(), HasSubstr("more than 1000000 values"));
}

// The library would return empty documents before the comma forever.
TEST(Yaml, RefusesACharacterThatCannotStartAValue) {
  const auto documents = parse_yaml_documents(">-\n,");
  EXPECT_THAT(documents, IsError(ErrorCode::kInvalidArgument,
                                 "YAML line 2, column 1: nothing can begin with this character here"));
  EXPECT_EQ(parse_yaml_documents("---\n---\na: 1\n---\n...\n---\nb: 2\n")->size(), 2U);
}

// The library decodes them to single bytes, which is invalid UTF-8.
TEST(Yaml, RefusesEscapesThatTheLibraryDecodesWrongly) {
  for (const char* text : {R"("\N")", R"("\_")", R"({"\N": 1})", R"(a: "\_")"}) {
    EXPECT_THAT(parse_yaml_documents(text), IsError(ErrorCode::kInvalidArgument)) << text;
  }
  EXPECT_EQ(*parse_yaml(R"(a: "\u0085\u00a0")"), Json({{"a", "\u0085\u00a0"}}));
}

TEST(Yaml, LimitsDepthAndLength) {
  EXPECT_THAT(parse_yaml(std::string(129, '[') + "1" + std::string(129, ']')).error().message(),
              HasSubstr("deeper than 128"));
  EXPECT_THAT(parse_yaml(std::string(100'000, '[')), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(parse_yaml(std::string(100'000, '{')), IsError(ErrorCode::kInvalidArgument));
  std::string dashes;
  for (int i = 0; i < 20'000; ++i) dashes += "- ";
  EXPECT_THAT(parse_yaml(dashes), IsError(ErrorCode::kInvalidArgument));
  std::string deep_alias = "a0: &a0 [1]\n";
  for (int i = 1; i < 200; ++i) deep_alias += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  EXPECT_THAT(parse_yaml(deep_alias).error().message(), HasSubstr("deeper than 128"));
  EXPECT_THAT(parse_yaml("a: b", {.bytes = 3}).error().message(), HasSubstr("YAML has 4 bytes, at most 3"));
}

TEST(ToYaml, PrintsLikeKubectl) {
  const Json json = Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod", "empty": {}, "none": [], "nothing": null, "flag": true, "count": 4, "ratio": 1.5,
    "metadata": {"name": "a", "labels": {"num": "4", "on": "on", "star": "*", "v": "v1.2"}},
    "list": [{"name": "x", "args": ["-c", "--flag=1", "a: b"]}, [1, [2, "3"]], "plain text"],
    "script": "set -e\necho hi\n", "tail": "a\nb", "blank": ""})");
  EXPECT_EQ(to_yaml(json), R"(apiVersion: v1
blank: ""
count: 4
empty: {}
flag: true
kind: Pod
list:
- args:
  - -c
  - --flag=1
  - 'a: b'
  name: x
- - 1
  - - 2
    - "3"
- plain text
metadata:
  labels:
    num: "4"
    "on": "on"
    star: '*'
    v: v1.2
  name: a
none: []
nothing: null
ratio: 1.5
script: |
  set -e
  echo hi
tail: |-
  a
  b
)");
}

TEST(ToYaml, QuotesOnlyAmbiguousStrings) {
  const std::vector<std::pair<const char*, const char*>> table = {
      {"4", "\"4\""},
      {"0644", "\"0644\""},
      {"1e3", "\"1e3\""},
      {"true", "\"true\""},
      {"Yes", "\"Yes\""},
      {"~", "\"~\""},
      {"null", "\"null\""},
      {".inf", "\".inf\""},
      {"2026-01-01", "\"2026-01-01\""},
      {"12:30", "\"12:30\""},
      {"1_000", "\"1_000\""},
      {"0x1F", "\"0x1F\""},
      {"-", "'-'"},
      {"- a", "'- a'"},
      {"a #b", "'a #b'"},
      {"it's", "it's"},
      {"'q'", "'''q'''"},
      {" a", "' a'"},
      {"a ", "'a '"},
      {"a:", "'a:'"},
      {"a:b", "a:b"},
      {":8080", ":8080"},
      {"#", "'#'"},
      {"a\tb", "\"a\\tb\""},
      {"v5p", "v5p"},
      {"2x2x4", "2x2x4"},
      {"4Gi", "4Gi"},
      {"16:30 today", "16:30 today"},
      {"10.0.0.1", "10.0.0.1"},
      {"nope", "nope"},
      {"---", "'---'"},
      {"\xc3\xa9", "\xc3\xa9"},
      {"<<", "\"<<\""},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(to_yaml(text), std::string(expected) + "\n");
}

/// Documents of strings that are hard to print as YAML.
Json random_document(Random& random, int depth) {
  static const std::vector<std::string> kFragments = {
      "a",  "4",    ":",    " ",      "#",      "-",      "\n",     "'",  "\"", "{",  "]",    ",",    "&",   "*",
      "!",  "|",    ">",    "%",      "@",      "`",      "?",      "\t", "\\", "~",  "true", "no",   "---", "...",
      "\r", "\x01", "\x7f", "\u00e9", "\u2028", "\ufeff", "\u0085", "<<", "=",  "0x", "1e",   "\n\n", "  "};
  const int kind = random.uniform(0, depth > 0 ? 8 : 5);
  if (kind <= 3) {
    std::string text;
    for (int i = random.uniform(0, 6); i > 0; --i)
      text += kFragments[random.uniform<std::size_t>(0, kFragments.size() - 1)];
    return text;
  }
  if (kind == 4) return random.uniform(-1000, 1000);
  if (kind == 5) return random.uniform(0, 1) == 0 ? Json(random.uniform(-1e6, 1e6)) : Json(true);
  Json json = kind == 6 ? Json::array() : Json::object();
  for (int i = random.uniform(0, 4); i > 0; --i) {
    if (json.is_array()) {
      json.push_back(random_document(random, depth - 1));
    } else {
      const Json key = random_document(random, 0);
      json[key.is_string() ? key.get<std::string>() : key.dump()] = random_document(random, depth - 1);
    }
  }
  return json;
}

TEST(ToYaml, ReadsBackAsTheSameDocument) {
  EXPECT_EQ(parse_yaml(to_yaml(Json::parse(kSamplePod))).value(), Json::parse(kSamplePod));
  const Json long_key = {{std::string(5000, 'k'), {1, {{"a", std::string(5000, 'v')}}}}};
  EXPECT_EQ(parse_yaml(to_yaml(long_key)).value(), long_key);
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const Json document = random_document(random, 3);
    const std::string text = to_yaml(document);
    const Result<Json> back = parse_yaml(text);
    ASSERT_TRUE(back.ok()) << document.dump() << "\n" << text << back.error().message();
    ASSERT_EQ(*back, document) << text;
  }
}

}  // namespace
}  // namespace tpuslice
