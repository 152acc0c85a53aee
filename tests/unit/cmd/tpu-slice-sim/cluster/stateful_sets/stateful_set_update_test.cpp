// New templates, and the revisions that keep the old ones.
#include "tests/unit/cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_fixture.h"

namespace tpuslice::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

Json new_image(const std::string& image) {
  const Json containers = Json::array({Json{{"name", "main"}, {"image", image}}});
  return {{"spec", {{"template", {{"spec", {{"containers", containers}}}}}}}};
}

Json new_partition(int ordinal) {
  return {{"spec", {{"updateStrategy", {{"rollingUpdate", {{"partition", ordinal}}}}}}}};
}

class StatefulSetUpdateTest : public StatefulSetFixture {
 protected:
  [[nodiscard]] Json revision(const std::string& name) const {
    const JsonPtr found = cluster_.get("controllerrevisions.apps", {"default", name});
    return found == nullptr ? Json() : *found;
  }
};

TEST_F(StatefulSetUpdateTest, RecordsTheTemplateInARevision) {
  apply(a_set("web").set("/metadata/annotations", {{"note", "first"}}));
  run_for(1min);
  ASSERT_THAT(revisions(), SizeIs(1));
  const Json found = revision(revisions()[0]);
  EXPECT_EQ(found["revision"], 1);
  EXPECT_EQ(found["metadata"]["labels"]["app"], "web");
  const std::string hash = found["metadata"]["labels"]["controller.kubernetes.io/hash"];
  EXPECT_EQ(revisions()[0], "web-" + hash);
  EXPECT_EQ(found["metadata"]["annotations"]["note"], "first");
  EXPECT_THAT(owners(found), ElementsAre("StatefulSet web"));
  Json kept = found["data"]["spec"]["template"];
  EXPECT_EQ(kept["$patch"], "replace");
  kept.erase("$patch");
  EXPECT_EQ(kept, stateful_set("web")["spec"]["template"]);
}

TEST_F(StatefulSetUpdateTest, ReplacesOneByOneFromTheHighestOrdinal) {
  apply(a_set("web").replicas(3));
  run_for(2min);
  const std::string before = status_text("web", "currentRevision");
  ASSERT_TRUE(patch("web", new_image("second")).ok());
  ASSERT_TRUE(run_until([this] { return image_of("web-2") == "second"; }));
  EXPECT_THAT(images("web", 0, 3), ElementsAre("first", "first", "second"));
  EXPECT_EQ(status_text("web", "currentRevision"), before);
  EXPECT_NE(status_text("web", "updateRevision"), before);
  ASSERT_TRUE(run_until([this] { return image_of("web-1") == "second"; }));
  EXPECT_TRUE(ready("web-2"));
  EXPECT_THAT(images("web", 0, 3), ElementsAre("first", "second", "second"));
  EXPECT_EQ(pod("web-1")["metadata"]["labels"]["controller-revision-hash"], status("web")["updateRevision"]);
  run_for(2min);
  EXPECT_THAT(images("web", 0, 3), ElementsAre("second", "second", "second"));
  EXPECT_EQ(status_text("web", "currentRevision"), status_text("web", "updateRevision"));
  EXPECT_EQ(counts("web"), "3 replicas, 3 ready, 3 current, 3 updated");
  EXPECT_EQ(status("web")["observedGeneration"], 2);
  EXPECT_THAT(revisions(), SizeIs(2));
}

TEST_F(StatefulSetUpdateTest, KeepsTheRevisionOfPodsBelowThePartition) {
  apply(a_set("web").replicas(4).parallel().partition(2).spec("ordinals", {{"start", 1}}));
  run_for(1min);
  ASSERT_TRUE(patch("web", new_image("second")).ok());
  run_for(3min);
  EXPECT_THAT(images("web", 1, 4), ElementsAre("first", "first", "second", "second"));
  EXPECT_EQ(counts("web"), "4 replicas, 4 ready, 2 current, 2 updated");
  for (const char* name : {"web-1", "web-4"}) ASSERT_TRUE(cluster_.remove("pods", {"default", name}).ok());
  run_for(2min);
  EXPECT_THAT(images("web", 1, 4), ElementsAre("first", "first", "second", "second"));
  ASSERT_TRUE(patch("web", new_partition(0)).ok());
  run_for(3min);
  EXPECT_THAT(images("web", 1, 4), ElementsAre("second", "second", "second", "second"));
  EXPECT_EQ(counts("web"), "4 replicas, 4 ready, 4 current, 4 updated");
  EXPECT_EQ(status_text("web", "currentRevision"), status_text("web", "updateRevision"));
}

TEST_F(StatefulSetUpdateTest, WithOnDeleteUpdatesOnlyDeletedPods) {
  apply(a_set("web").replicas(2).spec("updateStrategy", {{"type", "OnDelete"}}));
  run_for(1min);
  ASSERT_TRUE(patch("web", new_image("second")).ok());
  run_for(2min);
  EXPECT_THAT(images("web", 0, 2), ElementsAre("first", "first"));
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 2 current, 0 updated");
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-0"}).ok());
  run_for(2min);
  EXPECT_THAT(images("web", 0, 2), ElementsAre("second", "first"));
  EXPECT_EQ(counts("web"), "2 replicas, 2 ready, 1 current, 1 updated");
}

TEST_F(StatefulSetUpdateTest, StopsAtAPodThatDoesNotBecomeReady) {
  apply(a_set("web").replicas(3));
  run_for(2min);
  Json broken = new_image("second");
  broken["spec"]["template"]["metadata"]["annotations"]["sim.tpuslice.dev/never-ready"] = "true";
  ASSERT_TRUE(patch("web", broken).ok());
  run_for(10min);
  EXPECT_THAT(images("web", 0, 3), ElementsAre("first", "first", "second"));
}

TEST_F(StatefulSetUpdateTest, ReusesTheRevisionOfAnEarlierTemplate) {
  apply(a_set("web").replicas(1));
  run_for(1min);
  const std::string first = status_text("web", "updateRevision");
  ASSERT_TRUE(patch("web", new_image("second")).ok());
  run_for(1min);
  EXPECT_EQ(revision(status_text("web", "updateRevision"))["revision"], 2);
  ASSERT_TRUE(patch("web", new_image("first")).ok());
  run_for(1min);
  EXPECT_EQ(status_text("web", "updateRevision"), first);
  EXPECT_EQ(revision(first)["revision"], 3);
  EXPECT_THAT(revisions(), SizeIs(2));
  EXPECT_EQ(image_of("web-0"), "first");
}

TEST_F(StatefulSetUpdateTest, DeletesTheOldestRevisions) {
  apply(a_set("web").replicas(1).spec("revisionHistoryLimit", 1));
  run_for(1min);
  const std::string first = status_text("web", "updateRevision");
  for (const char* image : {"second", "third", "fourth"}) {
    ASSERT_TRUE(patch("web", new_image(image)).ok());
    run_for(1min);
  }
  EXPECT_THAT(revisions(), SizeIs(2));
  EXPECT_THAT(revisions(), Not(Contains(first)));
}

TEST_F(StatefulSetUpdateTest, ApplyingADroppedFieldAgainChangesNothing) {
  const Json body = a_set("web").replicas(0).partition(1).set("/spec/updateStrategy/rollingUpdate/maxUnavailable", 3);
  const auto apply_it = [&] {
    WriteOptions options;
    options.field_manager = "lws";
    const auto applied =
        cluster_.registry().patch(*cluster_.registry().resources().find_id("statefulsets.apps"), {"default", "web"}, {},
                                  {.content_type = "application/apply-patch+yaml", .body = body}, options);
    return applied ? applied->json() : Json();
  };
  const Json first = apply_it();
  EXPECT_EQ(first["spec"]["updateStrategy"]["rollingUpdate"], (Json{{"partition", 1}}));
  const Json again = apply_it();
  EXPECT_EQ(again["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
  EXPECT_EQ(again["metadata"]["generation"], 1);
}

TEST_F(StatefulSetUpdateTest, WithoutAPartitionKeepsTheNumberOfCurrentReplicas) {
  apply(a_set("web").replicas(3).spec("updateStrategy", {{"type", "RollingUpdate"}}));
  run_for(2min);
  EXPECT_FALSE(stateful_set("web")["spec"]["updateStrategy"].contains("rollingUpdate"));
  ASSERT_TRUE(patch("web", new_image("second")).ok());
  ASSERT_TRUE(run_until([this] { return image_of("web-2") == "second"; }));
  const std::string uid = uid_of("web-0");
  ASSERT_TRUE(cluster_.remove("pods", {"default", "web-0"}).ok());
  ASSERT_TRUE(run_until([&] { return !uid_of("web-0").empty() && uid_of("web-0") != uid; }));
  EXPECT_EQ(image_of("web-0"), "first");
  run_for(3min);
  EXPECT_THAT(images("web", 0, 3), ElementsAre("second", "second", "second"));
}

TEST_F(StatefulSetUpdateTest, AvoidsTheNameOfAnExistingRevision) {
  apply(a_set("web").replicas(1));
  run_for(1min);
  const std::string taken = status_text("web", "updateRevision");
  ASSERT_TRUE(cluster_.remove("statefulsets.apps", {"default", "web"}).ok());
  run_for(1min);
  apply({{"apiVersion", "apps/v1"},
         {"kind", "ControllerRevision"},
         {"metadata", {{"name", taken}, {"namespace", "default"}}},
         {"data", {{"other", true}}},
         {"revision", 1}});
  apply(a_set("web").replicas(1));
  run_for(1min);
  EXPECT_NE(status_text("web", "updateRevision"), taken);
  EXPECT_EQ(status("web")["collisionCount"], 1);
}

}  // namespace
}  // namespace tpuslice::sim
