// Custom resources: definitions, their objects, scale, tables and discovery.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/unit/cmd/tpu-slice-sim/test_server.h"

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

TEST(CustomResources, AreServedAsSoonAsTheyAreDefined) {
  TestServer api;
  EXPECT_EQ(api.send("GET", kWidgetsPath).status, 404);
  const Json crd = api.json("POST", kCrdsPath, widget_crd());
  EXPECT_EQ(string_at(crd, {"status", "acceptedNames", "singular"}), "widget");
  EXPECT_EQ(string_at(crd, {"status", "conditions", "1", "type"}), "Established");
  EXPECT_EQ(api.json("GET", kWidgetsPath).at("kind"), "WidgetList");
  const Json groups = api.json("GET", "/apis/example.com/v1");
  EXPECT_THAT(groups.dump(), HasSubstr("\"widgets/scale\""));
}

TEST(CustomResources, AreDefaultedAndChecked) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  EXPECT_EQ(api.json("POST", kWidgetsPath, widget("a", 1))["spec"]["replicas"], 1);
  const Json status = api.json("POST", kWidgetsPath, widget("b", -1));
  EXPECT_EQ(status["code"], 422);
  EXPECT_EQ(string_at(status, {"details", "causes", "0", "field"}), "spec.size");
  EXPECT_EQ(string_at(status, {"details", "kind"}), "Widget");
}

TEST(CustomResources, ReportUnknownFields) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  Json object = widget("a", 1);
  object["spec"]["colour"] = "red";
  const http::Response strict = api.send("POST", kWidgetsPath + "?fieldValidation=Strict", object);
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.body, HasSubstr("strict decoding error: unknown field \\\"spec.colour\\\""));
  const http::Response warned = api.send("POST", kWidgetsPath, object);
  EXPECT_EQ(warned.status, 201);
  const std::string* warning = http::find_header(warned.headers, "Warning");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(*warning, "299 - \"unknown field \\\"spec.colour\\\"\"");
  EXPECT_FALSE(api.json("GET", kWidgetsPath + "/a")["spec"].contains("colour"));
}

TEST(CustomResources, NeedAResourceVersionOnUpdate) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  ASSERT_EQ(api.send("POST", kWidgetsPath, widget("a", 1)).status, 201);
  EXPECT_EQ(api.send("PUT", kWidgetsPath + "/a", widget("a", 2)).status, 422);
}

TEST(CustomResources, AcceptMergePatchesButNotStrategicOnes) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  ASSERT_EQ(api.send("POST", kWidgetsPath, widget("a", 1)).status, 201);
  const Json change = {{"spec", {{"size", 5}}}};
  EXPECT_EQ(api.json("PATCH", kWidgetsPath + "/a", change, "application/merge-patch+json")["spec"]["size"], 5);
  EXPECT_EQ(api.send("PATCH", kWidgetsPath + "/a", change, "application/strategic-merge-patch+json").status, 415);
}

TEST(CustomResources, ScaleThroughTheirSubresource) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  ASSERT_EQ(api.send("POST", kWidgetsPath, widget("a", 1)).status, 201);
  const Json scale =
      api.json("PATCH", kWidgetsPath + "/a/scale", {{"spec", {{"replicas", 3}}}}, "application/merge-patch+json");
  EXPECT_EQ(string_at(scale, {"kind"}), "Scale");
  EXPECT_EQ(api.json("GET", kWidgetsPath + "/a")["spec"]["replicas"], 3);
}

TEST(CustomResources, HavePrinterColumns) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  Json object = api.json("POST", kWidgetsPath, widget("a", 4));
  object["status"]["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
  ASSERT_EQ(api.send("PUT", kWidgetsPath + "/a/status", object).status, 200);
  api.clock.advance(std::chrono::minutes(5));
  const Json table = Json::parse(api.send("GET", kWidgetsPath, nullptr, "", kTable).body);
  EXPECT_EQ(table.at("kind"), "Table");
  EXPECT_EQ(table["rows"][0]["cells"], Json::array({"a", 4, "True", "5m"}));
}

// kubectl prints columns of priority 1 with -o wide.
TEST(CustomResources, OfOursPrintWhyTheirSlicesWait) {
  TestServer api;
  const auto crd = parse_yaml(read_file("deploy/crds/jobset.x-k8s.io_jobsets.yaml").value());
  ASSERT_TRUE(crd.ok());
  ASSERT_EQ(api.send("POST", kCrdsPath, *crd).status, 201);
  const std::string path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets";
  const Json train = {
      {"apiVersion", "jobset.x-k8s.io/v1alpha2"}, {"kind", "JobSet"}, {"metadata", {{"name", "train"}}}};
  Json object = api.json("POST", path, train);
  object["status"]["conditions"] = Json::array({{{"type", "tpuslice.dev/SlicesPlaced"},
                                                 {"status", "False"},
                                                 {"reason", "NodesInUse"},
                                                 {"message", "train-0: 1 node pool matches, none is free"},
                                                 {"lastTransitionTime", "2026-01-01T00:00:00Z"}}});
  const http::Response updated = api.send("PUT", path + "/train/status", object);
  ASSERT_EQ(updated.status, 200) << updated.body;
  const Json table = Json::parse(api.send("GET", path, nullptr, "", kTable).body);
  std::vector<std::string> wide;
  for (std::size_t i = 0; i < table["columnDefinitions"].size(); ++i) {
    const Json& column = table["columnDefinitions"][i];
    if (int_at(column, {"priority"}) == 0) continue;
    wide.push_back(string_at(column, {"name"}) + ": " + table["rows"][0]["cells"][i].get<std::string>());
  }
  EXPECT_THAT(wide, ElementsAre("Slices: NodesInUse", "Waits: train-0: 1 node pool matches, none is free"));
}

TEST(CustomResources, AreDeletedWithTheirDefinition) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  Json held = widget("held", 1);
  held["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  ASSERT_EQ(api.send("POST", kWidgetsPath, widget("free", 1)).status, 201);
  ASSERT_EQ(api.send("POST", kWidgetsPath, held).status, 201);
  ASSERT_EQ(api.send("DELETE", kCrdsPath + "/widgets.example.com").status, 200);
  EXPECT_EQ(api.send("GET", kWidgetsPath + "/free").status, 404);
  EXPECT_EQ(api.send("GET", kCrdsPath + "/widgets.example.com").status, 200);
  const Json release = {{"metadata", {{"finalizers", nullptr}}}};
  ASSERT_EQ(api.send("PATCH", kWidgetsPath + "/held", release, "application/merge-patch+json").status, 200);
  EXPECT_EQ(api.send("GET", kCrdsPath + "/widgets.example.com").status, 404);
  EXPECT_EQ(api.send("GET", kWidgetsPath).status, 404);
}

}  // namespace
}  // namespace tpuslice::sim
