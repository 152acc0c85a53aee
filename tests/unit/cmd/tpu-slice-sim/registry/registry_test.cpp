#include "cmd/tpu-slice-sim/registry/registry.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cmd/tpu-slice-sim/test_server.h"

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

TEST(Registry, SetsUidTimeAndVersionOfANewObject) {
  TestServer api;
  const Json created = api.json("POST", kPodsPath, pod("a"));
  EXPECT_THAT(string_at(created, {"metadata", "uid"}), MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab].*"));
  EXPECT_EQ(string_at(created, {"metadata", "creationTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(string_at(created, {"metadata", "namespace"}), "default");
  EXPECT_EQ(string_at(created, {"status", "phase"}), "Pending");
}

TEST(Registry, GeneratesEqualUidsFromEqualSeeds) {
  TestServer one;
  TestServer two;
  EXPECT_EQ(one.json("POST", kPodsPath, pod("a")), two.json("POST", kPodsPath, pod("a")));
}

TEST(Registry, CompletesAGeneratedName) {
  TestServer api;
  Json object = config_map("");
  object["metadata"] = {{"generateName", "job-"}};
  const Json created = api.json("POST", kConfigMapsPath, object);
  EXPECT_THAT(string_at(created, {"metadata", "name"}), MatchesRegex("job-[bcdfghjklmnpqrstvwxz2456789]{5}"));
}

TEST(Registry, ReturnsTheErrorsOfTheRealServer) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kPodsPath, pod("a")).status, 201);
  Json stale = api.json("GET", kPodsPath + "/a");
  stale["metadata"]["resourceVersion"] = "1";
  struct Row {
    Json status;
    int code;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {api.json("POST", kPodsPath, pod("a")), 409, "AlreadyExists", "pods \"a\" already exists"},
      {api.json("GET", kPodsPath + "/b"), 404, "NotFound", "pods \"b\" not found"},
      {api.json("PUT", kPodsPath + "/a", stale), 409, "Conflict",
       "Operation cannot be fulfilled on pods \"a\": the object has been modified; please apply your changes to the "
       "latest version and try again"},
      {api.json("POST", "/api/v1/namespaces/none/pods", pod("a")), 404, "NotFound", "namespaces \"none\" not found"},
      {api.json("GET", "/apis/apps/v1/widgets"), 404, "NotFound", "the server could not find the requested resource"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.status.at("code"), row.code) << row.message;
    EXPECT_EQ(string_at(row.status, {"reason"}), row.reason);
    EXPECT_EQ(string_at(row.status, {"message"}), row.message);
  }
}

TEST(Registry, RefusesBodiesOfArbitraryBytes) {
  TestServer api;
  for (const std::string& body :
       {std::string("{\xff"), std::string("\xc3\xa4"), "[\"" + std::string(27, 'x') + "\xc3\xa4\"]",
        std::string("{\"kind\":\"\xff\"}"), std::string()}) {
    http::Request request = TestServer::request("POST", kConfigMapsPath, nullptr, "application/json", "");
    request.body = body;
    const auto refused = api.transport.call(request, std::chrono::seconds(5), {});
    ASSERT_TRUE(refused.ok());
    EXPECT_EQ(refused->status, 400) << body;
    EXPECT_TRUE(Json::parse(refused->body, nullptr, false).is_object()) << refused->body;
  }
  EXPECT_EQ(api.send("GET", kConfigMapsPath + "?continue=nonsense").status, 400);
}

TEST(Registry, NamesTheFieldOfABadName) {
  TestServer api;
  const Json status = api.json("POST", kConfigMapsPath, config_map("Not_Good"));
  EXPECT_EQ(status.at("code"), 422);
  EXPECT_THAT(string_at(status, {"message"}),
              HasSubstr("ConfigMap \"Not_Good\" is invalid: metadata.name: Invalid value"));
  EXPECT_EQ(string_at(status, {"details", "causes", "0", "field"}), "metadata.name");
  EXPECT_EQ(string_at(status, {"details", "causes", "0", "reason"}), "FieldValueInvalid");
}

TEST(Registry, ReportsUnknownFieldsOfABuiltInKind) {
  TestServer api;
  Json object = pod("a");
  object["spec"]["containers"][0]["imagee"] = "typo";
  const http::Response refused = api.send("POST", kPodsPath + "?fieldValidation=Strict", object);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("unknown field \\\"spec.containers[0].imagee\\\""));
  EXPECT_EQ(api.send("POST", kPodsPath, object).status, 201);
  EXPECT_EQ(find_path(api.json("GET", kPodsPath + "/a"), {"spec", "containers", "0", "imagee"}), nullptr);
}

TEST(Registry, RefusesInvalidUtf8) {
  TestServer api;
  EXPECT_EQ(api.send("GET", kPodsPath + "/%ff").status, 400);
  EXPECT_EQ(api.send("GET", kPodsPath + "?labelSelector=%ff").status, 400);
}

TEST(Registry, DoesNotWriteWhatDoesNotChange) {
  TestServer api;
  const Json created = api.json("POST", kConfigMapsPath, config_map("a"));
  const Revision before = api.storage.revision();
  const Json again = api.json("PUT", kConfigMapsPath + "/a", created);
  EXPECT_EQ(again, created);
  EXPECT_EQ(api.storage.revision(), before);
}

TEST(Registry, CountsChangesOfTheSpecOnly) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  Json object = api.json("POST", kWidgetsPath, widget("w", 1));
  EXPECT_EQ(object["metadata"]["generation"], 1);
  object["metadata"]["labels"] = {{"a", "b"}};
  object = api.json("PUT", kWidgetsPath + "/w", object);
  EXPECT_EQ(object["metadata"]["generation"], 1);
  object["spec"]["size"] = 2;
  object = api.json("PUT", kWidgetsPath + "/w", object);
  EXPECT_EQ(object["metadata"]["generation"], 2);
}

TEST(Registry, KeepsStatusAndSpecApart) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kCrdsPath, widget_crd()).status, 201);
  Json object = widget("w", 1);
  object["status"] = {{"phase", "Forged"}};
  object = api.json("POST", kWidgetsPath, object);
  EXPECT_FALSE(object.contains("status"));
  object["status"] = {{"phase", "Ready"}};
  object["spec"]["size"] = 9;
  object = api.json("PUT", kWidgetsPath + "/w/status", object);
  EXPECT_EQ(string_at(object, {"status", "phase"}), "Ready");
  EXPECT_EQ(object["spec"]["size"], 1);
  EXPECT_EQ(object["metadata"]["generation"], 1);
  object["status"] = {{"phase", "Forged"}};
  object["spec"]["size"] = 2;
  object = api.json("PUT", kWidgetsPath + "/w", object);
  EXPECT_EQ(string_at(object, {"status", "phase"}), "Ready");
  EXPECT_EQ(object["spec"]["size"], 2);
}

TEST(Registry, StoresNothingInADryRun) {
  TestServer api;
  const Revision before = api.storage.revision();
  EXPECT_EQ(api.send("POST", kConfigMapsPath + "?dryRun=All", config_map("a")).status, 201);
  EXPECT_EQ(api.storage.revision(), before);
  EXPECT_EQ(api.send("GET", kConfigMapsPath + "/a").status, 404);
}

TEST(Registry, CallsAdmissionThatChangesOrRefuses) {
  TestServer api;
  api.registry.set_admission([](const AdmissionRequest& request) -> Result<Json> {
    if (request.key.name == "bad") return Error::of(ErrorCode::kForbidden, "no").with_reason("Forbidden");
    Json object = request.operation == "DELETE" ? request.old_object : request.object;
    object["metadata"]["labels"]["seen"] = request.operation;
    return object;
  });
  EXPECT_EQ(string_at(api.json("POST", kConfigMapsPath, config_map("a")), {"metadata", "labels", "seen"}), "CREATE");
  EXPECT_EQ(api.send("POST", kConfigMapsPath, config_map("bad")).status, 403);
}

TEST(Registry, ValidatesAnObjectBeforeValidatingAdmission) {
  TestServer api;
  std::vector<std::string> asked;
  api.registry.set_admission({}, [&asked](const AdmissionRequest& request) -> Status {
    asked.push_back(request.operation + " " + request.key.name);
    if (request.key.name == "bad") return Error::of(ErrorCode::kForbidden, "no").with_reason("Forbidden");
    return {};
  });
  EXPECT_EQ(api.send("POST", kConfigMapsPath, config_map("No-Name")).status, 422);
  EXPECT_THAT(asked, IsEmpty()) << "it is invalid in any case";
  EXPECT_EQ(api.send("POST", kConfigMapsPath, config_map("bad")).status, 403);
  Json good = api.json("POST", kConfigMapsPath, config_map("good"));
  good["data"]["more"] = "1";
  EXPECT_EQ(api.send("PUT", kConfigMapsPath + "/good", good).status, 200);
  EXPECT_EQ(api.send("DELETE", kConfigMapsPath + "/good").status, 200);
  EXPECT_THAT(asked, ElementsAre("CREATE bad", "CREATE good", "UPDATE good", "DELETE good"));
}

TEST(Registry, KeepsADeletedObjectUntilItsLastFinalizerIsRemoved) {
  TestServer api;
  Json object = config_map("a");
  object["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  ASSERT_EQ(api.send("POST", kConfigMapsPath, object).status, 201);
  Json deleting = api.json("DELETE", kConfigMapsPath + "/a");
  EXPECT_EQ(string_at(deleting, {"metadata", "deletionTimestamp"}), "2026-01-01T00:00:00Z");
  Json more = deleting;
  more["metadata"]["finalizers"].push_back("example.com/more");
  EXPECT_EQ(api.send("PUT", kConfigMapsPath + "/a", more).status, 422);
  deleting["metadata"]["finalizers"] = Json::array();
  EXPECT_EQ(api.send("PUT", kConfigMapsPath + "/a", deleting).status, 200);
  EXPECT_EQ(api.send("GET", kConfigMapsPath + "/a").status, 404);
}

TEST(Registry, AppliesTheGracePeriodToRunningPods) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kPodsPath, pod("waiting")).status, 201);
  EXPECT_EQ(api.send("DELETE", kPodsPath + "/waiting").status, 200);
  EXPECT_EQ(api.send("GET", kPodsPath + "/waiting").status, 404);

  ASSERT_EQ(api.send("POST", kPodsPath, pod("a")).status, 201);
  const Json binding = {{"apiVersion", "v1"}, {"kind", "Binding"}, {"target", {{"kind", "Node"}, {"name", "n1"}}}};
  ASSERT_EQ(api.send("POST", kPodsPath + "/a/binding", binding).status, 201);
  EXPECT_EQ(api.send("POST", kPodsPath + "/a/binding", binding).status, 409);
  const Json deleting = api.json("DELETE", kPodsPath + "/a");
  EXPECT_EQ(deleting["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(string_at(deleting, {"metadata", "deletionTimestamp"}), "2026-01-01T00:00:30Z");
  EXPECT_EQ(api.send("DELETE", kPodsPath + "/a", {{"gracePeriodSeconds", 0}}).status, 200);
  EXPECT_EQ(api.send("GET", kPodsPath + "/a").status, 404);
}

TEST(Registry, RemovesAPodEvenIfItsKubeletRemovedItFirst) {
  TestServer api;
  const ResourcePtr pods = api.registry.resources().find_id("pods");
  DeleteOptions at_once;
  at_once.grace_seconds = 0;
  const std::jthread kubelet([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto seen = api.registry.get(*pods, {"default", "a"});
      if (seen && find_path(seen->json(), {"metadata", "deletionTimestamp"}) != nullptr) {
        DeleteOptions this_one = at_once;
        this_one.uid = seen->uid();
        static_cast<void>(api.registry.remove(*pods, {"default", "a"}, this_one));
      }
    }
  });
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(api.send("POST", kPodsPath, pod("a")).status, 201);
    const auto removed = api.registry.remove(*pods, {"default", "a"}, at_once);
    EXPECT_TRUE(removed.ok()) << removed.error().message();
  }
}

TEST(Registry, SetsFinalizersForPropagationPolicies) {
  TestServer api;
  ASSERT_EQ(api.send("POST", kConfigMapsPath, config_map("a")).status, 201);
  const Json held = api.json("DELETE", kConfigMapsPath + "/a", {{"propagationPolicy", "Foreground"}});
  EXPECT_EQ(held["metadata"]["finalizers"], Json::array({"foregroundDeletion"}));
}

TEST(Registry, ChecksDeletePreconditions) {
  TestServer api;
  const Json created = api.json("POST", kConfigMapsPath, config_map("a"));
  const Json wrong = {{"preconditions", {{"uid", "other"}}}};
  EXPECT_EQ(api.send("DELETE", kConfigMapsPath + "/a", wrong).status, 409);
  const Json right = {
      {"preconditions",
       {{"uid", created["metadata"]["uid"]}, {"resourceVersion", created["metadata"]["resourceVersion"]}}}};
  EXPECT_EQ(api.send("DELETE", kConfigMapsPath + "/a", right).status, 200);
}

TEST(Registry, RemovesATerminatingNamespaceOnlyWhenFinalized) {
  TestServer api;
  ASSERT_EQ(api.send("POST", "/api/v1/namespaces", {{"metadata", {{"name", "team"}}}}).status, 201);
  Json space = api.json("DELETE", "/api/v1/namespaces/team");
  EXPECT_EQ(string_at(space, {"status", "phase"}), "Terminating");
  const Json refused = api.json("POST", "/api/v1/namespaces/team/configmaps", config_map("a"));
  EXPECT_EQ(refused["code"], 403);
  EXPECT_THAT(string_at(refused, {"message"}), HasSubstr("because it is being terminated"));
  space["spec"]["finalizers"] = Json::array();
  EXPECT_EQ(api.send("PUT", "/api/v1/namespaces/team/finalize", space).status, 200);
  EXPECT_EQ(api.send("GET", "/api/v1/namespaces/team").status, 404);
}

TEST(Registry, AllocatesAddressesForServices) {
  TestServer api;
  const auto service = [](const char* name, const Json& spec) {
    return Json{{"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", {{"name", name}}}, {"spec", spec}};
  };
  const Json ports = Json::array({{{"port", 80}}});
  const std::string path = "/api/v1/namespaces/default/services";
  const Json a = api.json("POST", path, service("a", {{"ports", ports}}));
  const Json b = api.json("POST", path, service("b", {{"ports", ports}}));
  EXPECT_EQ(string_at(a, {"spec", "clusterIP"}), "10.96.0.2");
  EXPECT_EQ(string_at(b, {"spec", "clusterIP"}), "10.96.0.3");
  const Json headless = api.json("POST", path, service("h", {{"clusterIP", "None"}, {"ports", ports}}));
  EXPECT_EQ(string_at(headless, {"spec", "clusterIP"}), "None");
  EXPECT_EQ(api.send("POST", path, service("c", {{"clusterIP", "10.96.0.2"}, {"ports", ports}})).status, 422);
}

TEST(Registry, AllocatesDifferentAddressesForServicesThatAreCreatedAtTheSameTime) {
  TestServer api;
  const std::string path = "/api/v1/namespaces/default/services";
  const auto service = [](const char* name) -> Json {
    return {{"apiVersion", "v1"},
            {"kind", "Service"},
            {"metadata", {{"name", name}}},
            {"spec", {{"type", "NodePort"}, {"ports", Json::array({{{"port", 80}}})}}}};
  };
  Json second;
  api.registry.set_admission([&](const AdmissionRequest& request) -> Result<Json> {
    if (request.key.name == "a") second = api.json("POST", path, service("b"));
    return request.object;
  });
  const Json first = api.json("POST", path, service("a"));
  EXPECT_EQ(string_at(second, {"spec", "clusterIP"}), "10.96.0.2");
  EXPECT_EQ(string_at(first, {"spec", "clusterIP"}), "10.96.0.3");
  EXPECT_EQ(int_at(second, {"spec", "ports", "0", "nodePort"}), 30000);
  EXPECT_EQ(int_at(first, {"spec", "ports", "0", "nodePort"}), 30001);
}

TEST(Registry, DefaultsThePortNamesOfEndpointSlices) {
  TestServer api;
  const Json slice = {{"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"},
                      {"metadata", {{"name", "s"}}},         {"addressType", "IPv4"},
                      {"endpoints", Json::array()},          {"ports", Json::array({{{"port", 80}}})}};
  const Json created = api.json("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice);
  EXPECT_EQ(created["ports"][0]["name"], "");
}

TEST(Registry, ServesEventsInBothGroups) {
  TestServer api;
  const Json event = {{"apiVersion", "events.k8s.io/v1"},
                      {"kind", "Event"},
                      {"metadata", {{"name", "e"}, {"namespace", "default"}}},
                      {"eventTime", "2026-01-01T00:00:00.000000Z"},
                      {"reportingController", "tester"},
                      {"reportingInstance", "tester-0"},
                      {"action", "Testing"},
                      {"reason", "Tested"},
                      {"type", "Normal"},
                      {"note", "all is well"},
                      {"regarding", {{"kind", "Pod"}, {"name", "a"}, {"namespace", "default"}}}};
  const std::string path = "/apis/events.k8s.io/v1/namespaces/default/events";
  const http::Response created = api.send("POST", path, event);
  ASSERT_EQ(created.status, 201) << created.body;
  const Json core = api.json("GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Da");
  ASSERT_EQ(core.at("items").size(), 1U);
  EXPECT_EQ(string_at(core, {"items", "0", "message"}), "all is well");
  EXPECT_EQ(string_at(core, {"items", "0", "involvedObject", "kind"}), "Pod");
  EXPECT_EQ(string_at(api.json("GET", path + "/e"), {"note"}), "all is well");
}

}  // namespace
}  // namespace tpuslice::sim
