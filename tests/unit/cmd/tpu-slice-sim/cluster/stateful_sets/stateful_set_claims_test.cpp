#include "tests/unit/cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_fixture.h"

namespace tpuslice::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class StatefulSetClaimsTest : public StatefulSetFixture {
 protected:
  void scale(int replicas) { ASSERT_TRUE(patch("web", {{"spec", {{"replicas", replicas}}}}).ok()); }
  void remove_set() { ASSERT_TRUE(cluster_.remove("statefulsets.apps", {"default", "web"}).ok()); }
};

TEST_F(StatefulSetClaimsTest, AreCreatedForEveryPod) {
  apply(a_set("web").replicas(2).parallel().claim("data").claim("logs").set(
      "/spec/template/spec/volumes", Json::array({Json{{"name", "data"}, {"emptyDir", Json::object()}},
                                                  Json{{"name", "tmp"}, {"emptyDir", Json::object()}}})));
  run_for(1min);
  EXPECT_THAT(claims(), ElementsAre("data-web-0", "data-web-1", "logs-web-0", "logs-web-1"));
  EXPECT_EQ(claim("data-web-1")["metadata"]["labels"], (Json{{"app", "web"}}));
  EXPECT_EQ(claim("data-web-1")["spec"]["resources"]["requests"]["storage"], "1Gi");
  EXPECT_THAT(owners(claim("data-web-1")), IsEmpty());
  const Json volumes = pod("web-1")["spec"]["volumes"];
  EXPECT_EQ(volumes[0], (Json{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", "data-web-1"}}}}));
  EXPECT_EQ(volumes[1], (Json{{"name", "logs"}, {"persistentVolumeClaim", {{"claimName", "logs-web-1"}}}}));
  EXPECT_EQ(volumes[2]["name"], "tmp");
  EXPECT_THAT(events_of("web"),
              Contains("Normal SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success"));
}

TEST_F(StatefulSetClaimsTest, AreKeptForTheNextPodAndTheNextSet) {
  apply(a_set("web").replicas(2).claim("data"));
  run_for(1min);
  const Json before = claim("data-web-1");
  scale(1);
  run_for(1min);
  EXPECT_THAT(claims(), ElementsAre("data-web-0", "data-web-1"));
  remove_set();
  run_for(1min);
  apply(a_set("web").replicas(2).claim("data"));
  run_for(1min);
  EXPECT_EQ(claim("data-web-1")["metadata"]["uid"], before["metadata"]["uid"]);
}

TEST_F(StatefulSetClaimsTest, AreDeletedWithTheSetIfWhenDeletedIsDelete) {
  apply(a_set("web").replicas(2).claim("data").claims_kept("Delete", "Retain"));
  run_for(1min);
  EXPECT_THAT(owners(claim("data-web-1")), ElementsAre("StatefulSet web"));
  scale(1);
  run_for(1min);
  EXPECT_THAT(claims(), ElementsAre("data-web-0", "data-web-1"));
  remove_set();
  run_for(1min);
  EXPECT_THAT(claims(), IsEmpty());
}

TEST_F(StatefulSetClaimsTest, AreDeletedWithAScaledDownPodIfWhenScaledIsDelete) {
  apply(a_set("web").replicas(2).claim("data").claims_kept("Retain", "Delete"));
  run_for(1min);
  EXPECT_THAT(owners(claim("data-web-1")), IsEmpty());
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-1"}).ok());
  run_for(1min);
  EXPECT_THAT(claims(), ElementsAre("data-web-0", "data-web-1"));
  scale(1);
  run_for(1min);
  EXPECT_THAT(claims(), ElementsAre("data-web-0"));
  remove_set();
  run_for(1min);
  EXPECT_THAT(claims(), ElementsAre("data-web-0"));
}

TEST_F(StatefulSetClaimsTest, FollowAChangeOfTheRetentionPolicy) {
  apply(a_set("web").replicas(1).claim("data").claims_kept("Delete", "Delete"));
  run_for(1min);
  EXPECT_THAT(owners(claim("data-web-0")), ElementsAre("StatefulSet web"));
  const Json retain = {{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}};
  ASSERT_TRUE(patch("web", {{"spec", {{"persistentVolumeClaimRetentionPolicy", retain}}}}).ok());
  run_for(1min);
  EXPECT_THAT(owners(claim("data-web-0")), IsEmpty());
  EXPECT_THAT(events_of("web"), Contains("Normal SuccessfulUpdate: Update Pod web-0 in StatefulSet web successful"));
}

TEST_F(StatefulSetClaimsTest, AreNotChangedIfAnotherControllerOwnsThem) {
  apply({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "other"}, {"namespace", "default"}}}});
  const std::string uid = string_at(*cluster_.get("configmaps", {"default", "other"}), {"metadata", "uid"});
  const Json owner = {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "other"}, {"uid", uid}, {"controller", true}};
  apply({{"apiVersion", "v1"},
         {"kind", "PersistentVolumeClaim"},
         {"metadata", {{"name", "data-web-0"}, {"namespace", "default"}, {"ownerReferences", Json::array({owner})}}},
         {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
  apply(a_set("web").replicas(1).claim("data").claims_kept("Delete", "Retain"));
  run_for(1min);
  EXPECT_THAT(owners(claim("data-web-0")), ElementsAre("ConfigMap other"));
  EXPECT_EQ(counts("web"), "1 replicas, 1 ready, 1 current, 1 updated");
}

TEST_F(StatefulSetClaimsTest, DelayAPodWhileTheyAreTerminating) {
  apply({{"apiVersion", "v1"},
         {"kind", "PersistentVolumeClaim"},
         {"metadata", {{"name", "data-web-0"}, {"namespace", "default"}, {"finalizers", {"example.com/hold"}}}},
         {"spec", {{"accessModes", {"ReadWriteOnce"}}, {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});
  ASSERT_TRUE(cluster_.remove("persistentvolumeclaims", {"default", "data-web-0"}).ok());
  apply(a_set("web").replicas(1).claim("data"));
  run_for(10s);
  EXPECT_THAT(pods(), IsEmpty());
  EXPECT_THAT(events_of("web"), ElementsAre("Warning FailedCreate: Create Pod web-0 in StatefulSet web failed error: "
                                            "pvc data-web-0 is being deleted"));
  ASSERT_TRUE(cluster_.registry().modify(*cluster_.registry().resources().find_id("persistentvolumeclaims"),
                                         {"default", "data-web-0"}, {}, [](Json& json) {
                                           json["metadata"].erase("finalizers");
                                           return Status();
                                         }));
  run_for(1min);
  EXPECT_EQ(counts("web"), "1 replicas, 1 ready, 1 current, 1 updated");
}

}  // namespace
}  // namespace tpuslice::sim
