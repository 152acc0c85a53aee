#include "cmd/tpu-slice-sim/schema/structural.h"
#include "api/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "api/types/yaml.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/cmd/tpu-slice-sim/resources.h"

namespace tpuslice::sim {
namespace {

using testing::parse;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A root schema with one member `x` of this schema.
Json with_x(const std::string& schema) { return parse(R"({"type":"object","properties":{"x":)" + schema + "}}"); }

std::vector<std::string> texts(const std::vector<FieldProblem>& problems) {
  std::vector<std::string> lines;
  for (const FieldProblem& each : problems) lines.push_back(each.path + ": " + each.message);
  return lines;
}

TEST(CrdSchema, AcceptsStructuralSchemas) {
  for (const char* x : {
           R"({"type":"string","pattern":"^a+$","maxLength":3,"default":"a"})",
           R"({"type":"array","items":{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]},
               "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"]})",
           R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})",
           R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})",
           R"({"type":"object","additionalProperties":{"type":"integer","format":"int32"}})",
           R"({"type":"object","properties":{"a":{"type":"integer"}},
               "x-kubernetes-validations":[{"rule":"self.a > 0","message":"positive"}]})",
           R"({"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf"}]})",
           R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
               "oneOf":[{"required":["a"]},{"required":["b"]}]})",
       }) {
    const Status status = check_crd_schema(with_x(x));
    EXPECT_TRUE(status.ok()) << x << ": " << (status.ok() ? "" : status.error().message());
  }
}

TEST(CrdSchema, NamesThePathOfWhatItRefuses) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"type":5})", "openAPIV3Schema.properties[x].type: Invalid value: 5"},
      {R"({"type":"array","items":[]})", "openAPIV3Schema.properties[x].items: Invalid value: []"},
      {R"({"type":"array","items":{"minimum":"1"}})",
       "openAPIV3Schema.properties[x].items.minimum: Invalid value: \"1\""},
      {R"({"type":"string","$ref":"#/x"})", "openAPIV3Schema.properties[x].$ref: Forbidden: unsupported keyword"},
      {R"({"type":"string","pattern":"("})", "openAPIV3Schema.properties[x].pattern: Invalid value: \"(\""},
      {R"({"anyOf":[{"required":[1]}]})", "openAPIV3Schema.properties[x].anyOf[0].required: Invalid value: [1]"},
      {R"j({"type":"string","x-kubernetes-validations":[{"rule":"self.sort()"}]})j",
       "openAPIV3Schema.properties[x].x-kubernetes-validations[0].rule: Invalid value: \"self.sort()\": compilation "
       "failed"},
      {R"({"type":"string","x-kubernetes-validations":[{"rule":"true","optionalOldSelf":true}]})",
       "x-kubernetes-validations[0].optionalOldSelf: Forbidden"},
  };
  for (const auto& [x, expected] : cases) {
    const Status status = check_crd_schema(with_x(x));
    EXPECT_THAT(status, IsError(ErrorCode::kInvalid, HasSubstr(expected))) << x;
  }
}

TEST(CrdSchema, AcceptsTheSchemasWeShip) {
  std::size_t checked = 0;
  for (const auto& file : std::filesystem::directory_iterator("deploy/crds")) {
    if (file.path().extension() != ".yaml") continue;
    const auto crds = parse_yaml_documents(read_file(file.path()).value());
    ASSERT_TRUE(crds.ok()) << file.path() << ": " << crds.error().message();
    for (const YamlDocument& crd : *crds) {
      for (const Json& version : crd.value.at("spec").at("versions")) {
        const Status status = check_crd_schema(version.at("schema").at("openAPIV3Schema"));
        EXPECT_TRUE(status.ok()) << file.path() << ": " << (status.ok() ? "" : status.error().message());
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 0U);
}

TEST(SchemaDefaults, SetAbsentMembersAndNullsThatAreNotNullable) {
  const Json schema = parse(R"({"type":"object","properties":{
    "a":{"type":"integer","default":1},
    "n":{"type":"string","nullable":true,"default":"d"},
    "o":{"type":"object","default":{},"properties":{"b":{"type":"boolean","default":true}}},
    "list":{"type":"array","items":{"type":"object","properties":{"c":{"type":"string","default":"c"}}}},
    "map":{"type":"object","additionalProperties":{"type":"object","properties":{"d":{"type":"integer","default":4}}}}}})");
  Json object = parse(R"({"a":null,"n":null,"list":[{},{"c":"x"}],"map":{"k":{}}})");
  apply_defaults(schema, object);
  EXPECT_EQ(object, parse(R"({"a":1,"n":null,"o":{"b":true},"list":[{"c":"c"},{"c":"x"}],"map":{"k":{"d":4}}})"));
}

TEST(SchemaPruning, RemovesUnspecifiedFieldsAndReturnsTheirPaths) {
  const Json schema = parse(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{
      "a":{"type":"string"},
      "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"known":{"type":"object"}}},
      "list":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}},
      "map":{"type":"object","additionalProperties":{"type":"object","properties":{"c":{"type":"string"}}}},
      "pod":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object"}}}}}}})");
  Json object = parse(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","extra":1},"junk":1,
    "spec":{"a":"x","z":1,"open":{"any":{"thing":1},"known":{"cut":1}},"list":[{"b":"1","q":2}],
            "map":{"k":{"c":"1","r":1}},"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{}},"other":1}}})");
  EXPECT_THAT(prune(schema, object), ElementsAre("junk", "spec.list[0].q", "spec.map[k].r", "spec.open.known.cut",
                                                 "spec.pod.other", "spec.z"));
  EXPECT_EQ(object, parse(R"({"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","extra":1},
    "spec":{"a":"x","open":{"any":{"thing":1},"known":{}},"list":[{"b":"1"}],"map":{"k":{"c":"1"}},
            "pod":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{}}}}})"));
}

struct Case {
  const char* schema;
  const char* value;
  const char* problem;  ///< Null when the value is good.
};

class SchemaValidation : public ::testing::TestWithParam<Case> {};

TEST_P(SchemaValidation, ReportsKubernetesFieldErrors) {
  const Case& each = GetParam();
  const auto found = texts(validate(with_x(each.schema), parse(std::string(R"({"x":)") + each.value + "}")));
  if (each.problem == nullptr) {
    EXPECT_THAT(found, IsEmpty()) << each.schema << " " << each.value;
  } else {
    EXPECT_THAT(found, ElementsAre(std::string(each.problem))) << each.schema << " " << each.value;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, SchemaValidation,
    ::testing::Values(
        Case{R"({"type":"integer"})", R"("s")",
             R"(x: Invalid value: "string": x in body must be of type integer: "string")"},
        Case{R"({"type":"string"})", "null", R"(x: Invalid value: "null": x in body must be of type string: "null")"},
        Case{R"({"type":"string","nullable":true})", "null", nullptr},
        Case{R"({"type":"integer"})", "1.5",
             R"(x: Invalid value: "number": x in body must be of type integer: "number")"},
        Case{R"({"type":"integer"})", "2.0", nullptr}, Case{R"({"type":"number"})", "2", nullptr},
        Case{R"({"type":"integer","format":"int32"})", "3000000000",
             R"(x: Invalid value: "int64": x in body must be of type int32: "int64")"},
        Case{R"({"x-kubernetes-int-or-string":true})", R"("25%")", nullptr},
        Case{R"({"x-kubernetes-int-or-string":true})", "true",
             R"(x: Invalid value: "boolean": x in body must be of type integer,string: "boolean")"},
        Case{R"({"type":"string","enum":["a","b"]})", R"("c")",
             R"(x: Unsupported value: "c": supported values: "a", "b")"},
        Case{R"({"type":"integer","minimum":1})", "0",
             "x: Invalid value: 0: x in body should be greater than or equal to 1"},
        Case{R"({"type":"integer","minimum":1,"exclusiveMinimum":true})", "1",
             "x: Invalid value: 1: x in body should be greater than 1"},
        Case{R"({"type":"integer","maximum":3})", "4",
             "x: Invalid value: 4: x in body should be less than or equal to 3"},
        Case{R"({"type":"integer","multipleOf":4})", "6", "x: Invalid value: 6: x in body should be a multiple of 4"},
        Case{R"({"type":"string","minLength":2})", R"("a")",
             R"(x: Invalid value: "a": x in body should be at least 2 chars long)"},
        Case{R"({"type":"string","maxLength":2})", R"("abc")", "x: Too long: may not be more than 2 bytes"},
        Case{R"({"type":"string","pattern":"^a$"})", R"("b")",
             R"(x: Invalid value: "b": x in body should match '^a$')"},
        Case{R"({"type":"string","format":"date-time"})", R"("2026-01-01T00:00:00Z")", nullptr},
        Case{R"({"type":"string","format":"date-time"})", R"("today")",
             R"(x: Invalid value: "today": x in body must be of type date-time: "today")"},
        Case{R"({"type":"array","items":{"type":"string"},"minItems":1})", "[]",
             "x: Invalid value: 0: x in body should have at least 1 items"},
        Case{R"({"type":"array","items":{"type":"string"},"maxItems":1})", R"(["a","b"])",
             "x: Too many: 2: must have at most 1 items"},
        Case{R"({"type":"array","items":{"type":"string"}})", R"(["a",1])",
             R"(x[1]: Invalid value: "integer": x[1] in body must be of type string: "integer")"},
        Case{R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"})", R"(["a","a"])",
             R"(x[1]: Duplicate value: "a")"},
        Case{R"({"type":"array","items":{"type":"object","properties":{"k":{"type":"string"},
                 "p":{"type":"string","default":"TCP"}}},
                 "x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k","p"]})",
             R"([{"k":"a","p":"TCP"},{"k":"a"},{"k":"a","p":"UDP"}])", R"(x[1]: Duplicate value: {"k":"a","p":"TCP"})"},
        Case{R"({"type":"object","required":["a"],"properties":{"a":{"type":"string"}}})", "{}", "x.a: Required value"},
        Case{R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"k":1})",
             R"(x.k: Invalid value: "integer": x.k in body must be of type string: "integer")"},
        Case{R"({"type":"object","maxProperties":1,"additionalProperties":{"type":"string"}})", R"({"a":"","b":""})",
             "x: Too many: 2: must have at most 1 items"},
        Case{R"({"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]})", "{}",
             R"(<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found none valid)"},
        Case{
            R"({"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]})", R"({"a":1,"b":1})",
            R"(<nil>: Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives)"},
        Case{R"({"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]})", "{}",
             R"(<nil>: Invalid value: "": "x" must validate at least one schema (anyOf))"},
        Case{R"({"type":"integer","not":{"enum":[3]}})", "3",
             R"(<nil>: Invalid value: "": "x" must not validate the schema (not))"},
        Case{R"({"type":"integer","allOf":[{"minimum":1},{"maximum":3}]})", "2", nullptr}));

TEST(SchemaRules, CheckNewAndOldValues) {
  const Json schema = parse(R"j({"type":"object","properties":{
    "fixed":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"Value is immutable"}]},
    "spec":{"type":"object","properties":{"min":{"type":"integer"},"max":{"type":"integer"}},
      "x-kubernetes-validations":[
        {"rule":"!has(self.min) || !has(self.max) || self.min <= self.max","message":"min is above max","fieldPath":".min"},
        {"rule":"self.max < 100","message":"max is 100 or more"}]
}
}
})j");
  const Json good = parse(R"({"fixed":"a","spec":{"min":1,"max":2}})");
  EXPECT_THAT(validate_rules(schema, good, nullptr), IsEmpty());
  EXPECT_THAT(validate_rules(schema, good, &good), IsEmpty());
  const Json bad = parse(R"({"fixed":"b","spec":{"min":101,"max":100}})");
  EXPECT_THAT(texts(validate_rules(schema, bad, &good)), ElementsAre(R"(fixed: Invalid value: "b": Value is immutable)",
                                                                     R"(spec.min: Invalid value: min is above max)",
                                                                     R"(spec: Invalid value: max is 100 or more)"));
  const Json open = parse(R"({"spec":{}})");
  EXPECT_THAT(texts(validate_rules(schema, open, nullptr)),
              ElementsAre(R"(spec: Invalid value: "object": no such key: max evaluating rule: max is 100 or more)"));
}

TEST(SchemaRules, FindTheOldItemOfAKeyedList) {
  const Json schema = with_x(R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
    "items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":{"type":"integer"}},
             "x-kubernetes-validations":[{"rule":"self.v >= oldSelf.v"}]}})");
  ASSERT_TRUE(check_crd_schema(schema).ok());
  const Json old = parse(R"({"x":[{"k":"a","v":5},{"k":"b","v":1}]})");
  EXPECT_THAT(texts(validate_rules(schema, parse(R"({"x":[{"k":"b","v":2},{"k":"a","v":4},{"k":"c","v":0}]})"), &old)),
              ElementsAre(R"(x[1]: Invalid value: failed rule: self.v >= oldSelf.v)"));
}

}  // namespace
}  // namespace tpuslice::sim
