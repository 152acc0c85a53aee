#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/patch/managed_fields.h"
#include "cmd/tpu-slice-sim/patch/patch.h"
#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/cmd/tpu-slice-sim/resources.h"

namespace tpuslice::sim {
namespace {

using testing::parse;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Resource custom() {
  Resource resource;
  resource.group = "example.com";
  resource.version = "v1";
  resource.kind = "Thing";
  resource.plural = "things";
  resource.custom = true;
  resource.has_status = true;
  resource.schema = parse(R"({"type":"object","properties":{
    "spec":{"type":"object","properties":{
      "replicas":{"type":"integer"},"name":{"type":"string"},
      "labels":{"type":"object","additionalProperties":{"type":"string"}},
      "plain":{"type":"array","items":{"type":"string"}},
      "set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
      "list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
              "items":{"type":"object","properties":{"k":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}}}}}},
    "status":{"type":"object","properties":{"ready":{"type":"integer"}}}}})");
  return resource;
}

Json thing(const std::string& spec) {
  return parse(R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":)" + spec + "}");
}

PatchContext by(std::string manager, bool force = false) {
  return {.field_manager = std::move(manager), .force = force, .now = FakeClock().wall(), .subresource = ""};
}

Result<Json> apply(const Json& current, const std::string& spec, const PatchContext& context) {
  return apply_patch(custom(), current, "application/apply-patch+yaml", thing(spec), context);
}

Json must_apply(const Json& current, const std::string& spec, const PatchContext& context) {
  Result<Json> applied = apply(current, spec, context);
  EXPECT_TRUE(applied.ok()) << (applied.ok() ? "" : applied.error().message());
  return applied.ok() ? *applied : Json();
}

Json fields_of(const Json& object, const std::string& manager) {
  for (const ManagedEntry& entry : read_managed_fields(object)) {
    if (entry.manager == manager) return fields_to_json(entry.fields);
  }
  return {};
}

TEST(FieldSet, ReadsBackWhatItWrites) {
  const Json json =
      parse(R"({"f:spec":{".":{},"f:a":{},"f:list":{"k:{\"k\":\"x\"}":{".":{},"f:b":{}}},"f:set":{"v:\"y\"":{}}}})");
  const FieldSet set = fields_from_json(json);
  EXPECT_EQ(fields_to_json(set), json);
  EXPECT_THAT(set.paths(),
              ElementsAre(".spec", ".spec.a", ".spec.list[k=\"x\"]", ".spec.list[k=\"x\"].b", ".spec.set[=\"y\"]"));
  EXPECT_TRUE(set_difference(set, set).empty());
  EXPECT_EQ(set_union(set, FieldSet()), set);
  EXPECT_EQ(set_intersection(set, set), set);
}

TEST(Apply, CreatesAnObjectThatItsManagerOwns) {
  const Json applied = must_apply(
      Json(), R"({"replicas":1,"labels":{"a":"b"},"list":[{"k":"x","a":"1"}],"plain":["p"],"set":["s"]})", by("me"));
  EXPECT_EQ(applied["spec"]["replicas"], 1);
  const Json& entry = applied["metadata"]["managedFields"][0];
  EXPECT_EQ(entry["manager"], "me");
  EXPECT_EQ(entry["operation"], "Apply");
  EXPECT_EQ(entry["apiVersion"], "example.com/v1");
  EXPECT_EQ(entry["fieldsType"], "FieldsV1");
  EXPECT_EQ(entry["time"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(entry["fieldsV1"], parse(R"({"f:spec":{"f:replicas":{},"f:labels":{"f:a":{}},
    "f:list":{"k:{\"k\":\"x\"}":{".":{},"f:a":{},"f:k":{}}},"f:plain":{},"f:set":{"v:\"s\"":{}}}})"));
}

TEST(Apply, ChangesNothingTheSecondTime) {
  const Json applied = must_apply(Json(), R"({"replicas":1})", by("me"));
  PatchContext later = by("me");
  later.now += std::chrono::hours(1);
  EXPECT_EQ(must_apply(applied, R"({"replicas":1})", later), applied);
}

TEST(Apply, MergesListsByKeyAndKeepsFieldsOfOtherManagers) {
  const Json first = must_apply(Json(), R"({"list":[{"k":"x","a":"1"}],"set":["s"]})", by("one"));
  const Json both = must_apply(first, R"({"list":[{"k":"x","b":"2"},{"k":"y"}],"set":["t"]})", by("two"));
  EXPECT_EQ(both["spec"], parse(R"({"list":[{"k":"x","a":"1","b":"2"},{"k":"y"}],"set":["s","t"]})"));
}

TEST(Apply, RemovesFieldsThatItsManagerStoppedApplying) {
  const Json first =
      must_apply(Json(), R"({"replicas":1,"name":"n","labels":{"a":"1"},"list":[{"k":"x","a":"1"}]})", by("one"));
  EXPECT_EQ(must_apply(first, R"({"replicas":1})", by("one"))["spec"], parse(R"({"replicas":1})"));
  const Json shared = must_apply(first, R"({"name":"n","list":[{"k":"x","b":"2"}]})", by("two"));
  const Json left = must_apply(shared, R"({"replicas":1})", by("one"));
  EXPECT_EQ(left["spec"], parse(R"({"replicas":1,"name":"n","list":[{"k":"x","b":"2"}]})")) << "two still owns these";
}

TEST(Apply, ReportsConflictsAsKubectlExpects) {
  const Json first = must_apply(Json(), R"({"replicas":1,"name":"n"})", by("one"));
  const auto single = apply(first, R"({"replicas":2})", by("two"));
  ASSERT_THAT(single,
              IsError(ErrorCode::kConflict, "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas"));
  EXPECT_EQ(single.error().reason(), "Conflict");
  const auto several = apply(first, R"({"replicas":2,"name":"m"})", by("two"));
  EXPECT_THAT(several,
              IsError(ErrorCode::kConflict,
                      "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.name\n- .spec.replicas"));
  EXPECT_TRUE(apply(first, R"({"replicas":1})", by("two")).ok()) << "the same value is shared";
}

TEST(Apply, TakesOverFieldsWithForce) {
  const Json first = must_apply(Json(), R"({"replicas":1,"name":"n"})", by("one"));
  const Json forced = must_apply(first, R"({"replicas":2})", by("two", true));
  EXPECT_EQ(forced["spec"], parse(R"({"replicas":2,"name":"n"})"));
  EXPECT_EQ(fields_of(forced, "one"), parse(R"({"f:spec":{"f:name":{}}})"));
}

TEST(Apply, ConflictsWithUpdates) {
  const Json applied = must_apply(Json(), R"({"replicas":1})", by("one"));
  Json scaled = applied;
  scaled["spec"]["replicas"] = 5;
  scaled = update_managed_fields(custom(), applied, scaled, "kubectl-edit", "Update", "", FakeClock().wall());
  EXPECT_EQ(fields_of(scaled, "one"), Json()) << "the field has a new owner";
  EXPECT_EQ(fields_of(scaled, "kubectl-edit"), parse(R"({"f:spec":{"f:replicas":{}}})"));
  EXPECT_EQ(apply(scaled, R"({"replicas":1})", by("one")).error().message(),
            "Apply failed with 1 conflict: conflict with \"kubectl-edit\" using example.com/v1: .spec.replicas");
}

TEST(Apply, AssignsFieldsOfAnUntrackedObjectToBeforeFirstApply) {
  EXPECT_THAT(apply(thing(R"({"replicas":1})"), R"({"replicas":2})", by("me")).error().message(),
              HasSubstr("conflict with \"before-first-apply\" using example.com/v1: .spec.replicas"));
}

TEST(Apply, IgnoresTheStatusWithoutTheSubresource) {
  PatchContext context = by("me");
  Json config = thing(R"({"replicas":1})");
  config["status"] = {{"ready", 1}};
  const Json applied = *apply_patch(custom(), Json(), "application/apply-patch+yaml", config, context);
  EXPECT_EQ(fields_of(applied, "me"), parse(R"({"f:spec":{"f:replicas":{}}})"));
  context.subresource = "status";
  const Json status = *apply_patch(custom(), applied, "application/apply-patch+yaml", config, context);
  EXPECT_EQ(status["metadata"]["managedFields"].size(), 2U);
  EXPECT_EQ(status["metadata"]["managedFields"][0]["subresource"], "status");
  EXPECT_FALSE(status["metadata"]["managedFields"][0].contains("time")) << "it changed nothing";
}

TEST(Apply, RefusesInvalidApplyRequests) {
  EXPECT_THAT(apply(Json(), "{}", by("")).error().message(), HasSubstr("fieldManager: Required value"));
  Json other = thing("{}");
  other["kind"] = "Other";
  EXPECT_THAT(apply_patch(custom(), Json(), "application/apply-patch+yaml", other, by("me")),
              IsError(ErrorCode::kInvalidArgument));
  Json managed = thing("{}");
  managed["metadata"]["managedFields"] = Json::array({Json::object()});
  EXPECT_THAT(apply_patch(custom(), Json(), "application/apply-patch+yaml", managed, by("me")).error().message(),
              HasSubstr("managedFields must be nil"));
}

TEST(Apply, MergesTheKeyedListsOfBuiltinKinds) {
  Resource pods;
  pods.version = "v1";
  pods.kind = "Pod";
  pods.plural = "pods";
  const auto pod = [](const char* container) {
    return parse(std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[)") +
                 container + "]}}");
  };
  const auto type = "application/apply-patch+yaml";
  const Json first =
      *apply_patch(pods, Json(), type, pod(R"({"name":"a","image":"i","ports":[{"containerPort":80}]})"), by("one"));
  EXPECT_TRUE(fields_of(first, "one")["f:spec"]["f:containers"]["k:{\"name\":\"a\"}"]["f:ports"].contains(
      "k:{\"containerPort\":80,\"protocol\":\"TCP\"}"));
  const auto second = apply_patch(pods, first, type, pod(R"({"name":"a","image":"j"})"), by("two"));
  EXPECT_THAT(second, IsError(ErrorCode::kConflict, HasSubstr(R"(.spec.containers[name="a"].image)")));
}

TEST(ManagedFields, RecordTheChangesOfAnUpdate) {
  const Json applied = update_managed_fields(custom(), Json(), thing(R"({"replicas":1,"labels":{"a":"1"}})"), "m",
                                             "Update", "", FakeClock().wall());
  EXPECT_EQ(fields_of(applied, "m"), parse(R"({"f:spec":{".":{},"f:replicas":{},"f:labels":{".":{},"f:a":{}}}})"));
  Json less = applied;
  less["spec"].erase("replicas");
  less = update_managed_fields(custom(), applied, less, "other", "Update", "", FakeClock().wall());
  EXPECT_EQ(fields_of(less, "m"), parse(R"({"f:spec":{".":{},"f:labels":{".":{},"f:a":{}}}})"));
  const Json untracked = thing("{}");
  EXPECT_EQ(
      update_managed_fields(custom(), untracked, thing(R"({"replicas":1})"), "m", "Update", "", FakeClock().wall()),
      thing(R"({"replicas":1})"));
}

}  // namespace
}  // namespace tpuslice::sim
