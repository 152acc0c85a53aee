// Gateways and HTTPRoutes: what is read of live ones, and what a store keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayservice/gateway_view.h"
#include "controllers/rayservice/http_route.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using testing::HasSubstr;

class GatewayObjects : public testing::Test {
 protected:
  GatewayObjects() : service_(an_incremental_service()), spec_(RayServiceSpec::read(service_)) {}

  // A route of ours with this status.
  [[nodiscard]] ObjectView route(const std::string& status, std::int64_t generation = 3) const {
    Json json = build_http_route(spec_, {}).json();
    json["metadata"]["uid"] = "uid-route";
    json["metadata"]["resourceVersion"] = "1";
    json["metadata"]["generation"] = generation;
    json["status"] = Json::parse(status);
    return ObjectView::from_json(json).value();
  }

  Object service_;
  RayServiceSpec spec_;
};

TEST_F(GatewayObjects, ARouteIsInEffectIfItsGatewayHasAcceptedItAndFoundItsServices) {
  const char* ready = R"({"parents": [{"parentRef": {"name": "other"}, "conditions": []},
    {"parentRef": {"name": "llm-gateway"}, "conditions": [
      {"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}]})";
  EXPECT_FALSE(http_route_problem(spec_, route(ready)));
  EXPECT_THAT(http_route_problem(spec_, route("{}")).message,
              HasSubstr("no controller of the Gateway has accepted it"));
  const char* unresolved =
      R"({"parents": [{"parentRef": {"name": "llm-gateway", "namespace": "default"}, "conditions": [
      {"type": "Accepted", "status": "True"},
      {"type": "ResolvedRefs", "status": "False", "message": "no service a-serve-svc"}]}]})";
  EXPECT_EQ(http_route_problem(spec_, route(unresolved)).reason, "HTTPRouteNotReady");
  EXPECT_THAT(http_route_problem(spec_, route(unresolved)).message, HasSubstr("no service a-serve-svc"));
  const char* elsewhere = R"({"parents": [{"parentRef": {"name": "llm-gateway", "namespace": "other"}, "conditions": [
      {"type": "Accepted", "status": "True"}, {"type": "ResolvedRefs", "status": "True"}]}]})";
  EXPECT_TRUE(http_route_problem(spec_, route(elsewhere)));
}

TEST_F(GatewayObjects, ARouteIsProgrammedIfItsGenerationIsReported) {
  const auto reported = [&](const char* generation) {
    return route(fmt::format(R"({{"parents": [{{"parentRef": {{"name": "llm-gateway"}}, "conditions": [
      {{"type": "Accepted", "status": "True"{}}}]}}]}})",
                             generation));
  };
  EXPECT_TRUE(is_programmed(spec_, reported("")));
  EXPECT_TRUE(is_programmed(spec_, reported(R"(, "observedGeneration": 3)")));
  EXPECT_FALSE(is_programmed(spec_, reported(R"(, "observedGeneration": 2)")));
  EXPECT_FALSE(is_programmed(spec_, route("{}")));
}

TEST(GatewayView, KeepsOnlyThoseOfRayServices) {
  const Json gateway = Json::parse(R"({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {
    "name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1", "labels": {"a": "b"}}, "spec": {"x": 1}})");
  const GatewayView foreign = GatewayView::from_json(gateway).value();
  EXPECT_EQ(foreign.key.name, "a");
  EXPECT_EQ(foreign.text, "");
  EXPECT_FALSE(foreign.minimal);
  Json ours = gateway;
  ours["metadata"]["ownerReferences"] = Json::parse(
      R"([{"apiVersion": "ray.io/v1", "kind": "RayService", "name": "llm", "uid": "uid-llm", "controller": true}])");
  EXPECT_EQ(GatewayView::from_json(ours).value().object().json()["spec"]["x"], 1);
}

}  // namespace
}  // namespace tpuslice::rayservice
