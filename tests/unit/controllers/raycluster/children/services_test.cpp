#include "controllers/raycluster/children/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Json head_service(const Json& json, const Options& options = {}) {
  const Object cluster(json);
  return build_head_service(RayClusterSpec::read(cluster), options).json();
}

using Kind = plan::ChildDecision::Kind;

std::vector<Service> decide(const RayClusterObserved& seen) {
  return decide_services(RayClusterSpec::read(seen.cluster), seen, {});
}

std::vector<Kind> kinds(const RayClusterObserved& seen) {
  std::vector<Kind> out;
  for (const Service& service : decide(seen)) out.push_back(service.decision.kind);
  return out;
}

void change_service(RayClusterObserved& seen, std::size_t index, const Json& patch) {
  Json service = seen.services[index]->object().json();
  service.merge_patch(patch);
  seen.services[index] = std::make_shared<const ObjectView>(decode_object(service));
}

TEST(HeadService, SelectsTheHeadAndExposesItsPorts) {
  const Json service = head_service(tutorial_cluster());
  EXPECT_EQ(service["metadata"]["name"], "maxtext-tpu-cluster-head-svc");
  EXPECT_EQ(service["spec"]["clusterIP"], "None");
  EXPECT_EQ(service["spec"]["publishNotReadyAddresses"], true);
  EXPECT_EQ(service["spec"]["selector"], Json({{"ray.io/cluster", "maxtext-tpu-cluster"},
                                               {"ray.io/node-type", "head"},
                                               {"ray.io/identifier", "maxtext-tpu-cluster-head"},
                                               {"app.kubernetes.io/name", "kuberay"},
                                               {"app.kubernetes.io/created-by", "kuberay-operator"}}));
  EXPECT_EQ(service["metadata"]["labels"], service["spec"]["selector"]);
  EXPECT_EQ(service["spec"]["ports"], Json::parse(R"([{"name": "client", "port": 10001, "appProtocol": "tcp"},
    {"name": "dashboard", "port": 8265, "appProtocol": "tcp"}, {"name": "gcs-server", "port": 6379, "appProtocol": "tcp"},
    {"name": "metrics", "port": 8080, "appProtocol": "tcp"}])"));
}

TEST(HeadService, HasDefaultPortsIfTheHeadDeclaresNone) {
  const Json service = head_service(a_cluster("c", {}));
  ASSERT_THAT(service["spec"]["ports"], SizeIs(5));
  EXPECT_EQ(service["spec"]["ports"][4], Json::parse(R"({"name": "serve", "port": 8000, "appProtocol": "tcp"})"));
}

TEST(HeadService, HasAClusterIPUnlessHeadless) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["headGroupSpec"]["serviceType"] = "NodePort";
  const Json service = head_service(cluster);
  EXPECT_EQ(service["spec"]["type"], "NodePort");
  EXPECT_FALSE(service["spec"].contains("clusterIP"));
  Options options;
  options.head_cluster_ip = true;
  EXPECT_FALSE(head_service(tutorial_cluster(), options)["spec"].contains("clusterIP"));
}

TEST(HeadService, FromATemplateGetsOurSelectorAndTheMissingPorts) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["headGroupSpec"]["headService"] =
      Json::parse(R"({"metadata": {"name": "mine", "labels": {"team": "ml"}},
    "spec": {"selector": {"x": "y"}, "sessionAffinity": "ClientIP", "ports": [{"name": "dashboard", "port": 80, "targetPort": 8265}]}})");
  const Json service = head_service(cluster);
  EXPECT_EQ(service["metadata"]["name"], "mine");
  EXPECT_EQ(service["metadata"]["labels"]["team"], "ml");
  EXPECT_EQ(service["spec"]["sessionAffinity"], "ClientIP");
  EXPECT_FALSE(service["spec"]["selector"].contains("x"));
  ASSERT_THAT(service["spec"]["ports"], SizeIs(4));
  EXPECT_EQ(service["spec"]["ports"][0]["targetPort"], 8265);
}

TEST(HeadService, TypeOfATemplateGoesBeforeServiceTypeAndItsAnnotationsBehindHeadServiceAnnotations) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["headServiceAnnotations"] = {{"a", "spec"}};
  Json& head = cluster["spec"]["headGroupSpec"];
  head["serviceType"] = "NodePort";
  head["headService"] = Json::parse(R"({"metadata": {"annotations": {"a": "template", "b": "template"}}})");
  EXPECT_EQ(head_service(cluster)["spec"]["type"], "NodePort");
  EXPECT_EQ(head_service(cluster)["metadata"]["annotations"], Json({{"a", "spec"}, {"b", "template"}}));
  head["headService"]["spec"]["type"] = "LoadBalancer";
  EXPECT_EQ(head_service(cluster)["spec"]["type"], "LoadBalancer");
}

TEST(HeadService, FollowsTheLabelsOfTheHead) {
  Json cluster = tutorial_cluster();
  cluster["spec"]["headGroupSpec"]["template"]["metadata"]["labels"] = {{"app.kubernetes.io/name", "mine"}};
  EXPECT_EQ(head_service(cluster)["spec"]["selector"]["app.kubernetes.io/name"], "mine");
}

TEST(HeadlessService, PublishesWorkersBeforeTheyAreReady) {
  const Object cluster(tutorial_cluster());
  const Json service = build_headless_service(RayClusterSpec::read(cluster)).json();
  EXPECT_EQ(service["metadata"]["name"], "maxtext-tpu-cluster-headless");
  EXPECT_EQ(service["metadata"]["labels"]["ray.io/headless-worker-svc"], "maxtext-tpu-cluster");
  EXPECT_EQ(service["metadata"]["labels"]["ray.io/cluster"], "maxtext-tpu-cluster");
  EXPECT_EQ(service["spec"],
            Json({{"clusterIP", "None"},
                  {"type", "ClusterIP"},
                  {"publishNotReadyAddresses", true},
                  {"selector", {{"ray.io/cluster", "maxtext-tpu-cluster"}, {"ray.io/node-type", "worker"}}}}));
}

TEST(HeadlessService, ExistsForMultiHostGroupsAndMultislices) {
  const auto needed = [](const Json& json) {
    const Object cluster(json);
    return needs_headless_service(RayClusterSpec::read(cluster));
  };
  const GroupFixture single{.name = "g", .replicas = 2, .hosts = 1, .topology = "2x2"};
  EXPECT_TRUE(needed(tutorial_cluster()));
  EXPECT_FALSE(needed(a_cluster("c", {single})));
  Json multislice = a_cluster("c", {single});
  multislice["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["env"] =
      Json::array({{{"name", "MEGASCALE_NUM_SLICES"}, {"value", "2"}}});
  EXPECT_TRUE(needed(multislice));
}

Json serving_cluster() {
  Json cluster = tutorial_cluster();
  cluster["metadata"]["annotations"]["ray.io/enable-serve-service"] = "true";
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["ports"] =
      Json::parse(R"([{"name": "serve-grpc", "containerPort": 9000}, {"name": "server", "containerPort": 1},
                      {"name": "serve", "containerPort": 8000}])");
  return cluster;
}

TEST(ServeService, HasThePortsNamedServeAndSelectsAllPods) {
  const Object cluster(serving_cluster());
  const Json service = build_serve_service(RayClusterSpec::read(cluster)).json();
  EXPECT_EQ(service["metadata"]["name"], "maxtext-tpu-cluster-serve-svc");
  EXPECT_EQ(service["metadata"]["labels"], Json({{"ray.io/cluster", "maxtext-tpu-cluster"},
                                                 {"ray.io/originated-from-crd", "RayCluster"},
                                                 {"ray.io/originated-from-cr-name", "maxtext-tpu-cluster"},
                                                 {"ray.io/serve", "maxtext-tpu-cluster-serve"}}));
  EXPECT_EQ(service["spec"], Json::parse(R"({"selector": {"ray.io/cluster": "maxtext-tpu-cluster"},
    "ports": [{"name": "serve", "port": 8000}, {"name": "serve-grpc", "port": 9000}]})"));
}

TEST(ServeService, HasTheDefaultPortAndTheTypeOfTheHeadService) {
  Json json = a_cluster("c", {});
  json["spec"]["headGroupSpec"]["serviceType"] = "NodePort";
  const Object cluster(json);
  const Json service = build_serve_service(RayClusterSpec::read(cluster)).json();
  EXPECT_EQ(service["spec"]["ports"], Json::parse(R"([{"name": "serve", "port": 8000}])"));
  EXPECT_EQ(service["spec"]["type"], "NodePort");
}

TEST(ServeService, OfAnotherOwnerIsReportedAndHoldsBackNoPod) {
  RayClusterObserved seen = all_running(Object(serving_cluster()));
  EXPECT_THAT(kinds(seen), ElementsAre(Kind::kNone, Kind::kNone, Kind::kNone));
  change_service(seen, 2, Json::parse(R"({"metadata": {"ownerReferences": null, "labels": {"ray.io/serve": "x"}}})"));
  EXPECT_THAT(kinds(seen), ElementsAre(Kind::kNone, Kind::kNone, Kind::kConflict));
  EXPECT_TRUE(pods_can_connect(decide(seen)));
  EXPECT_EQ(service_problem(decide(seen), std::nullopt).reason, "ServeServiceConflict");
}

TEST(DecideServices, AdoptsAServiceWithoutOwnerThatHasOurLabelsAndSelector) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change_service(seen, 0, Json::parse(R"({"metadata": {"ownerReferences": null}})"));
  const Service head = decide(seen)[0];
  EXPECT_EQ(head.decision.kind, Kind::kPatch);
  EXPECT_TRUE(head.adopted);
  EXPECT_EQ(head.decision.patch["metadata"]["ownerReferences"][0]["name"], "maxtext-tpu-cluster");
  EXPECT_EQ(service_problem(decide(seen), std::nullopt).message,
            "service maxtext-tpu-cluster-head-svc is being adopted");
  change_service(seen, 0, Json::parse(R"({"spec": {"selector": {"mine": "x"}}})"));
  EXPECT_EQ(decide(seen)[0].decision.kind, Kind::kConflict);
}

TEST(DecideServices, CreatesBothOnce) {
  const Object cluster(tutorial_cluster());
  EXPECT_THAT(kinds(nothing_yet(cluster)), ElementsAre(Kind::kCreate, Kind::kCreate));
  EXPECT_THAT(kinds(all_running(cluster)), ElementsAre(Kind::kNone, Kind::kNone));
}

TEST(DecideServices, RestoresPortsAndSelectorAndKeepsNodePorts) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  change_service(seen, 0, Json::parse(R"({"spec": {"selector": {"stray": "x"},
    "ports": [{"name": "client", "port": 10001, "appProtocol": "tcp", "nodePort": 30001}]}})"));
  const Service head = decide(seen)[0];
  EXPECT_EQ(head.decision.kind, Kind::kPatch);
  EXPECT_EQ(head.uid, seen.services[0]->uid);
  const Json& patch = head.decision.patch;
  EXPECT_TRUE(patch["spec"]["selector"]["stray"].is_null());
  EXPECT_THAT(patch["spec"]["ports"], SizeIs(4));
  EXPECT_EQ(patch["spec"]["ports"][0]["nodePort"], 30001);
}

TEST(DecideServices, ReportsAServiceOfAnotherOwner) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  ObjectView other = *seen.services[0];
  other.controller = ControllerRef{"v1", "Gateway", "edge", "uid-9"};
  seen.services[0] = std::make_shared<const ObjectView>(other);
  const std::vector<Service> services = decide(seen);
  EXPECT_THAT(service_conflicts(services),
              AllOf(HasSubstr("service default/maxtext-tpu-cluster-head-svc belongs to Gateway edge"),
                    HasSubstr("spec.headGroupSpec.headService.metadata.name")));
  EXPECT_EQ(service_problem(services, std::nullopt).reason, "ServiceConflict");
}

TEST(DecideServices, WaitsForAServiceThatIsBeingDeleted) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  ObjectView terminating = *seen.services[0];
  terminating.deletion = a_time();
  seen.services[0] = std::make_shared<const ObjectView>(terminating);
  EXPECT_THAT(kinds(seen), ElementsAre(Kind::kWait, Kind::kNone));
}

TEST(DecideServices, WaitsForAServiceOfAnEarlierClusterOfTheSameName) {
  RayClusterObserved seen = all_running(Object(tutorial_cluster()));
  ObjectView earlier = *seen.services[0];
  earlier.controller->uid = "uid-of-earlier";
  seen.services[0] = std::make_shared<const ObjectView>(earlier);
  EXPECT_THAT(kinds(seen), ElementsAre(Kind::kWait, Kind::kNone));
}

TEST(ServiceProblem, SaysWhatTheServicesWaitFor) {
  const Object cluster(tutorial_cluster());
  EXPECT_EQ(service_problem(decide(nothing_yet(cluster)), std::nullopt),
            (Problem{"ServicesPending",
                     "service maxtext-tpu-cluster-head-svc is being created; service maxtext-tpu-cluster-headless is "
                     "being created"}));
  EXPECT_FALSE(service_problem(decide(all_running(cluster)), std::nullopt));
}

TEST(ServiceProblem, IsAFailedWrite) {
  const std::vector<Service> services = decide(nothing_yet(Object(tutorial_cluster())));
  EXPECT_EQ(service_problem(services, plan::Failure{"FailedService", "quota exceeded"}),
            (Problem{"FailedService", "quota exceeded"}));
}

}  // namespace
}  // namespace tpuslice::raycluster
