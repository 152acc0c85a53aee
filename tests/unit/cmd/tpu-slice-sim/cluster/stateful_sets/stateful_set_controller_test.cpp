#include "tests/unit/cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_fixture.h"

namespace tpuslice::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class StatefulSetControllerTest : public StatefulSetFixture {};

TEST_F(StatefulSetControllerTest, SetsTheIdentityOfEveryPod) {
  const Json created = apply(a_set("web").replicas(2).parallel());
  run_for(1ms);
  ASSERT_THAT(pods(), ElementsAre("web-0", "web-1"));
  const Json found = pod("web-1");
  EXPECT_EQ(found["metadata"]["generateName"], "web-");
  EXPECT_EQ(found["spec"]["hostname"], "web-1");
  EXPECT_EQ(found["spec"]["subdomain"], "web");
  const Json labels = {{"app", "web"},
                       {"apps.kubernetes.io/pod-index", "1"},
                       {"statefulset.kubernetes.io/pod-name", "web-1"},
                       {"controller-revision-hash", status("web")["updateRevision"]}};
  for (const auto& [label, value] : labels.items()) EXPECT_EQ(found["metadata"]["labels"][label], value) << label;
  const Json owner = {{"apiVersion", "apps/v1"},           {"kind", "StatefulSet"}, {"name", "web"},
                      {"uid", created["metadata"]["uid"]}, {"controller", true},    {"blockOwnerDeletion", true}};
  EXPECT_EQ(found["metadata"]["ownerReferences"], Json::array({owner}));
}

TEST_F(StatefulSetControllerTest, OverwritesHostnameAndSubdomainOfTheTemplate) {
  Json set = a_set("web").set("/spec/template/spec/subdomain", "mine").set("/spec/template/spec/hostname", "mine");
  set["spec"].erase("serviceName");
  apply(set);
  run_for(1ms);
  EXPECT_EQ(pod("web-0")["spec"]["hostname"], "web-0");
  EXPECT_FALSE(pod("web-0")["spec"].contains("subdomain"));
}

TEST_F(StatefulSetControllerTest, CreatesEachPodWhenThePreviousOneIsReady) {
  apply(a_set("web").replicas(3));
  run_for(1ms);
  EXPECT_THAT(pods(), ElementsAre("web-0"));
  ASSERT_TRUE(run_until([this] { return pods().size() == 2; }));
  EXPECT_TRUE(ready("web-0"));
  EXPECT_EQ(counts("web"), "2 replicas, 1 ready, 2 current, 2 updated");
  run_for(1min);
  EXPECT_EQ(counts("web"), "3 replicas, 3 ready, 3 current, 3 updated");
  EXPECT_EQ(status("web")["availableReplicas"], 3);
  EXPECT_EQ(status("web")["collisionCount"], 0);
  EXPECT_EQ(status("web")["observedGeneration"], 1);
  EXPECT_EQ(status("web")["currentRevision"], status("web")["updateRevision"]);
  EXPECT_THAT(events_of("web"), ElementsAre("Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web successful",
                                            "Normal SuccessfulCreate: Create Pod web-1 in StatefulSet web successful",
                                            "Normal SuccessfulCreate: Create Pod web-2 in StatefulSet web successful"));
}

TEST_F(StatefulSetControllerTest, CreatesNoPodWhileOneIsNotReady) {
  apply(a_set("web").replicas(3).script("never-ready", "true"));
  run_for(5min);
  EXPECT_THAT(pods(), ElementsAre("web-0"));
  EXPECT_EQ(counts("web"), "1 replicas, 0 ready, 1 current, 1 updated");
  EXPECT_FALSE(status("web").contains("readyReplicas"));
}

TEST_F(StatefulSetControllerTest, WritesNothingWhenNothingChanges) {
  apply(a_set("web").replicas(3));
  run_for(1min);
  const Revision before = cluster_.storage().revision();
  run_for(1h);
  EXPECT_EQ(cluster_.storage().revision(), before);
}

TEST_F(StatefulSetControllerTest, WaitsUntilAPodIsAvailable) {
  apply(a_set("web").replicas(2).spec("minReadySeconds", 60));
  run_for(50s);
  EXPECT_THAT(pods(), ElementsAre("web-0"));
  EXPECT_EQ(status("web")["readyReplicas"], 1);
  EXPECT_EQ(status("web")["availableReplicas"], 0);
  run_for(30s);
  EXPECT_THAT(pods(), ElementsAre("web-0", "web-1"));
  EXPECT_EQ(status("web")["availableReplicas"], 1);
  run_for(2min);
  EXPECT_EQ(status("web")["availableReplicas"], 2);
}

TEST_F(StatefulSetControllerTest, NumbersThePodsFromTheStartOrdinal) {
  apply(a_set("web").replicas(2).parallel().spec("ordinals", {{"start", 5}}));
  run_for(1min);
  EXPECT_THAT(pods(), ElementsAre("web-5", "web-6"));
  ASSERT_TRUE(patch("web", {{"spec", {{"ordinals", {{"start", 6}}}}}}).ok());
  run_for(1min);
  EXPECT_THAT(pods(), ElementsAre("web-6", "web-7"));
}

TEST_F(StatefulSetControllerTest, ScalesDownOneByOneFromTheHighestOrdinal) {
  apply(a_set("web").replicas(4));
  run_for(2min);
  ASSERT_TRUE(patch("web", {{"spec", {{"replicas", 1}}}}).ok());
  run_for(1ms);
  std::vector<std::string> ending;
  for (const std::string& name : pods()) {
    if (pod(name)["metadata"].contains("deletionTimestamp")) ending.push_back(name);
  }
  EXPECT_THAT(ending, ElementsAre("web-3"));
  run_for(5min);
  EXPECT_THAT(pods(), ElementsAre("web-0"));
  EXPECT_EQ(counts("web"), "1 replicas, 1 ready, 1 current, 1 updated");
  EXPECT_THAT(events_of("web"), Contains("Normal SuccessfulDelete: Delete Pod web-1 in StatefulSet web successful"));
}

TEST_F(StatefulSetControllerTest, ScalesDownAtOnceInParallel) {
  apply(a_set("web").replicas(4).parallel());
  run_for(1min);
  ASSERT_TRUE(patch("web", {{"spec", {{"replicas", 0}}}}).ok());
  run_for(1ms);
  for (const std::string& name : pods()) EXPECT_TRUE(pod(name)["metadata"].contains("deletionTimestamp")) << name;
  run_for(1min);
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_EQ(counts("web"), "0 replicas, 0 ready, 0 current, 0 updated");
}

TEST_F(StatefulSetControllerTest, ScalesDownOnlyUnhealthyPodsWhileOneIsUnhealthy) {
  apply(a_set("web").replicas(3));
  run_for(1min);
  ASSERT_TRUE(cluster_.cordon(node_of("web-1")).ok());
  const auto change = [](Json& json) {
    json["metadata"]["annotations"]["sim.tpuslice.dev/never-ready"] = "true";
    return Status();
  };
  ASSERT_TRUE(
      cluster_.registry().modify(*cluster_.registry().resources().find_id("pods"), {"default", "web-0"}, {}, change));
  ASSERT_TRUE(cluster_.kill_container({"default", "web-0"}, "main").ok());
  run_for(30s);
  ASSERT_FALSE(ready("web-0"));
  ASSERT_TRUE(patch("web", {{"spec", {{"replicas", 1}}}}).ok());
  run_for(5min);
  EXPECT_THAT(pods(), ElementsAre("web-0", "web-1", "web-2"));
}

TEST_F(StatefulSetControllerTest, RecreatesPodsWithTheSameName) {
  apply(a_set("web").replicas(2));
  run_for(1min);
  const std::string failed = uid_of("web-0");
  const std::string deleted = uid_of("web-1");
  ASSERT_TRUE(cluster_.fail_pod({"default", "web-0"}).ok());
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-1"}).ok());
  run_for(2min);
  EXPECT_THAT(pods(), ElementsAre("web-0", "web-1"));
  EXPECT_NE(uid_of("web-0"), failed);
  EXPECT_NE(uid_of("web-1"), deleted);
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 2 current, 2 updated");
}

TEST_F(StatefulSetControllerTest, RetriesFailedWrites) {
  bool refuse = true;
  cluster_.set_webhooks([&refuse](const AdmissionRequest& request) -> Result<Json> {
    if (refuse && request.operation == "CREATE" && request.resource->id() == "pods") {
      return Error::of(ErrorCode::kForbidden, "not today").with_reason("Forbidden");
    }
    return request.object;
  });
  apply(a_set("web").replicas(2).parallel());
  run_for(10s);
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_EQ(counts("web"), "0 replicas, 0 ready, 0 current, 0 updated");
  EXPECT_THAT(events_of("web"), ElementsAre("Warning FailedCreate: Create Pod web-0 in StatefulSet web failed error: "
                                            "not today"));
  refuse = false;
  run_for(1min);
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 2 current, 2 updated");
}

TEST_F(StatefulSetControllerTest, AdoptsPodsByNameAndLabels) {
  const Json spec = {{"containers", Json::array({Json{{"name", "main"}, {"image", "other"}}})}};
  for (const char* name : {"web-0", "web-x", "other-0"}) {
    apply({{"apiVersion", "v1"},
           {"kind", "Pod"},
           {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"app", "web"}}}}},
           {"spec", spec}});
  }
  apply(a_set("web").replicas(2).spec("updateStrategy", {{"type", "OnDelete"}}));
  run_for(1min);
  EXPECT_THAT(owners(pod("web-0")), ElementsAre("StatefulSet web"));
  EXPECT_EQ(image_of("web-0"), "other");
  EXPECT_EQ(pod("web-0")["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"], "web-0");
  EXPECT_THAT(owners(pod("web-x")), IsEmpty());
  EXPECT_THAT(owners(pod("other-0")), IsEmpty());
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 1 current, 1 updated");
}

TEST_F(StatefulSetControllerTest, WaitsForANameOfAnotherPod) {
  apply({{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", "web-1"}, {"namespace", "default"}}},
         {"spec", {{"containers", Json::array({Json{{"name", "main"}, {"image", "other"}}})}}}});
  apply(a_set("web").replicas(3));
  run_for(1min);
  EXPECT_THAT(pods(), ElementsAre("web-0", "web-1"));
  EXPECT_EQ(counts("web"), "1 replicas, 1 ready, 1 current, 1 updated");
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-1"}).ok());
  run_for(3min);
  EXPECT_EQ(counts("web"), "3 replicas, 3 ready, 3 current, 3 updated");
  for (const std::string& event : events_of("web")) EXPECT_THAT(event, Not(::testing::HasSubstr("Failed")));
}

TEST_F(StatefulSetControllerTest, WaitsForATerminatingPod) {
  apply(a_set("web").replicas(2).parallel());
  run_for(1min);
  const std::string node = node_of("web-0");
  ASSERT_TRUE(cluster_.set_node_ready(node, false).ok());
  const std::string uid = uid_of("web-0");
  run_for(30min);
  EXPECT_EQ(uid_of("web-0"), uid);
  ASSERT_TRUE(cluster_.set_node_ready(node, true).ok());
  run_for(5min);
  EXPECT_NE(uid_of("web-0"), uid);
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 2 current, 2 updated");
}

TEST_F(StatefulSetControllerTest, ReleasesPodsThatTheSelectorDoesNotMatch) {
  apply(a_set("web").replicas(1));
  run_for(1min);
  ASSERT_TRUE(cluster_.registry().modify(*cluster_.registry().resources().find_id("pods"), {"default", "web-0"}, {},
                                         [](Json& json) {
                                           json["metadata"]["labels"]["app"] = "mine";
                                           return Status();
                                         }));
  run_for(1min);
  EXPECT_THAT(owners(pod("web-0")), IsEmpty());
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-0"}).ok());
  run_for(2min);
  EXPECT_THAT(owners(pod("web-0")), ElementsAre("StatefulSet web"));
}

TEST_F(StatefulSetControllerTest, DeletionOfASetDeletesItsPodsAndRevisions) {
  for (const char* propagation : {"Background", "Foreground"}) {
    apply(a_set("web").replicas(2).parallel());
    run_for(1min);
    ASSERT_THAT(revisions(), SizeIs(1));
    ASSERT_TRUE(cluster_.remove("statefulsets.apps", {"default", "web"}, propagation).ok());
    run_for(1ms);
    EXPECT_EQ(stateful_set("web").is_null(), std::string(propagation) == "Background");
    run_for(1min);
    EXPECT_TRUE(stateful_set("web").is_null());
    EXPECT_THAT(pods(), IsEmpty());
    EXPECT_THAT(revisions(), IsEmpty());
  }
}

TEST_F(StatefulSetControllerTest, ASetWithTheSameNameAdoptsOrphanedPods) {
  apply(a_set("web").replicas(2).parallel());
  run_for(1min);
  const std::string uid = uid_of("web-0");
  const std::string revision = status_text("web", "updateRevision");
  ASSERT_TRUE(cluster_.remove("statefulsets.apps", {"default", "web"}, "Orphan").ok());
  run_for(1min);
  ASSERT_TRUE(stateful_set("web").is_null());
  EXPECT_THAT(owners(pod("web-0")), IsEmpty());
  apply(a_set("web").replicas(2));
  run_for(1min);
  EXPECT_EQ(uid_of("web-0"), uid);
  EXPECT_EQ(status_text("web", "updateRevision"), revision);
  EXPECT_THAT(revisions(), ElementsAre(revision));
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 2 current, 2 updated");
}

TEST_F(StatefulSetControllerTest, SurvivesCompaction) {
  apply(a_set("web").replicas(2));
  run_for(1min);
  cluster_.compact();
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-1"}).ok());
  cluster_.compact();
  run_for(2min);
  EXPECT_THAT(pods(), ElementsAre("web-0", "web-1"));
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 2 current, 2 updated");
}

}  // namespace
}  // namespace tpuslice::sim
